"""What each row of a file is to the ledger, before anything is written. Pure.

The order of the rules: a known key is a DUPLICATE; an entry of the same wallet and
amount within three days is a LIKELY_DUPLICATE; two opposite rows, or a row and an
entry, of two wallets make one transfer; a cancelled purchase and its cancellation leave
nothing. The rest is NEW, REFUND, TRANSFER or UNPAIRED. Each row and each side of an
entry is used once (spec 3.29).
"""

import datetime
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from ledger.cards.existing_payments import BillsOfCards
from ledger.entry_shape import EXPENSE, INCOME
from ledger.imports.keys import WalletRef, signed_amount
from ledger.imports.matching import Dated, match_nearest
from ledger.imports.records import Direction, Record, RecordKind
from ledger.imports.texts import normalize_text
from ledger.models.imports import ImportAction, ImportStatus
from ledger.notifications.compare import MAX_TIME_DIFFERENCE

# From an entry's day to that of a row which may be the same payment.
SAME_PAYMENT_DAYS = (0, 1, -1, 2, -2, 3, -3)
# From the day on which money leaves to that on which it arrives.
TRANSFER_DAYS = (0, 1, 2, 3, 4)
# From a row that arrives back to the day on which the money left.
_ARRIVAL_DAYS = (0, -1, -2, -3, -4, 1)
# From a cancellation back to its purchase.
CANCELLATION_DAYS = tuple(range(0, -91, -1))


class Reason(StrEnum):
    """Why a row has its status; `ledger.imports.reasons` has the sentences."""

    NEW = "NEW"
    KNOWN = "KNOWN"
    KNOWN_DELETED = "KNOWN_DELETED"
    REPEATED = "REPEATED"
    SAME_PAYMENT = "SAME_PAYMENT"
    SIDE_OF_TRANSFER = "SIDE_OF_TRANSFER"
    TWO_ROWS = "TWO_ROWS"
    OTHER_SIDE = "OTHER_SIDE"
    WITH_ENTRY = "WITH_ENTRY"
    BOTH_WALLETS = "BOTH_WALLETS"
    NO_OTHER_SIDE = "NO_OTHER_SIDE"
    OPENING = "OPENING"
    CANCELLED = "CANCELLED"
    CAME_BACK = "CAME_BACK"
    UNREADABLE = "UNREADABLE"


class KnownEntry(NamedTuple):
    """An entry that a row may be; `keyed` are wallets whose side has a row already.

    `is_notified` has day and time from a notification. `is_half` may become one side
    of a transfer: flat, in the home currency, without refunds. `shares` are the cards
    that a bill was paid for, each with its amount, where they are several.
    """

    id: int
    type: str
    amount: int
    date: datetime.date
    time: datetime.time | None
    wallet_id: int | None
    to_wallet_id: int | None
    pending: bool
    has_category: bool
    is_notified: bool
    is_half: bool
    memo: str
    currency: str | None
    original_amount: Decimal | None
    keyed: Sequence[int] = ()
    shares: Sequence[tuple[int, int]] = ()

    @property
    def direction(self) -> Direction:
        return Direction.IN if self.type == INCOME else Direction.OUT


class KnownKey(NamedTuple):
    """A key of the ledger; `entry_id` is its living entry, a transfer's after a merge.

    `wallet_ids` are those of the key and, where its wallet is gone, of the entry.
    """

    wallet_ids: frozenset[int]
    entry_id: int | None
    is_deleted: bool
    # Its wallet was deleted, and the entry has moved to another one.
    is_moved: bool = False


@dataclass(frozen=True, slots=True)
class KnownLedger:
    """What the judging needs to know of the ledger."""

    keys: Mapping[bytes, Sequence[KnownKey]] = field(default_factory=dict)
    entries: Sequence[KnownEntry] = ()
    bills: BillsOfCards = field(default_factory=BillsOfCards)


