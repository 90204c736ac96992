"""Notifications as they come in, and what becomes of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from card_alerts import ParseResult, Reason
from ledger.models import Wallet


class Action(StrEnum):
    """The effect of a notification; the values are those of spec 4.1."""

    CREATED = "CREATED"
    DUPLICATE = "DUPLICATE"
    CANCELLED = "CANCELLED"
    REFUND_PENDING = "REFUND_PENDING"
    IGNORED = "IGNORED"


@dataclass(frozen=True, slots=True)
class IncomingNotification:
    """A notification as it was received; `wallet` is the one that the client chose.

    `title` is that of a push message, apart from its text.
    """

    text: str
    received_at: datetime
    sender: str = ""
    wallet: Wallet | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a notification, as the taught layouts and the parser read it."""

    parsed: ParseResult
    text: str
    layout_id: int | None = None
    taught_wallet: Wallet | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The effect of one message, its entry, and why it was ignored.

    `wallet` is that of the card or account which the text names. The entry of a
    duplicate may have been deleted since; `merged` names what that entry, or what is
    known of the payment, took from the duplicate. `layout_id` is the taught layout that
    read the text. `is_captured` is true for a booking on a bank account of the member,
    with the printed balance less the account's in whole home-currency units.
    `replaced_entry_id` is the pending entry that the message deleted.
    """

    action: Action
    parsed: ParseResult
    wallet: Wallet | None = None
    entry_id: int | None = None
    reason: Reason | None = None
    merged: tuple[str, ...] = ()
    layout_id: int | None = None
    is_captured: bool = False
    balance_difference: int | None = None
    replaced_entry_id: int | None = None


def settle_outcomes(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes of one text with what is left of each at its end.

    An entry that a later message took back is that of the later message: a payment that
    was cancelled has none, a preliminary amount has that of the final one.
    """
    settled = list(outcomes)
    for number, later in enumerate(settled):
        if later.replaced_entry_id is None:
            continue
        for index, earlier in enumerate(settled[:number]):
            if earlier.entry_id != later.replaced_entry_id:
                continue
            action = earlier.action
            if later.entry_id is None:
                action = Action.CANCELLED
            elif later.action is Action.CREATED:
                action = Action.DUPLICATE
            settled[index] = replace(earlier, action=action, entry_id=later.entry_id)
    return settled
