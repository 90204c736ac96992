"""One call makes an entry of a text that was ignored, and teaches (spec 4.13)."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any

from card_alerts import NO_PART, Confidence, Span, learn_layout, locate_corrections
from core.errors import errors_of
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.entries.facts import get_entry
from ledger.entries.writing import update_entry
from ledger.models import Entry
from ledger.notifications.message import Message
from ledger.notifications.plan import Action, Outcome
from ledger.notifications.processing import process_message
from ledger.notifications.unsure import take_text
from ledger.taught_layouts.learning import list_read_slots, settle_names
from ledger.taught_layouts.storing import (
    normalize_sender,
    store_layout,
    take_out_layouts,
)

CORRECTIONS = "corrections"


@ledger_write(can_wait_for_rates=False)
def book_text(
    ledger: LockedLedger, text_id: int, corrections: dict[str, Any], now: datetime
) -> Outcome:
    """Make a pending entry of a kept text, with `corrections` of it.

    Texts of its layout are read as payments from then on. Raises `NotFoundError`, and
    `DuplicateError` if it was booked. The outcome is a DUPLICATE if another text has
    announced the payment; the text counts as booked then, too. Fields of errors begin
    with `corrections`.
    """
    message = take_text(ledger, text_id, now)
    outcome = process_message.within(ledger, message, now)
    if outcome.action is Action.DUPLICATE or outcome.entry_id is None:
        return replace(outcome, action=Action.DUPLICATE)
    if corrections:
        with errors_of(CORRECTIONS):
            update_entry.within(
                ledger,
                outcome.entry_id,
                corrections,
                now,
                is_partial=True,
                is_correction=False,
            )
    entry = get_entry(ledger, outcome.entry_id)
    if "memo" in corrections:
        settle_names(ledger, [entry.pk], now)
    _teach(ledger, message, entry, now, corrections)
    return outcome


def _teach(
    ledger: LockedLedger,
    message: Message,
    entry: Entry,
    now: datetime,
    corrections: Collection[str],
) -> None:
    layout = learn_layout(message.text, _find_parts(message, entry))
    if layout is None:
        return
    sender = normalize_sender(message.sender)
    take_out_layouts(ledger, message.text, sender)
    is_taught = "wallet" in corrections and entry.wallet_id is not None
    is_guess = message.parsed.merchant_confidence is not Confidence.SURE
    store_layout(
        ledger,
        layout,
        sender,
        now,
        kind=message.fingerprint.kind,
        is_complete=True,
        is_name_guessed=is_guess and "memo" not in corrections,
        wallet_id=entry.wallet_id if is_taught else None,
        card_hint=message.parsed.card_hint if is_taught else None,
    )


def _find_parts(message: Message, entry: Entry) -> dict[str, Span]:
    """Return merchant and amount of the text; corrected values are searched for."""
    parts = list_read_slots(message.text, message.parsed)
    is_foreign = entry.currency is not None
    value = entry.original_amount if is_foreign else entry.amount or None
    parsed = message.parsed
    read = parsed.original_amount if parsed.currency else parsed.amount
    located = locate_corrections(message.text, entry.memo or None, value)
    if entry.memo != message.fingerprint.merchant:
        parts.pop("merchant", None)
        if "merchant" in located:
            parts["merchant"] = located["merchant"]
        elif not entry.memo and parsed.merchant_confidence is Confidence.GUESS:
            parts["merchant"] = NO_PART
    if value != read and "amount" in located:
        parts["amount"] = located["amount"]
    return parts
