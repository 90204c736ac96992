"""Read texts by the layouts that the member has taught (spec 4.11)."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import F

from accounts.models import Member
from card_alerts import Layout, ParseResult, Span, apply_layout, read_with_layout
from core.db.rows import fetch_all
from ledger.card_notifications.deduplication import can_be_same_card
from ledger.models import TaughtLayout, Wallet
from ledger.taught_layouts import normalize_sender

_LAYOUTS = """
    SELECT t.id, t.template, t.card_hint, w.id AS wallet_id,
        coalesce(w.name, '') AS wallet_name, coalesce(w.kind, '') AS wallet_kind
    FROM account_notification_layout t
    LEFT JOIN account w ON w.member_id = t.member_id AND w.id = t.wallet_id
        AND NOT w.archived
    WHERE t.member_id = %s AND t.sender = %s
    ORDER BY t.id DESC
"""


@dataclass(frozen=True, slots=True)
class StoredLayout:
    """A layout with its wallet, as far as that exists."""

    id: int
    template: str
    card_hint: str | None
    wallet_id: int | None
    wallet_name: str
    wallet_kind: str


@dataclass(frozen=True, slots=True)
class TaughtResult:
    """A result as a taught layout reads it, and the wallet that was taught."""

    parsed: ParseResult
    layout_id: int
    wallet: Wallet | None


def list_layouts_of(member: Member, sender: str) -> list[StoredLayout]:
    """Return what the member has taught about texts of a sender, newest first."""
    return fetch_all(_LAYOUTS, [member.pk, normalize_sender(sender)], StoredLayout)


def read_as_taught(
    member: Member, layouts: Collection[StoredLayout], text: str, parsed: ParseResult
) -> TaughtResult | None:
    """Return the result by the newest layout of the text, or None without one."""
    start, end = parsed.text_span or (0, len(text))
    for stored in layouts:
        spans = read_with_layout(Layout(stored.template), text[start:end])
        if spans is None:
            continue
        wallet = None
        if stored.wallet_id is not None and can_be_same_card(
            stored.card_hint, parsed.card_hint
        ):
            wallet = Wallet(
                member=member, name=stored.wallet_name, kind=stored.wallet_kind
            )
            wallet.pk = stored.wallet_id
        in_text: dict[str, Span] = {
            name: (start + first, start + last) for name, (first, last) in spans.items()
        }
        return TaughtResult(apply_layout(parsed, text, in_text), stored.id, wallet)
    return None


def count_use(member: Member, layout_id: int) -> None:
    """Count one more text that a layout read; call under `lock_ledger`."""
    rows = TaughtLayout.objects.owned_by(member).filter(pk=layout_id)
    rows.update(uses=F("uses") + 1)