@dataclass(slots=True, eq=False)
class JudgedRow:
    """A row with its place in the ledger.

    `other` is the other wallet of a transfer. `entry_id` is the entry that the row is
    or completes; of a refund, the purchase. `other_row` is the other half in the file.
    `target` is the entry that the member has named for it.
    """

    record: Record
    wallet: WalletRef
    other: WalletRef
    digests: tuple[bytes, ...]
    chosen: ImportAction | None = None
    target: int | None = None
    status: ImportStatus = ImportStatus.NEW
    reason: Reason = Reason.NEW
    entry_id: int | None = None
    other_row: "JudgedRow | None" = None

    @property
    def is_open(self) -> bool:
        return self.reason is Reason.NEW

    @property
    def default_action(self) -> ImportAction:
        if self.reason is Reason.CANCELLED:
            return ImportAction.SKIP
        return _DEFAULT_ACTIONS[self.status]

    @property
    def action(self) -> ImportAction:
        has_target = self.target is not None
        allowed = allowed_actions(self.status, self.reason, has_target=has_target)
        chosen = self.chosen
        return chosen if chosen and chosen in allowed else self.default_action

    def decide(
        self,
        status: ImportStatus,
        reason: Reason,
        entry_id: int | None = None,
        other_row: "JudgedRow | None" = None,
    ) -> None:
        self.status, self.reason = status, reason
        self.entry_id, self.other_row = entry_id, other_row


_DEFAULT_ACTIONS = {
    ImportStatus.NEW: ImportAction.IMPORT,
    ImportStatus.DUPLICATE: ImportAction.SKIP,
    ImportStatus.LIKELY_DUPLICATE: ImportAction.MERGE,
    ImportStatus.TRANSFER: ImportAction.IMPORT,
    ImportStatus.PAIRED: ImportAction.MERGE,
    ImportStatus.UNPAIRED: ImportAction.IMPORT,
    ImportStatus.REFUND: ImportAction.IMPORT,
    ImportStatus.INVALID: ImportAction.SKIP,
}


# A row of these is an entry, or the second half of one.
_MERGED = frozenset(
    {
        *(Reason.SAME_PAYMENT, Reason.SIDE_OF_TRANSFER),
        *(Reason.OTHER_SIDE, Reason.WITH_ENTRY),
    }
)


def allowed_actions(
    status: str, reason: str, *, has_target: bool
) -> frozenset[ImportAction]:
    """Return what a member may choose: what would double or lose a row is not in it.

    `has_target`: an entry was named to merge with.
    """
    if status == ImportStatus.INVALID:
        return frozenset({ImportAction.SKIP})
    if status == ImportStatus.DUPLICATE:
        if reason == Reason.KNOWN_DELETED:
            return frozenset({ImportAction.SKIP, ImportAction.IMPORT})
        return frozenset({ImportAction.SKIP})
    if has_target or reason in _MERGED:
        return frozenset(ImportAction)
    return frozenset({ImportAction.IMPORT, ImportAction.SKIP})


def judge(rows: Sequence[JudgedRow], ledger: KnownLedger) -> None:
    """Give each row its status, reason, entry and other row."""
    _find_known(rows, ledger)
    _find_same_payments(_list_open(rows), ledger)
    _find_sides(_list_open(rows), ledger)
    _pair_rows(_list_open(rows))
    _pair_with_entries(_list_open(rows), ledger)
    _find_cancelled(rows)
    for row in _list_open(rows):
        _decide_alone(row)


def _list_open(rows: Iterable[JudgedRow]) -> list[JudgedRow]:
    return [row for row in rows if row.is_open]


def _find_known(rows: Iterable[JudgedRow], ledger: KnownLedger) -> None:
    moved = _find_moved_names(rows, ledger)
    seen: set[tuple[WalletRef, bytes]] = set()
    for row in rows:
        keys = {(row.wallet, digest) for digest in row.digests}
        if keys & seen:
            # The bank's id stands twice in the file.
            row.decide(ImportStatus.DUPLICATE, Reason.REPEATED)
            continue
        seen |= keys
        if isinstance(row.wallet, str):
            known = _find_moved_key(row, ledger) if row.wallet in moved else None
        else:
            known = _find_key(row, ledger)
        if known is not None:
            is_gone = known.is_deleted
            reason = Reason.KNOWN_DELETED if is_gone else Reason.KNOWN
            row.decide(ImportStatus.DUPLICATE, reason, known.entry_id)


