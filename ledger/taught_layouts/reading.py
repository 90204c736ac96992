"""Reading by taught layouts (spec 4.11)."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings
from django.db.models import F

from accounts.models import Member
from card_alerts import (
    Confidence,
    Doubt,
    Kind,
    Layout,
    NameCandidate,
    ParseResult,
    Reason,
    Span,
    apply_layout,
    read_taught_payment,
    read_with_layout,
    rejected,
)
from core.db.rows import fetch_all
from ledger.base.ledger_write import LockedLedger
from ledger.models import LayoutKind, TaughtLayout
from ledger.taught_layouts.doubts import without_doubt
from ledger.taught_layouts.storing import normalize_sender

_LAYOUTS = """
    SELECT t.id, t.template, t.kind, t.is_complete, t.is_unsure, t.is_name_guessed,
        t.deleted_entry_ids IS NOT NULL AS is_by_deletion, t.card_hint,
        w.id AS wallet_id, coalesce(w.kind, '') AS wallet_kind
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
    kind: str = LayoutKind.APPROVAL.value
    is_complete: bool = False
    is_unsure: bool = False
    is_name_guessed: bool = False
    # A deletion has taught it, and nothing else.
    is_by_deletion: bool = False
    card_hint: str | None = None
    wallet_id: int | None = None
    wallet_kind: str = ""


@dataclass(frozen=True, slots=True)
class TaughtReading:
    """The result of a text, and the taught layout that gave it, if any."""

    parsed: ParseResult
    layout: StoredLayout | None = None


def list_layouts_of(member: Member, sender: str) -> list[StoredLayout]:
    return fetch_all(_LAYOUTS, [member.pk, normalize_sender(sender)], StoredLayout)


def read_as_taught(
    layouts: Collection[StoredLayout],
    text: str,
    parsed: ParseResult,
    received_at: datetime,
    sender: str,
    is_confirmed: Callable[[], bool] = lambda: False,
) -> TaughtReading:
    """Read a message by the newest layout of its text.

    `parsed` is what the grammar read. Layouts of corrections need a text that is a
    payment, or may be one; those that tell the kind read any text. What a deletion has
    taught refuses no layout of which an entry was ever confirmed.
    """
    start, end = parsed.text_span or (0, len(text))
    is_unsure, reading = False, None
    may_be_payment = parsed.recognized or parsed.would_be is not None
    for stored in layouts:
        if not (stored.is_complete or may_be_payment):
            continue
        if reading is not None and not stored.is_unsure:
            continue
        spans = read_with_layout(Layout(stored.template), text[start:end])
        if spans is None:
            continue
        is_refusal = stored.is_by_deletion and stored.kind == LayoutKind.NONE
        if stored.is_unsure or (is_refusal and is_confirmed()):
            is_unsure = True
            continue
        in_text: dict[str, Span] = {
            name: (start + first, start + last) for name, (first, last) in spans.items()
        }
        found = _apply(stored, text, parsed, in_text, received_at, sender)
        if found is not None:
            reading = TaughtReading(found, stored)
    reading = reading or TaughtReading(parsed)
    return replace(reading, parsed=_doubt_kind(reading.parsed, is_unsure))


def _apply(
    stored: StoredLayout,
    text: str,
    parsed: ParseResult,
    spans: dict[str, Span],
    received_at: datetime,
    sender: str,
) -> ParseResult | None:
    if stored.kind == LayoutKind.NONE:
        return replace(rejected(Reason.TAUGHT), text_span=parsed.text_span)
    if not stored.is_complete:
        return apply_layout(parsed, text, spans)
    payment = read_taught_payment(
        parsed,
        text,
        Kind(stored.kind),
        spans,
        received_at,
        sender,
        settings.HOME_CURRENCY,
    )
    if payment is None:
        return None
    # By its layout it is a payment.
    payment = without_doubt(payment, Doubt.KIND)
    place = payment.spans.get("merchant")
    if not stored.is_name_guessed or payment.merchant is None or place is None:
        return payment
    return replace(
        payment,
        merchant_confidence=Confidence.GUESS,
        doubts=(*payment.doubts, Doubt.MERCHANT),
        candidates=(NameCandidate(payment.merchant, place),),
    )


def _doubt_kind(parsed: ParseResult, is_unsure: bool) -> ParseResult:
    if not is_unsure or not parsed.recognized or Doubt.KIND in parsed.doubts:
        return parsed
    return replace(parsed, doubts=(Doubt.KIND, *parsed.doubts))


def count_use(ledger: LockedLedger, layout_id: int | None) -> None:
    if layout_id is not None:
        rows = TaughtLayout.objects.owned_by(ledger.member).filter(pk=layout_id)
        rows.update(uses=F("uses") + 1)
