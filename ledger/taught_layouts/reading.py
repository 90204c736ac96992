"""Reading by taught layouts (spec 4.11)."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import F

from accounts.models import Member
from card_alerts import Layout, ParseResult, Span, apply_layout, read_with_layout
from core.db.rows import fetch_all
from ledger.base.ledger_write import LockedLedger
from ledger.models import TaughtLayout
from ledger.taught_layouts.learning import normalize_sender

_LAYOUTS = """
    SELECT t.id, t.template, t.card_hint, w.id AS wallet_id,
        coalesce(w.kind, '') AS wallet_kind
    FROM account_notification_layout t
    LEFT JOIN account w ON w.member_id = t.member_id AND w.id = t.wallet_id
        AND NOT w.archived
    WHERE t.member_id = %s AND t.sender = %s
    ORDER BY t.id DESC
"""


@dataclass(frozen=True, slots=True)
class StoredLayout:
    """A layout with the wallet of texts with the digits `card_hint`, if taught."""

    id: int
    template: str
    card_hint: str | None
    wallet_id: int | None
    wallet_kind: str


def list_layouts_of(member: Member, sender: str) -> list[StoredLayout]:
    return fetch_all(_LAYOUTS, [member.pk, normalize_sender(sender)], StoredLayout)


def read_as_taught(
    layouts: Collection[StoredLayout], text: str, parsed: ParseResult
) -> tuple[StoredLayout, ParseResult] | None:
    """Return the newest layout of the text and the result by it, or None."""
    start, end = parsed.text_span or (0, len(text))
    for stored in layouts:
        spans = read_with_layout(Layout(stored.template), text[start:end])
        if spans is None:
            continue
        in_text: dict[str, Span] = {
            name: (start + first, start + last) for name, (first, last) in spans.items()
        }
        return stored, apply_layout(parsed, text, in_text)
    return None


def count_use(ledger: LockedLedger, layout_id: int | None) -> None:
    if layout_id is not None:
        rows = TaughtLayout.objects.owned_by(ledger.member).filter(pk=layout_id)
        rows.update(uses=F("uses") + 1)