def _find_moved_names(rows: Iterable[JudgedRow], ledger: KnownLedger) -> set[WalletRef]:
    """Return the new names of wallets that were deleted, their entries moved.

    At least half of the rows of such a name are known: a single one may be the equal
    row of another account.
    """
    counts: Counter[WalletRef] = Counter()
    known: Counter[WalletRef] = Counter()
    for row in rows:
        if isinstance(row.wallet, str):
            counts[row.wallet] += 1
            known[row.wallet] += _find_moved_key(row, ledger) is not None
    return {name for name, count in counts.items() if 2 * known[name] >= count}


def _find_moved_key(row: JudgedRow, ledger: KnownLedger) -> KnownKey | None:
    for digest in row.digests:
        for known in ledger.keys.get(digest, ()):
            if known.is_moved:
                return known
    return None


def _find_key(row: JudgedRow, ledger: KnownLedger) -> KnownKey | None:
    for digest in row.digests:
        for known in ledger.keys.get(digest, ()):
            if (row.wallet or 0) in known.wallet_ids:
                return known
    return None


def _find_same_payments(rows: Sequence[JudgedRow], ledger: KnownLedger) -> None:
    """Match rows with entries of their wallet that no file has brought."""
    entries = [
        Dated(entry, _own_group(entry), entry.date, moment=_minute(entry.time))
        for entry in ledger.entries
        if (entry.wallet_id or 0) not in entry.keyed
    ]
    lefts = [
        Dated(row, _row_group(row), row.record.date, moment=_minute(row.record.time))
        for row in rows
    ]
    for left, right in match_nearest(lefts, entries, SAME_PAYMENT_DAYS, _agree):
        _merge(left.item, right.item, Reason.SAME_PAYMENT)
    _find_same_foreign(rows, ledger)


def _agree(left: Dated, right: Dated) -> bool:
    """Return False if both tell the time of a payment, and not the same one."""
    record: Record = left.item.record
    entry: KnownEntry = right.item
    if not entry.is_notified or entry.time is None or record.time is None:
        return True
    combine = datetime.datetime.combine
    difference = combine(record.date, record.time) - combine(entry.date, entry.time)
    return abs(difference) <= MAX_TIME_DIFFERENCE


def _find_same_foreign(rows: Sequence[JudgedRow], ledger: KnownLedger) -> None:
    """Match by the amount in a foreign currency: rates of text and bank differ."""
    used = {row.entry_id for row in rows}
    entries = [
        Dated(
            entry,
            (entry.wallet_id, entry.direction, entry.currency, entry.original_amount),
            entry.date,
        )
        for entry in ledger.entries
        if entry.currency is not None
        and entry.id not in used
        and (entry.wallet_id or 0) not in entry.keyed
    ]
    lefts = [
        Dated(
            row,
            (
                *(row.wallet, row.record.direction),
                *(row.record.currency, row.record.original_amount),
            ),
            row.record.date,
        )
        for row in _list_open(rows)
        if row.record.original_amount is not None
    ]
    for left, right in match_nearest(lefts, entries, SAME_PAYMENT_DAYS, _agree):
        _merge(left.item, right.item, Reason.SAME_PAYMENT)


def _find_sides(rows: Sequence[JudgedRow], ledger: KnownLedger) -> None:
    """Match rows with the second side of transfers that another file has told."""
    sides = [
        Dated(entry, (entry.to_wallet_id, entry.amount), entry.date)
        for entry in ledger.entries
        if entry.to_wallet_id is not None and entry.to_wallet_id not in entry.keyed
    ]
    # Each share may have its own row.
    sides += [
        Dated(entry._replace(shares=(share,)), share, entry.date)
        for entry in ledger.entries
        for share in entry.shares
        if share[0] not in entry.keyed
    ]
    lefts = [
        Dated(row, (row.wallet, signed_amount(row.record)), row.record.date)
        for row in rows
        if row.record.direction is Direction.IN
    ]
    for left, right in match_nearest(lefts, sides, _ARRIVAL_DAYS):
        _merge(left.item, right.item, Reason.SIDE_OF_TRANSFER)
    _find_payments_of_bills(rows, ledger)


