"""Stored layouts of a member and sender (spec 4.11)."""

import hashlib
from collections.abc import Sequence
from datetime import datetime

from accounts.models import Member
from card_alerts import Layout, read_with_layout
from core.errors import NotFoundError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.models import LayoutKind, TaughtLayout
from ledger.models.card_notifications import MAX_SENDER_LENGTH, digest_template

MAX_LAYOUTS = 200


def normalize_sender(sender: str) -> str:
    """Return the digits of a phone number, else the sender in lower case."""
    folded = "".join(sender.split()).casefold()
    digits = "".join(letter for letter in folded if letter.isdigit())
    is_number = digits and not any(letter.isalpha() for letter in folded)
    return (digits if is_number else folded)[:MAX_SENDER_LENGTH]


def digest_layout(template: str, sender: str) -> str:
    """Return a digest that is equal for texts of one layout and sender."""
    return hashlib.sha256(f"{sender}\x1f{template}".encode()).hexdigest()


def take_out_layouts(
    ledger: LockedLedger, text: str, sender: str, *, with_unsure: bool = True
) -> Sequence[TaughtLayout]:
    """Delete the layouts that read a text, and return them; `sender` is normalized.

    Those that are not sure whether it is a payment may stay.
    """
    rows = TaughtLayout.objects.owned_by(ledger.member)
    of_sender = rows.filter(sender=sender)
    if not with_unsure:
        of_sender = of_sender.filter(is_unsure=False)
    replaced = [
        row
        for row in of_sender
        if read_with_layout(Layout(row.template), text) is not None
    ]
    rows.filter(pk__in=[row.pk for row in replaced]).delete()
    return replaced


def store_layout(
    ledger: LockedLedger,
    layout: Layout,
    sender: str,
    now: datetime,
    *,
    kind: str = LayoutKind.APPROVAL.value,
    is_complete: bool = False,
    is_unsure: bool = False,
    is_name_guessed: bool = False,
    wallet_id: int | None = None,
    card_hint: str | None = None,
    deleted_entry_id: int | None = None,
) -> TaughtLayout:
    """Store a layout of a normalized sender, in the place of an equal one.

    An equal refusal stays, with one deletion more. The layout that read the fewest
    texts makes room.
    """
    rows = TaughtLayout.objects.owned_by(ledger.member)
    digest = digest_template(layout.template, is_unsure=is_unsure)
    equal = rows.filter(sender=sender, template_digest=digest)
    if deleted_entry_id is not None:
        known: TaughtLayout | None = equal.filter(kind=kind).first()
        if known is not None:
            if known.deleted_entry_ids is not None:
                known.deleted_entry_ids.append(deleted_entry_id)
                known.save(update_fields=["deleted_entry_ids"])
            return known
    equal.delete()
    least_used = rows.order_by("-uses", "-id").values_list("pk", flat=True)
    rows.filter(pk__in=list(least_used[MAX_LAYOUTS - 1 :])).delete()
    return TaughtLayout.objects.create(
        member=ledger.member,
        sender=sender,
        template=layout.template,
        template_digest=digest,
        wallet_id=wallet_id,
        card_hint=card_hint,
        created_at=now,
        kind=kind,
        is_complete=is_complete,
        is_unsure=is_unsure,
        is_name_guessed=is_name_guessed,
        deleted_entry_ids=None if deleted_entry_id is None else [deleted_entry_id],
    )


def list_layouts(member: Member) -> list[TaughtLayout]:
    rows = TaughtLayout.objects.owned_by(member).select_related("member")
    return list(rows.order_by("-id"))


@ledger_write
def delete_layout(ledger: LockedLedger, layout_id: int) -> None:
    rows = TaughtLayout.objects.owned_by(ledger.member).filter(pk=layout_id)
    if not rows.delete()[0]:
        raise NotFoundError
