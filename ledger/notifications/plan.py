"""Plans and outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any, Final

from card_alerts import ParseResult, Reason
from ledger.entry_shape import EntryShape
from ledger.notifications.message import Fingerprint, Message
from ledger.notifications.wallets import KnownWallet

# The entry that the plan creates.
NEW: Final = "new"
EntryRef = int | str | None


class Action(StrEnum):
    """The effect of a notification (spec 4.1)."""

    CREATED = "CREATED"
    DUPLICATE = "DUPLICATE"
    CANCELLED = "CANCELLED"
    REFUND_PENDING = "REFUND_PENDING"
    IGNORED = "IGNORED"


@dataclass(frozen=True, slots=True)
class CreateEntry:
    """Create a pending entry; link a refund to its expense if it fits."""

    shape: EntryShape
    refund_of: int | None = None


@dataclass(frozen=True, slots=True)
class DeleteEntry:
    entry_id: int


@dataclass(frozen=True, slots=True)
class CompleteEntry:
    """Give a pending entry a better name, or values that it lacked.

    The name suggests a category of `category_type`, if given.
    """

    entry_id: int
    changes: Mapping[str, Any]
    category_type: str | None = None


@dataclass(frozen=True, slots=True)
class MergeEntries:
    entry_id: int


@dataclass(frozen=True, slots=True)
class UnmergeEntry:
    """Take a pending transfer apart: its bookings were no move."""

    entry_id: int


@dataclass(frozen=True, slots=True)
class StoreRow:
    """Store the notification, with its text if corrections of the entry may teach."""

    fingerprint: Fingerprint
    entry_id: EntryRef = None
    payment_id: int | None = None
    wallet_id: int | None = None
    is_cancelled: bool = False
    is_own_move: bool = False
    awaits_counterpart: bool = False
    original_date: date | None = None
    text: str | None = None
    sender: str | None = None
    doubts: Mapping[str, Any] | None = None
    layout_digest: str | None = None
    is_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class UpdateRows:
    """Change stored notifications, by id or by move."""

    ids: Sequence[int]
    values: Mapping[str, Any]
    move_of: int | None = None


Step = (
    CreateEntry
    | DeleteEntry
    | CompleteEntry
    | MergeEntries
    | UnmergeEntry
    | StoreRow
    | UpdateRows
)


@dataclass(frozen=True, slots=True)
class Plan:
    action: Action
    steps: Sequence[Step] = ()
    entry_id: EntryRef = None
    reason: Reason | None = None
    merged: tuple[str, ...] = ()
    replaced_entry_id: int | None = None

    def answer(
        self,
        message: Message,
        wallet: KnownWallet | None,
        created_id: int,
        balance_difference: int | None,
    ) -> "Outcome":
        return Outcome(
            self.action,
            message.parsed,
            wallet,
            created_id if isinstance(self.entry_id, str) else self.entry_id,
            reason=self.reason,
            merged=self.merged,
            layout_id=message.layout_id,
            is_captured=message.booking is not None,
            balance_difference=balance_difference,
            replaced_entry_id=self.replaced_entry_id,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The effect of one message, its entry, and why it was ignored.

    `entry_id` may have been deleted since. `merged` names the fields that a payment
    took from a duplicate. `is_captured` is true for a booking on an account of the
    member. `balance_difference` is in whole home-currency units. An ignored text that
    may be a payment is kept as `text_id`, and `would_be` is the payment.
    """

    action: Action
    parsed: ParseResult
    wallet: KnownWallet | None = None
    entry_id: int | None = None
    reason: Reason | None = None
    merged: tuple[str, ...] = ()
    layout_id: int | None = None
    is_captured: bool = False
    balance_difference: int | None = None
    replaced_entry_id: int | None = None
    text_id: int | None = None
    would_be: Message | None = None


def merge_outcomes(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes as they are after the last message.

    If a later message replaced the entry, the earlier outcome has the later entry.
    """
    merged = list(outcomes)
    for number, later in enumerate(merged):
        if later.replaced_entry_id is None:
            continue
        for index, earlier in enumerate(merged[:number]):
            if earlier.entry_id != later.replaced_entry_id:
                continue
            action = earlier.action
            if later.entry_id is None:
                action = Action.CANCELLED
            elif later.action is Action.CREATED:
                action = Action.DUPLICATE
            merged[index] = replace(earlier, action=action, entry_id=later.entry_id)
    return merged