def _find_payments_of_bills(rows: Sequence[JudgedRow], ledger: KnownLedger) -> None:
    """Match rows of any card on a bill with a transfer of the whole amount."""
    used = {row.entry_id for row in rows}
    payments = []
    for entry in ledger.entries:
        cards = [card for card, _ in entry.shares]
        if entry.to_wallet_id is not None:
            cards = [entry.to_wallet_id]
        if not cards:
            continue
        main = ledger.bills.main_of(cards[0])
        on_bill = {*ledger.bills.list_cards(main), *cards}
        is_told = entry.id in used or not on_bill.isdisjoint(entry.keyed)
        if len(on_bill) > 1 and entry.wallet_id not in on_bill and not is_told:
            payments.append(Dated(entry, (main, entry.amount), entry.date))
    if not payments:
        return
    lefts = [
        Dated(
            row, (ledger.bills.main_of(row.wallet), row.record.amount), row.record.date
        )
        for row in rows
        if row.is_open
        and isinstance(row.wallet, int)
        and row.record.direction is Direction.IN
    ]
    for left, right in match_nearest(lefts, payments, _ARRIVAL_DAYS):
        _merge(left.item, right.item, Reason.SIDE_OF_TRANSFER)


def _merge(row: JudgedRow, entry: KnownEntry, reason: Reason) -> None:
    row.decide(ImportStatus.LIKELY_DUPLICATE, reason, entry.id)


def _own_group(entry: KnownEntry) -> Any:
    sign = 1 if entry.direction is Direction.IN else -1
    return entry.wallet_id, sign * entry.amount


def _row_group(row: JudgedRow) -> Any:
    return row.wallet, signed_amount(row.record)


def _minute(time: datetime.time | None) -> Any:
    return None if time is None else (time.hour, time.minute)


def _pair_rows(rows: Sequence[JudgedRow]) -> None:
    """Make one transfer of two opposite rows of the file."""
    told = [row for row in rows if row.record.kind is RecordKind.TRANSFER]
    # Rows that say it go first, with each other; banks do not say what a row is.
    _pair(told)
    _pair([row for row in rows if row.is_open and _may_be_transfer(row)])


def _pair(rows: Sequence[JudgedRow]) -> None:
    by_direction: dict[Direction, list[Dated]] = defaultdict(list)
    for row in rows:
        record = row.record
        if row.wallet is None or not record.amount or record.currency is not None:
            continue
        moment = (_minute(record.time), normalize_text(record.text or record.memo))
        dated = Dated(row, record.amount, record.date, row.wallet, moment)
        by_direction[record.direction].append(dated)
    outs, ins = by_direction[Direction.OUT], by_direction[Direction.IN]
    for out, in_ in match_nearest(outs, ins, TRANSFER_DAYS, _fit):
        first, second = out.item, in_.item
        first.decide(ImportStatus.TRANSFER, Reason.TWO_ROWS, other_row=second)
        second.decide(ImportStatus.PAIRED, Reason.OTHER_SIDE, other_row=first)
        first.other, second.other = second.wallet, first.wallet


def _fit(out: Dated, in_: Dated) -> bool:
    """Return whether neither row names a wallet that is not the other row's."""
    first, second = out.item, in_.item
    return first.other in (None, second.wallet) and second.other in (None, first.wallet)


def _may_be_transfer(row: JudgedRow) -> bool:
    record = row.record
    if record.kind is RecordKind.TRANSFER:
        return True
    return record.kind is RecordKind.FLOW and not record.category and not record.lines


