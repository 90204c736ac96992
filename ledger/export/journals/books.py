"""Entries as transactions, and the balances that they lead to. Pure.

An entry is posted on its wallet, and each line on a category or another wallet with the
opposite sign. A flat entry is its only line. Excluded entries are posted on equity in
place of income and expenses: they count in balances and in no statistics.

The value of a wallet that the member types in is its balance, and what an account below
it has against equity. It is adjusted at the end of the day of each typed value, and at
the end of the journal.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import takewhile
from typing import NamedTuple

from ledger.entry_shape import INCOME
from ledger.export.journals.accounts import (
    HOLDINGS,
    OPENING,
    VALUATIONS,
    Chart,
    WalletRow,
)
from ledger.export.journals.parts import (
    Account,
    Assertion,
    Detail,
    Posting,
    Transaction,
)


class LineRow(NamedTuple):
    """A line of an entry; `wallet_id` is another wallet."""

    amount: int
    category_id: int | None
    category_type: str
    wallet_id: int | None
    memo: str = ""
    refund_of: int | None = None


class EntryRow(NamedTuple):
    """A confirmed entry with its lines; `details` are written as they are."""

    id: int
    date: date
    type: str
    amount: int
    wallet_id: int | None
    memo: str
    is_excluded: bool
    created_at: datetime
    lines: Sequence[LineRow]
    details: Sequence[Detail]


class ValuationRow(NamedTuple):
    wallet_id: int
    date: date
    value: int
    written_at: datetime


def make_transaction(entry: EntryRow, chart: Chart) -> Transaction:
    sign = 1 if entry.type == INCOME else -1
    postings = [Posting(chart.wallet(entry.wallet_id), sign * entry.amount)]
    for line in entry.lines:
        if line.wallet_id is not None:
            account = chart.wallet(line.wallet_id)
        else:
            account = chart.category(
                line.category_id, line.category_type, entry.is_excluded
            )
        details = []
        if line.memo:
            details.append(Detail("memo", line.memo))
        if line.refund_of is not None:
            details.append(Detail("refund-of", str(line.refund_of)))
        postings.append(Posting(account, -sign * line.amount, details))
    return Transaction(entry.date, entry.memo, postings, entry.id, entry.details)


@dataclass
class _TypedValue:
    """The value of a wallet while days pass; the first one counts before its day."""

    value: int
    typed: deque[ValuationRow]
    has_begun: bool = False
    # Transfers of the current day, by the moment they were written.
    moves: list[tuple[datetime, int]] = field(default_factory=list)

    def end_day(self, day: date) -> bool:
        """Take the moves of the day; return True if a value was typed on it."""
        moves, self.moves = self.moves, []
        if self.typed and self.typed[0].date == day:
            row = self.typed.popleft()
            # Later transfers of the same day move the value.
            moved = (change for at, change in moves if at > row.written_at)
            self.value = row.value + sum(moved)
            self.has_begun = True
            return True
        if self.has_begun:
            self.value += sum(change for _, change in moves)
        return False


class Books:
    """The balances of wallets, while entries are posted in the order of their days.

    Transactions before `start` go into one of opening balances. With `wallet_id`, the
    entries of this wallet alone are posted, and it alone has balances to assert.
    """

    def __init__(
        self,
        chart: Chart,
        wallets: Sequence[WalletRow],
        valuations: Iterable[ValuationRow],
        *,
        first_day: date,
        wallet_id: int | None = None,
    ) -> None:
        self._chart = chart
        self._first_day = first_day
        self._kept = {
            row.id for row in wallets if wallet_id is None or row.id == wallet_id
        }
        self._balances: Counter[int] = Counter(
            {row.id: row.opening_balance for row in wallets if row.id in self._kept}
        )
        self._adjustments: Counter[int] = Counter()
        self._is_open = False
        typed: dict[int, deque[ValuationRow]] = defaultdict(deque)
        for row in valuations:
            typed[row.wallet_id].append(row)
        self._values: dict[int, _TypedValue] = {}
        for wallet in wallets:
            rows, value = typed[wallet.id], wallet.current_value
            if wallet.id in self._kept and value is not None:
                first = rows[0].value if rows else value
                self._values[wallet.id] = _TypedValue(first, rows)
        self._day = date.min

    def post(self, entry: EntryRow) -> Iterator[Transaction]:
        """Yield the transaction of an entry, after the ends of the days before."""
        if entry.date > self._day:
            yield from self._end_days(entry.date)
            self._day = entry.date
        transaction = make_transaction(entry, self._chart)
        yield from self._show(transaction)
        sign = 1 if entry.type == INCOME else -1
        if entry.wallet_id is not None:
            self._balances[entry.wallet_id] += sign * entry.amount
        for line in entry.lines:
            if line.wallet_id is None:
                continue
            self._balances[line.wallet_id] -= sign * line.amount
            self._move(entry.wallet_id, entry.created_at, sign * line.amount)
            self._move(line.wallet_id, entry.created_at, -sign * line.amount)

    def close(self, last_day: date, holdings: int = 0) -> Iterator[Transaction]:
        """Yield what is left at the end of the last day: openings, values, holdings."""
        yield from self._end_days(last_day)
        self._day = last_day
        for wallet_id, value in self._values.items():
            value.end_day(last_day)
            yield from self._adjust(wallet_id, last_day)
        if holdings:
            yield from self._show(_against(last_day, "Holdings", HOLDINGS, holdings))
        yield from self._open()

    def list_assertions(self, worths: Mapping[int, int]) -> list[Assertion]:
        """Return the worth of each wallet, and what its value adds to its balance.

        A wallet without a worth has what was posted.
        """
        found = []
        for wallet_id in sorted(self._kept):
            added = self._adjustments[wallet_id]
            account = self._chart.wallets[wallet_id]
            worth = worths.get(wallet_id, self._balances[wallet_id] + added)
            found.append(Assertion(account, worth))
            if wallet_id in self._values:
                found.append(Assertion(self._chart.valuation(wallet_id), added))
        return found

    def _move(self, wallet_id: int | None, at: datetime, change: int) -> None:
        if wallet_id in self._values:
            self._values[wallet_id].moves.append((at, change))

    def _end_days(self, until: date) -> Iterator[Transaction]:
        """End the current day, and days with typed values before another day."""
        days = {self._day}
        for value in self._values.values():
            passed = takewhile(lambda row: row.date < until, value.typed)
            days.update(row.date for row in passed)
        for day in sorted(days):
            for wallet_id, value in self._values.items():
                if value.end_day(day):
                    yield from self._adjust(wallet_id, day)

    def _adjust(self, wallet_id: int, day: date) -> Iterator[Transaction]:
        value = self._values[wallet_id].value
        change = value - self._balances[wallet_id] - self._adjustments[wallet_id]
        if not change:
            return
        account = self._chart.valuation(wallet_id)
        yield from self._show(_against(day, "Valuation", account, change))
        self._adjustments[wallet_id] += change

    def _show(self, transaction: Transaction) -> Iterator[Transaction]:
        """Yield a transaction unless it is before the journal; open that first."""
        if transaction.day >= self._first_day:
            yield from self._open()
            yield transaction

    def _open(self) -> Iterator[Transaction]:
        if self._is_open:
            return
        self._is_open = True
        balances = [
            (account, amount)
            for wallet_id in sorted(self._kept)
            for account, amount in (
                (self._chart.wallets[wallet_id], self._balances[wallet_id]),
                (self._chart.valuation(wallet_id), self._adjustments[wallet_id]),
            )
            if amount
        ]
        if not balances:
            return
        total = sum(amount for _, amount in balances)
        postings = [Posting(account, amount) for account, amount in balances]
        postings.append(Posting(OPENING, -total))
        yield Transaction(self._first_day, "Opening balances", postings)


def _against(day: date, text: str, account: Account, amount: int) -> Transaction:
    postings = (Posting(account, amount), Posting(VALUATIONS, -amount))
    return Transaction(day, text, postings)
