"""Notifications as they come in, and what becomes of them."""

from dataclasses import dataclass
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
class Outcome:
    """The effect of one message, its entry, and why it was ignored.

    `wallet` is that of the card or account which the text names. The entry of a
    duplicate may have been deleted since; `merged` names what that entry, or what is
    known of the payment, took from the duplicate. `layout_id` is the taught layout that
    read the text. `is_captured` is true for a booking on a bank account of the member,
    with the printed balance less the account's in whole home-currency units.
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
