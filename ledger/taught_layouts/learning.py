"""Layouts of texts, learned from corrections of pending entries (spec 4.11)."""

import re
from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.models import Member
from card_alerts import (
    Doubt,
    Layout,
    ParseResult,
    Span,
    learn_layout,
    locate_corrections,
    make_template,
    parse,
    read_with_layout,
)
from ledger.base.ledger_write import LockedLedger
from ledger.models import Entry, Notification, TaughtLayout
from ledger.models.base import MAX_MEMO_LENGTH
from ledger.taught_layouts.doubts import settle
from ledger.taught_layouts.reading import list_layouts_of, read_as_taught
from ledger.taught_layouts.storing import (
    digest_layout,
    normalize_sender,
    store_layout,
    take_out_layouts,
)

TAUGHT_FIELDS = frozenset({"memo", "amount", "original_amount", "wallet"})
# A shorter name of a member occurs in other words.
MIN_MASKED_NAME_LENGTH = 2
# The slot of a layout that has no part of the text.
WALLET_SLOT = "wallet"


def follow_change(
    ledger: LockedLedger,
    entry: Entry,
    stored: dict[str, Any],
    now: datetime,
    *,
    is_correction: bool,
    chosen: Collection[str] = (),
) -> None:
    """Learn from the correction of a pending entry; delete the text of a confirmed one.

    `stored` has the values before the change; `chosen` are the fields of a partial one.
    """
    if is_correction:
        _learn_from_correction(ledger, entry, stored, now, chosen=chosen)
    if not entry.pending:
        forget_text(ledger, entry, is_confirmed=True)


def _learn_from_correction(
    ledger: LockedLedger,
    entry: Entry,
    stored: dict[str, Any],
    now: datetime,
    *,
    chosen: Collection[str],
) -> None:
    changed = {name for name in TAUGHT_FIELDS if getattr(entry, name) != stored[name]}
    if "memo" in changed or ("memo" in chosen and _is_candidate(ledger, entry)):
        # A name that is chosen teaches, also where the entry had it.
        settle_name(ledger, entry)
        changed.add("memo")
    if changed:
        _learn_layout(ledger, entry, changed, now)


def _learn_layout(
    ledger: LockedLedger, entry: Entry, changed: Collection[str], now: datetime
) -> None:
    """Learn the layout of the text of a pending entry.

    Nothing is learned from a value that the text does not print. A layout that read the
    text before is replaced.
    """
    source = find_source(ledger, entry)
    if source is None:
        return
    text, sender = source.text or "", normalize_sender(source.sender or "")
    found = read_source(ledger.member, source)
    spans = _find_slots(entry, changed, text, found)
    corrected = {"merchant"} if "memo" in changed else set()
    if {"amount", "original_amount"} & set(changed):
        corrected.add("amount")
    if not spans or not (corrected & set(spans) or "wallet" in changed):
        return
    replaced = take_out_layouts(ledger, text, sender)
    complete = next((row for row in replaced if row.is_complete), None)
    if complete is not None:
        # The grammar does not read such texts: the other marked parts stay.
        kept = read_with_layout(Layout(complete.template), text) or {}
        spans = {**kept, **spans}
    layout = learn_layout(text, spans)
    if layout is None:
        return
    wallet_id, hint = None, None
    if "wallet" in changed and entry.wallet_id is not None:
        wallet_id, hint = entry.wallet_id, source.card_hint
    elif "wallet" not in changed and replaced:
        wallet_id, hint = replaced[0].wallet_id, replaced[0].card_hint
    store_layout(
        ledger,
        layout,
        sender,
        now,
        kind=source.kind,
        is_complete=complete is not None,
        wallet_id=wallet_id,
        card_hint=hint,
    )


def _is_candidate(ledger: LockedLedger, entry: Entry) -> bool:
    source = find_source(ledger, entry)
    if source is None or source.doubts is None:
        return False
    names = source.doubts["candidates"]["merchant"]
    return any(entry.memo == name["text"][:MAX_MEMO_LENGTH] for name in names)


def settle_name(ledger: LockedLedger, entry: Entry) -> None:
    """Let the name of a pending entry be no guess any more."""
    source = find_source(ledger, entry)
    if source is None or source.doubts is None:
        return
    source.doubts = settle(source.doubts, Doubt.MERCHANT)
    source.save(update_fields=["doubts"])