def _pair_with_entries(rows: Sequence[JudgedRow], ledger: KnownLedger) -> None:
    """Make one transfer of a row and an expense or income of another wallet."""
    used = {row.entry_id for row in rows}
    halves = [
        entry
        for entry in ledger.entries
        if entry.is_half
        and not entry.has_category
        and entry.wallet_id is not None
        and entry.id not in used
    ]
    for direction, days in (
        (Direction.OUT, TRANSFER_DAYS),
        (Direction.IN, tuple(-day for day in TRANSFER_DAYS)),
    ):
        lefts = [
            Dated(row, row.record.amount, row.record.date, row.wallet)
            for row in rows
            if row.is_open
            and row.wallet is not None
            and row.record.amount
            and row.record.currency is None
            and row.record.direction is direction
            and _may_be_transfer(row)
        ]
        rights = [
            Dated(entry, entry.amount, entry.date, entry.wallet_id)
            for entry in halves
            if entry.direction is not direction
        ]
        for left, right in match_nearest(lefts, rights, days, _names_wallet):
            row, entry = left.item, right.item
            row.decide(ImportStatus.PAIRED, Reason.WITH_ENTRY, entry.id)
            row.other = entry.wallet_id


def _names_wallet(left: Dated, right: Dated) -> bool:
    return left.item.other in (None, right.wallet)


def _find_cancelled(rows: Sequence[JudgedRow]) -> None:
    """Let a cancellation take its purchase with it, or refund an imported one."""
    cancellations = [
        _as_purchase(row)
        for row in rows
        if row.is_open and row.record.kind is RecordKind.CANCELLATION
    ]
    if not cancellations:
        return
    purchases = [
        _as_purchase(row)
        for row in rows
        if row.record.kind is RecordKind.FLOW
        and row.record.direction is Direction.OUT
        and row.reason is not Reason.KNOWN_DELETED
        and row.other_row is None
    ]
    for left, right in match_nearest(cancellations, purchases, CANCELLATION_DAYS):
        row, purchase = left.item, right.item
        if purchase.is_open:
            purchase.decide(ImportStatus.PAIRED, Reason.CANCELLED, other_row=row)
            row.decide(ImportStatus.PAIRED, Reason.CANCELLED, other_row=purchase)
        elif purchase.entry_id is not None:
            row.decide(ImportStatus.REFUND, Reason.CAME_BACK, purchase.entry_id)


def _as_purchase(row: JudgedRow) -> Dated:
    record = row.record
    group = (row.wallet, record.amount, normalize_text(record.memo or record.text))
    return Dated(row, group, record.date)


def _decide_alone(row: JudgedRow) -> None:
    match row.record.kind:
        case RecordKind.REFUND | RecordKind.CANCELLATION:
            row.decide(ImportStatus.REFUND, Reason.CAME_BACK)
        case RecordKind.TRANSFER if row.other is not None and row.wallet is not None:
            row.decide(ImportStatus.TRANSFER, Reason.BOTH_WALLETS)
        case RecordKind.TRANSFER:
            row.decide(ImportStatus.UNPAIRED, Reason.NO_OTHER_SIDE)
        case RecordKind.OPENING:
            row.decide(ImportStatus.UNPAIRED, Reason.OPENING)
        case RecordKind.FLOW:
            pass


def separate_rows(rows: Iterable[JudgedRow]) -> None:
    """Let the rows of a pair stand alone, where the member wants no transfer of them.

    Without its first row the second one is skipped.
    """
    for second in rows:
        first = second.other_row
        if second.reason is not Reason.OTHER_SIDE or first is None:
            continue
        if second.action is ImportAction.MERGE and second.target is None:
            if first.action is not ImportAction.IMPORT:
                second.chosen = ImportAction.SKIP
            continue
        for row in (first, second):
            row.other = row.other_row = None
            row.status, row.reason = ImportStatus.NEW, Reason.NEW
            _decide_alone(row)


def entry_type(record: Record) -> str:
    """Return the type of the entry that a row alone becomes."""
    return INCOME if record.direction is Direction.IN else EXPENSE
