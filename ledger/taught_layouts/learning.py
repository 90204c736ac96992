"""Layouts of texts, learned from corrections of pending entries (spec 4.11)."""

import re
from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from accounts.models import Member
from card_alerts import (
    NO_PART,
    Confidence,
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
from ledger.models import Entry, LayoutKind, Notification, TaughtLayout
from ledger.models.base import MAX_MEMO_LENGTH
from ledger.taught_layouts.doubts import choose_name, has_chosen_name
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
        _tell_kind(ledger, entry)
        forget_text(ledger, entry.pk, is_confirmed=True)


def _tell_kind(ledger: LockedLedger, entry: Entry) -> None:
    """Let a corrected layout tell that its texts are payments: one was confirmed."""
    source = find_source(ledger, entry)
    if source is None or source.doubts is None:
        return
    if Doubt.KIND not in source.doubts["doubts"]:
        return
    rows = TaughtLayout.objects.owned_by(ledger.member)
    rows = rows.filter(
        sender=normalize_sender(source.sender or ""), is_unsure=False, kind=source.kind
    )
    known = [
        row.pk
        for row in rows
        if read_with_layout(Layout(row.template), source.text or "") is not None
    ]
    rows.filter(pk__in=known).update(is_complete=True)


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
        settle_names(ledger, [entry.pk], now)
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
    replaced = take_out_layouts(ledger, text, sender, with_unsure=False)
    if "memo" not in changed and any(
        Layout(row.template).has_no_merchant for row in replaced
    ):
        spans["merchant"] = NO_PART
    complete = next(
        (row for row in replaced if row.is_complete and row.kind != LayoutKind.NONE),
        None,
    )
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
    doubted = _of_entry(ledger, [entry.pk]).filter(doubts__isnull=False)
    return any(
        entry.memo == name["text"][:MAX_MEMO_LENGTH]
        for row in doubted
        for name in row.doubts["candidates"]["merchant"]
    )


def settle_names(
    ledger: LockedLedger, entry_ids: Collection[int], now: datetime
) -> None:
    """Let the names of pending entries be no guesses any more."""
    for row in _of_entry(ledger, entry_ids).filter(doubts__isnull=False):
        if has_chosen_name(row.doubts):
            continue
        row.doubts = choose_name(row.doubts)
        row.save(update_fields=["doubts"])
        # The entry is another one for who compares versions.
        entries = Entry.objects.owned_by(ledger.member).filter(pk=row.entry_id)
        entries.update(updated_at=now)


def find_source(ledger: LockedLedger, entry: Entry) -> Notification | None:
    """Return the notification whose text made a pending entry, None without a text."""
    rows = _of_entry(ledger, [entry.pk])
    source: Notification | None = (
        rows.filter(text__isnull=False).exclude(text="").order_by("id").first()
    )
    return source


def read_source(member: Member, source: Notification) -> ParseResult:
    """Read the text of a pending entry as it was read when it came."""
    text, sender = source.text or "", source.sender or ""
    received_at = timezone.localtime(source.happened_at)
    found = parse(text, received_at, sender, settings.HOME_CURRENCY)
    for stored in list_layouts_of(member, sender):
        if not stored.is_complete:
            continue
        taught = read_as_taught([stored], text, found, received_at, sender)
        if taught.layout is not None and taught.parsed.recognized:
            return taught.parsed
    return found


def digest_text(text: str, sender: str, parsed: ParseResult) -> str | None:
    """Return a digest that is equal for texts of one layout and sender.

    None for a text that is too long to be learned.
    `parsed` is the result without taught layouts, with parts of this text.
    """
    spans = list_read_slots(text, parsed)
    template = make_template(text, spans)
    return digest_layout(template, normalize_sender(sender)) if template else None


def is_confirmed_layout(member: Member, digest: str | None) -> bool:
    """Return True if an entry of the layout was ever confirmed."""
    if digest is None:
        return False
    rows = Notification.objects.owned_by(member)
    return rows.filter(is_confirmed=True, layout_digest=digest).exists()


def _find_slots(
    entry: Entry, changed: Collection[str], text: str, found: ParseResult
) -> dict[str, Span]:
    """Return the parts of the text with the entry's merchant and amount.

    Corrected values are searched for. Others stay where the parser found them, if the
    entry still has them. A guess that was cleared tells that the text has no merchant.
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
        elif not entry.memo and found.merchant_confidence is Confidence.GUESS:
            spans["merchant"] = NO_PART
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
    ledger: LockedLedger, entry_id: int, *, is_confirmed: bool = False
) -> None:
    """Delete the texts and the doubts of an entry.

    Texts of a layout that was ever confirmed are payments (spec 4.11, 4.13).
    """
    rows = _of_entry(ledger, [entry_id])
    changes: dict[str, Any] = {"text": None, "sender": None, "doubts": None}
    if is_confirmed:
        # A notification of an earlier version has no digest yet.
        for row in rows.filter(layout_digest=None, text__isnull=False):
            row.layout_digest = digest_again(row)
            row.save(update_fields=["layout_digest"])
        changes["is_confirmed"] = True
    rows.update(**changes)


def digest_again(source: Notification) -> str | None:
    """Return the digest of a notification whose text is still there."""
    text, sender = source.text or "", source.sender or ""
    received_at = timezone.localtime(source.happened_at)
    parsed = parse(text, received_at, sender, settings.HOME_CURRENCY)
    return digest_text(text, sender, parsed)


def _of_entry(ledger: LockedLedger, entry_ids: Collection[int]) -> Any:
    rows = Notification.objects.owned_by(ledger.member)
    return rows.filter(entry_id__in=entry_ids, is_confirmed=False)


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
    rows = Notification.objects.owned_by(member)
    rows = rows.filter(Q(text__isnull=False) | Q(doubts__isnull=False))
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
