"""Layouts of texts, learned from corrections of pending entries (spec 4.11)."""

import hashlib
import re
from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.models import Member
from card_alerts import (
    Layout,
    ParseResult,
    Span,
    learn_layout,
    locate_corrections,
    parse,
    read_with_layout,
)
from core.errors import NotFoundError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.models import Entry, Notification, TaughtLayout
from ledger.models.card_notifications import MAX_SENDER_LENGTH

MAX_LAYOUTS = 200
TAUGHT_FIELDS = frozenset({"memo", "amount", "original_amount", "wallet"})
# A shorter name of a member occurs in other words.
MIN_MASKED_NAME_LENGTH = 2
# The slot of a layout that has no part of the text.
WALLET_SLOT = "wallet"


def learn_from_correction(
    ledger: LockedLedger, entry: Entry, stored: dict[str, Any], now: datetime
) -> None:
    """Learn from the correction of a pending entry; delete the text of a confirmed one.

    `stored` has the values before the correction.
    """
    changed = {name for name in TAUGHT_FIELDS if getattr(entry, name) != stored[name]}
    if changed:
        _learn_layout(ledger, entry, changed, now)
    if not entry.pending:
        forget_text(ledger, entry)


def _learn_layout(
    ledger: LockedLedger, entry: Entry, changed: Collection[str], now: datetime
) -> None:
    """Learn the layout of the text of a pending entry.

    Nothing is learned from a value that the text does not print. A layout that read the
    text before is replaced.
    """
    member = ledger.member
    source = (
        Notification.objects.owned_by(member)
        .filter(entry_id=entry.pk, text__isnull=False)
        .order_by("id")
        .first()
    )
    if source is None or not source.text:
        return
    text, sender = source.text, normalize_sender(source.sender or "")
    found = parse(
        text,
        timezone.localtime(source.happened_at),
        source.sender or "",
        settings.HOME_CURRENCY,
    )
    spans = _find_slots(entry, changed, text, found)
    corrected = {"merchant"} if "memo" in changed else set()
    if {"amount", "original_amount"} & set(changed):
        corrected.add("amount")
    if not spans or not (corrected & set(spans) or "wallet" in changed):
        return
    layout = learn_layout(text, spans)
    rows = TaughtLayout.objects.owned_by(member)
    replaced = [
        row
        for row in rows.filter(sender=sender)
        if read_with_layout(Layout(row.template), text) is not None
    ]
    rows.filter(pk__in=[row.pk for row in replaced]).delete()
    if layout is None:
        return
    wallet_id, hint = None, None
    if "wallet" in changed and entry.wallet_id is not None:
        wallet_id, hint = entry.wallet_id, source.card_hint
    elif "wallet" not in changed and replaced:
        wallet_id, hint = replaced[0].wallet_id, replaced[0].card_hint
    # The layout that read the fewest texts makes room.
    least_used = rows.order_by("-uses", "-id").values_list("pk", flat=True)
    rows.filter(pk__in=list(least_used[MAX_LAYOUTS - 1 :])).delete()
    TaughtLayout.objects.create(
        member=member,
        sender=sender,
        template=layout.template,
        template_digest=hashlib.sha256(layout.template.encode()).hexdigest(),
        wallet_id=wallet_id,
        card_hint=hint,
        created_at=now,
    )


def _find_slots(
    entry: Entry, changed: Collection[str], text: str, found: ParseResult
) -> dict[str, Span]:
    """Return the parts of the text with the entry's merchant and amount.

    Corrected values are searched for. Others stay where the parser found them, if the
    entry still has them.
    """
    value: Decimal | int | None = entry.amount or None
    found_value: Decimal | int | None = found.amount
    field = "amount"
    if entry.currency is not None:
        value, found_value = entry.original_amount, found.original_amount
        field = "original_amount"
    located = locate_corrections(text, entry.memo, value)
    spans = {}
    if "memo" in changed:
        if "merchant" in located:
            spans["merchant"] = located["merchant"]
    elif found.merchant == entry.memo and "merchant" in found.spans:
        spans["merchant"] = found.spans["merchant"]
    if field in changed:
        if "amount" in located:
            spans["amount"] = located["amount"]
    elif found_value == value:
        # The parser's span may include the currency.
        name = "originalAmount" if entry.currency is not None else "amount"
        start, end = found.spans.get(name, (0, 0))
        number = locate_corrections(text[start:end], None, value).get("amount")
        if number is not None:
            spans["amount"] = (start + number[0], start + number[1])
    return spans


def forget_text(ledger: LockedLedger, entry: Entry) -> None:
    rows = Notification.objects.owned_by(ledger.member)
    rows.filter(entry_id=entry.pk, text__isnull=False).update(text=None, sender=None)


def forget_texts(member: Member) -> None:
    rows = Notification.objects.owned_by(member).filter(text__isnull=False)
    rows.update(text=None, sender=None)


def list_layouts(member: Member) -> list[TaughtLayout]:
    rows = TaughtLayout.objects.owned_by(member).select_related("member")
    return list(rows.order_by("-id"))


@ledger_write
def delete_layout(ledger: LockedLedger, layout_id: int) -> None:
    rows = TaughtLayout.objects.owned_by(ledger.member).filter(pk=layout_id)
    if not rows.delete()[0]:
        raise NotFoundError


def layout_slots(layout: TaughtLayout) -> list[str]:
    slots = list(Layout(layout.template).slots)
    return [*slots, WALLET_SLOT] if layout.wallet_id is not None else slots


def mask_sample(layout: TaughtLayout) -> str:
    """Return the original text of a layout, without digits and the member's name."""
    sample = Layout(layout.template).sample
    name = layout.member.display_name.strip()
    if len(name) < MIN_MASKED_NAME_LENGTH:
        return sample
    return re.sub(re.escape(name), "***", sample, flags=re.IGNORECASE)


def normalize_sender(sender: str) -> str:
    """Return the digits of a phone number, else the sender in lower case."""
    folded = "".join(sender.split()).casefold()
    digits = "".join(letter for letter in folded if letter.isdigit())
    is_number = digits and not any(letter.isalpha() for letter in folded)
    return (digits if is_number else folded)[:MAX_SENDER_LENGTH]
