"""Bills of a card, or of cards on one bill, computed from entries (spec 3.30). Pure.

Amounts are whole home-currency units. Debts are positive. A month is the date of
its first day.
"""

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from ledger.cards.parts import list_parts, take_off_last
from ledger.cards.schedule import Printed, Schedule, count_months, move_month
from ledger.periods import Period

# Later entries stand on the last of so many bills to come.
MONTHS_TO_COME = 120
_BY_DATE = attrgetter("date", "entry_id")


class BillStatus(StrEnum):
    OPEN = "OPEN"
    DUE = "DUE"
    PARTIAL = "PARTIAL"
    PAID = "PAID"
    OVERDUE = "OVERDUE"


class Item(NamedTuple):
    """Money out of a card: an expense, a transfer, or a line.

    On a bill, a refund is negative; a purchase with `months` is divided into its parts,
    which count from 1.
    """

    entry_id: int
    wallet_id: int
    date: datetime.date
    memo: str
    amount: int
    is_pending: bool = False
    bill_month: datetime.date | None = None
    months: int | None = None
    typed_parts: tuple[int, ...] | None = None
    part: int | None = None
    parts: int | None = None


class Refund(NamedTuple):
    """An income of a card. `portions` are amounts by the purchase that comes back."""

    entry_id: int
    wallet_id: int
    date: datetime.date
    amount: int
    memo: str = ""
    portions: Mapping[int, int] = MappingProxyType({})
    bill_month: datetime.date | None = None
    is_pending: bool = False


class Payment(NamedTuple):
    """Money into the cards from another wallet."""

    entry_id: int
    date: datetime.date
    amount: int
    bill_month: datetime.date | None = None


class MonthSum(NamedTuple):
    """Sums of one card in one bill, of entries that are not listed one by one."""

    wallet_id: int
    month: datetime.date
    charges: int = 0
    refunds: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    """The stored facts about the cards of one bill.

    `balance` is the sum of all cards. All movements from the bill `anchor` on are
    here, charges and refunds one by one or as sums; what is before it is in the balance
    alone.
    """

    balance: int
    anchor: datetime.date
    charges: Sequence[Item] = ()
    refunds: Sequence[Refund] = ()
    payments: Sequence[Payment] = ()
    sums: Sequence[MonthSum] = ()


class PaidPart(NamedTuple):
    """The share of one payment that a bill took."""

    entry_id: int
    date: datetime.date
    amount: int


@dataclass(slots=True)
class Bill:
    month: datetime.date
    period: Period
    payment_date: datetime.date
    printed: Printed | None = None
    charges: int = 0
    installments: int = 0
    refunds: int = 0
    carried: int = 0
    paid: int = 0
    pending: int = 0
    status: BillStatus = BillStatus.OPEN
    items: list[Item] = field(default_factory=list)
    payments: list[PaidPart] = field(default_factory=list)
    # The share of each card.
    by_wallet: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def own(self) -> int:
        return self.charges + self.installments - self.refunds

    @property
    def total(self) -> int:
        return self.own + self.carried

    @property
    def due(self) -> int:
        """Return what payments can take: a negative total is carried on."""
        return max(0, self.total)

    @property
    def printed_amount(self) -> int | None:
        return self.printed.amount if self.printed is not None else None

    @property
    def difference(self) -> int | None:
        printed = self.printed_amount
        return None if printed is None else printed - self.total