def find_source(ledger: LockedLedger, entry: Entry) -> Notification | None:
    """Return the notification whose text made a pending entry, None without a text."""
    rows = Notification.objects.owned_by(ledger.member)
    with_text = rows.filter(entry_id=entry.pk, text__isnull=False).exclude(text="")
    return with_text.order_by("id").first()


def read_source(member: Member, source: Notification) -> ParseResult:
    """Read the text of a pending entry as it was read when it came."""
    received_at = timezone.localtime(source.happened_at)
    return _read(member, source.text or "", source.sender or "", received_at)


def digest_text(member: Member, text: str, sender: str, received_at: datetime) -> str:
    """Return what is equal for texts of one layout and sender, as they are read."""
    spans = list_read_slots(text, _read(member, text, sender, received_at))
    return digest_layout(make_template(text, spans), normalize_sender(sender))


def digest_source(member: Member, source: Notification) -> str:
    received_at = timezone.localtime(source.happened_at)
    return digest_text(member, source.text or "", source.sender or "", received_at)


def is_confirmed_layout(member: Member, digest: str) -> bool:
    """Return True if an entry of the layout was ever confirmed."""
    rows = Notification.objects.owned_by(member)
    return rows.filter(layout_digest=digest).exists()


def _read(member: Member, text: str, sender: str, received_at: datetime) -> ParseResult:
    found = parse(text, received_at, sender, settings.HOME_CURRENCY)
    for stored in list_layouts_of(member, sender):
        if not stored.is_complete:
            continue
        taught = read_as_taught([stored], text, found, received_at, sender)
        if taught.layout is not None and taught.parsed.recognized:
            return taught.parsed
    return found


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
        number = list_read_slots(text, found).get("amount")
        if number is not None:
            spans["amount"] = number
    return spans


def forget_text(
    ledger: LockedLedger, entry: Entry, *, is_confirmed: bool = False
) -> None:
    """Delete the texts of an entry; of a confirmed one the digest of the layout stays.

    Texts of a layout that was ever confirmed are payments (spec 4.11, 4.13).
    """
    rows = Notification.objects.owned_by(ledger.member)
    rows = rows.filter(entry_id=entry.pk, text__isnull=False)
    if is_confirmed:
        for row in rows:
            row.layout_digest = digest_source(ledger.member, row)
            row.save(update_fields=["layout_digest"])
    rows.update(text=None, sender=None, doubts=None)


def list_read_slots(text: str, found: ParseResult) -> dict[str, Span]:
    """Return merchant and number of the amount, as the text was read."""
    spans = {}
    if "merchant" in found.spans:
        spans["merchant"] = found.spans["merchant"]
    value: Decimal | int | None = found.amount
    name = "amount"
    if found.currency is not None:
        value, name = found.original_amount, "originalAmount"
    # The parser's span may include the currency.
    start, end = found.spans.get(name, (0, 0))
    number = locate_corrections(text[start:end], None, value).get("amount")
    if number is not None:
        spans["amount"] = (start + number[0], start + number[1])
    return spans


def forget_texts(member: Member) -> None:
    rows = Notification.objects.owned_by(member).filter(text__isnull=False)
    rows.update(text=None, sender=None, doubts=None)


def layout_slots(layout: TaughtLayout) -> list[str]:
    slots = list(Layout(layout.template).slots)
    if layout.is_unsure:
        slots = []
    return [*slots, WALLET_SLOT] if layout.wallet_id is not None else slots


def mask_sample(layout: TaughtLayout) -> str:
    """Return the original text of a layout, without digits and the member's name."""
    sample = Layout(layout.template).sample
    name = layout.member.display_name.strip()
    if len(name) < MIN_MASKED_NAME_LENGTH:
        return sample
    return re.sub(re.escape(name), "***", sample, flags=re.IGNORECASE)


def layout_payload(layout: TaughtLayout) -> dict[str, Any]:
    return {
        "id": layout.pk,
        "sender": layout.sender,
        "sample": mask_sample(layout),
        "slots": layout_slots(layout),
        "kind": layout.kind,
        "unsure": layout.is_unsure,
        "uses": layout.uses,
        "createdAt": layout.created_at,
    }