@dataclass(slots=True)
class Account:
    """All bills of a card from the anchor on, by month.

    -balance = sum of `remaining` of closed bills (with `older`) + remaining of the open
    bill + `unbilled` - `credit`.
    """

    schedule: Schedule
    open_month: datetime.date
    bills: dict[datetime.date, Bill]
    # Unpaid bills before the anchor.
    older: int = 0
    credit: int = 0

    def remaining(self, bill: Bill) -> int:
        if bill.month < self.open_month:
            return bill.due - bill.paid
        return bill.total - bill.paid

    @property
    def unbilled(self) -> int:
        return sum(
            bill.own for month, bill in self.bills.items() if month > self.open_month
        )

    @property
    def last_month(self) -> datetime.date:
        """Return the last bill with something on it, at least the open one."""
        filled = (month for month, bill in self.bills.items() if bill.items or bill.own)
        return max(self.open_month, max(filled, default=self.open_month))

    def get_bill(self, month: datetime.date) -> Bill:
        """Return the bill, which may be empty."""
        return self.bills.get(month) or _make_bill(self.schedule, month)


def compute_account(schedule: Schedule, facts: Facts, today: datetime.date) -> Account:
    return _Computation(schedule, facts, today).run()


def _make_bill(schedule: Schedule, month: datetime.date) -> Bill:
    return Bill(
        month,
        schedule.period(month),
        schedule.payment_date(month),
        schedule.printed.get(month),
    )


def find_open_month(schedule: Schedule, today: datetime.date) -> datetime.date:
    """Return the bill whose period holds a day, the first one before it begins."""
    return max(schedule.month_of(today), schedule.first_month)


class _Computation:
    def __init__(self, schedule: Schedule, facts: Facts, today: datetime.date) -> None:
        self.schedule, self.facts, self.today = schedule, facts, today
        self.account = Account(schedule, find_open_month(schedule, today), {})
        self._months: dict[datetime.date, datetime.date] = {}
        self._last_month = move_month(self.account.open_month, MONTHS_TO_COME)
        self._last_day = schedule.period_end(self._last_month)

    def run(self) -> Account:
        self._add_charges_and_refunds()
        for each in self.facts.sums:
            bill = self._bill(each.month)
            bill.charges += each.charges
            bill.refunds += each.refunds
            bill.by_wallet[each.wallet_id] += each.charges - each.refunds
        self._fill_gaps()
        self._carry()
        self._pay()
        for bill in self.account.bills.values():
            bill.items.sort(key=_BY_DATE)
            bill.status = self._judge(bill)
        return self.account

    def _bill(self, month: datetime.date) -> Bill:
        bill = self.account.bills.get(month)
        if bill is None:
            bill = _make_bill(self.schedule, month)
            self.account.bills[month] = bill
        return bill

    def _month_of(
        self, day: datetime.date, bill_month: datetime.date | None
    ) -> datetime.date:
        if bill_month is not None:
            return min(bill_month, self._last_month)
        if day not in self._months:
            self._months[day] = self.schedule.month_of(min(day, self._last_day))
        return self._months[day]

    def _add_charges_and_refunds(self) -> None:
        plans = {
            charge.entry_id: _Plan(
                charge, self._month_of(charge.date, charge.bill_month)
            )
            for charge in self.facts.charges
            if charge.months is not None and not charge.is_pending
        }
        for refund in sorted(self.facts.refunds, key=lambda r: (r.date, r.entry_id)):
            month = self._month_of(refund.date, refund.bill_month)
            amount = refund.amount
            if not refund.is_pending:
                for purchase_id, portion in refund.portions.items():
                    if purchase_id in plans:
                        amount -= plans[purchase_id].take_off(month, portion)
            if amount:
                self._add_refund(refund, month, amount)
        for charge in self.facts.charges:
            month = self._month_of(charge.date, charge.bill_month)
            if charge.months is None:
                if month >= self.facts.anchor:
                    _add_charge(self._bill(month), charge)
                continue
            plan = plans.get(charge.entry_id) or _Plan(charge, month)
            self._add_plan(charge, plan)

    def _add_plan(self, charge: Item, plan: "_Plan") -> None:
        for number, amount in enumerate(plan.parts):
            month = min(move_month(plan.month, number), self._last_month)
            if amount and month >= self.facts.anchor:
                item = charge._replace(
                    amount=amount, part=number + 1, parts=len(plan.parts)
                )
                _add_charge(self._bill(month), item)

    def _add_refund(self, refund: Refund, month: datetime.date, amount: int) -> None:
        if month < self.facts.anchor:
            return
        bill = self._bill(month)
        item = Item(
            refund.entry_id,
            refund.wallet_id,
            refund.date,
            refund.memo,
            -amount,
            refund.is_pending,
        )
        bill.items.append(item)
        if refund.is_pending:
            bill.pending -= amount
            return
        bill.refunds += amount
        bill.by_wallet[refund.wallet_id] -= amount

    def _fill_gaps(self) -> None:
        last = max([self.account.open_month, *self.account.bills])
        month = self.facts.anchor
        while month <= last:
            self._bill(month)
            month = move_month(month, 1)
        self.account.bills = dict(sorted(self.account.bills.items()))

    def _carry(self) -> None:
        """Carry the debt from before the first bill, and negative totals."""
        bills = list(self.account.bills.values())
        before = -self.facts.balance - sum(bill.own for bill in bills)
        before += sum(payment.amount for payment in self.facts.payments)
        if self.facts.anchor > self.schedule.first_month and before > 0:
            self.account.older = before
            before = 0
        for bill in bills:
            bill.carried = before
            before = min(0, bill.total)

    def _pay(self) -> None:
        pots = [
            bill
            for bill in self.account.bills.values()
            if bill.month <= self.account.open_month
        ]
        for payment in sorted(
            self.facts.payments, key=lambda each: (each.date, each.entry_id)
        ):
            part = PaidPart(payment.entry_id, payment.date, payment.amount)
            if payment.bill_month is None:
                self._pay_oldest(pots, part)
            elif payment.bill_month > self.account.open_month:
                # Its bill comes later.
                self.account.credit += payment.amount
            else:
                named = self.account.bills.get(payment.bill_month)
                rest = _pour(named, part) if named else part.amount
                self._pay_oldest(pots, PaidPart(part.entry_id, part.date, rest))

    def _pay_oldest(self, pots: Iterable[Bill], part: PaidPart) -> None:
        rest = part.amount
        taken = min(self.account.older, rest)
        self.account.older -= taken
        rest -= taken
        for bill in pots:
            if rest == 0:
                return
            rest = _pour(bill, PaidPart(part.entry_id, part.date, rest))
        self.account.credit += rest

    def _judge(self, bill: Bill) -> BillStatus:
        if bill.month >= self.account.open_month:
            return BillStatus.OPEN
        if self.account.remaining(bill) == 0:
            return BillStatus.PAID
        if bill.payment_date < self.today:
            return BillStatus.OVERDUE
        return BillStatus.PARTIAL if bill.paid else BillStatus.DUE


class _Plan:
    """The parts of a purchase in installments, less what came back."""

    def __init__(self, charge: Item, month: datetime.date) -> None:
        self.month = month
        self.parts = list_parts(charge.amount, charge.months, charge.typed_parts)

    def take_off(self, month: datetime.date, amount: int) -> int:
        """Take a refund on the bill of `month` off later parts; return what they lose.

        The last part comes first.
        """
        first = max(0, count_months(self.month, month) + 1)
        before = sum(self.parts)
        self.parts = take_off_last(self.parts, first, max(0, amount))
        return before - sum(self.parts)


def _add_charge(bill: Bill, item: Item) -> None:
    bill.items.append(item)
    if item.is_pending:
        bill.pending += item.amount
        return
    if item.part is None:
        bill.charges += item.amount
    else:
        bill.installments += item.amount
    bill.by_wallet[item.wallet_id] += item.amount


def _pour(bill: Bill, part: PaidPart) -> int:
    """Pay a bill up to its due amount, and return the rest of the payment."""
    taken = min(bill.due - bill.paid, part.amount)
    if taken > 0:
        bill.paid += taken
        bill.payments.append(PaidPart(part.entry_id, part.date, taken))
        return part.amount - taken
    return part.amount
