"""Statistics by month, year and range, computed by the database.

Pending entries count nowhere. What the kept totals know is read from them, so that a
month costs the same however many entries it has; days, tags and odd ranges are sums
over an index.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import connection

from accounts.models import Member
from ledger.models.base import EntryType
from ledger.periods import Period, Unit, month_of, previous_month, split, year_of
from ledger.shares import share_of

_BY_MONTH = """
    SELECT month, type, sum(amount), sum(entries) FROM account_month_total
    WHERE member_id = %(member)s AND month BETWEEN %(start)s AND %(end)s
        AND NOT pending AND entries > 0
    GROUP BY month, type
"""
_TOTALS = """
    SELECT t.type, c.name, p.name, t.category_id, w.name, t.wallet_id,
        w.sort_order, sum(t.amount), sum(t.entries)
    FROM account_entry_total t
    LEFT JOIN account_category c ON c.id = t.category_id
    LEFT JOIN account_category p ON p.id = c.parent_id
    LEFT JOIN account w ON w.id = t.wallet_id
    WHERE t.member_id = %(member)s AND t.month BETWEEN %(start)s AND %(end)s
        AND NOT t.pending AND t.entries > 0
    GROUP BY t.type, t.category_id, c.id, p.id, t.wallet_id, w.id
"""
"""One row for each type, category and wallet: few, however long the history."""
_BY_DAY = """
    SELECT date, type, sum(amount), count(*) FROM account_entry
    WHERE member_id = %(member)s AND date BETWEEN %(start)s AND %(end)s
        AND NOT pending
    GROUP BY date, type
"""
_BY_TAG = """
    SELECT g.name,
        coalesce(sum(e.amount) FILTER (WHERE e.type = 'income'), 0),
        coalesce(sum(e.amount) FILTER (WHERE e.type = 'expense'), 0),
        count(*)
    FROM account_entry e
    JOIN account_entry_tag l ON l.entry_id = e.id
    JOIN account_tag g ON g.id = l.tag_id
    WHERE e.member_id = %(member)s AND e.date BETWEEN %(start)s AND %(end)s
        AND NOT e.pending
    GROUP BY g.id
    ORDER BY g.sort_order, g.id
"""


@dataclass(slots=True)
class Flow:
    """Money of a period in whole home-currency units, and how many entries."""

    income: int = 0
    expense: int = 0
    count: int = 0

    @property
    def net(self) -> int:
        return self.income - self.expense

    def add(self, type_: str, amount: int, count: int) -> None:
        if type_ == EntryType.INCOME:
            self.income += amount
        else:
            self.expense += amount
        self.count += count


@dataclass(frozen=True, slots=True)
class Group:
    """The entries of one type, category and wallet."""

    type: str
    category_id: int | None
    category: str | None
    parent: str | None
    wallet_id: int | None
    wallet: str | None
    order: int | None
    amount: int
    count: int

    @property
    def flow(self) -> Flow:
        flow = Flow()
        flow.add(self.type, self.amount, self.count)
        return flow


@dataclass(frozen=True, slots=True)
class CategoryFlow:
    """One category of a type; None is what has no category."""

    type: str
    category: str | None
    parent: str | None
    amount: int
    count: int
    share: Decimal | None


@dataclass(frozen=True, slots=True)
class WalletFlow:
    wallet_id: int | None
    name: str | None
    income: int
    expense: int


@dataclass(frozen=True, slots=True)
class TagFlow:
    tag: str
    income: int
    expense: int
    count: int


@dataclass(frozen=True, slots=True)
class MonthStatistics:
    total: Flow
    previous: Flow
    by_category: list[CategoryFlow]
    by_day: list[tuple[date, Flow]]
    by_wallet: list[WalletFlow]
    by_tag: list[TagFlow]


@dataclass(frozen=True, slots=True)
class YearStatistics:
    total: Flow
    months: list[tuple[int, Flow]]
    by_category: list[CategoryFlow]


@dataclass(frozen=True, slots=True)
class RangeStatistics:
    total: Flow
    points: list[tuple[Period, Flow]]


def read_month(member: Member, year: int, month: int) -> MonthStatistics:
    """One month beside the month before it; days without entries are listed too."""
    period = month_of(year, month)
    before = month_of(*previous_month(year, month))
    groups = _read_groups(member, period)
    days = _flows_by_day(member, period)
    return MonthStatistics(
        total=_sum(group.flow for group in groups),
        previous=_flows_by_month(member, before).get(before.start, Flow()),
        by_category=_sum_categories(groups),
        by_day=[(day, days.get(day, Flow())) for day in _days(period)],
        by_wallet=_sum_wallets(groups),
        by_tag=[TagFlow(name, int(inc), int(exp), count)
                for name, inc, exp, count in _fetch(_BY_TAG, member, period)],
    )  # fmt: skip


def read_year(member: Member, year: int) -> YearStatistics:
    """The twelve months of a year, and its categories."""
    period = year_of(year)
    flows = _flows_by_month(member, period)
    months = [
        (part.start.month, flows.get(part.start, Flow()))
        for part in split(period, Unit.MONTH)
    ]
    return YearStatistics(
        total=_sum(flow for _, flow in months),
        months=months,
        by_category=_sum_categories(_read_groups(member, period)),
    )


def read_range(member: Member, period: Period, unit: Unit) -> RangeStatistics:
    """The periods of this unit that cover the range, cut to it."""
    parts = list(split(period, unit))
    starts = {part.start: Flow() for part in parts}
    index = _index_days(parts)
    for day, type_, amount, count in _fetch(_BY_DAY, member, period):
        starts[index[day]].add(type_, int(amount), count)
    return RangeStatistics(
        total=_sum(starts.values()),
        points=[(part, starts[part.start]) for part in parts],
    )


def _read_groups(member: Member, period: Period) -> list[Group]:
    return [
        Group(
            type_, category_id, name, parent, wallet_id, wallet, order, int(a), int(n)
        )
        for type_, name, parent, category_id, wallet, wallet_id, order, a, n in _fetch(
            _TOTALS, member, period
        )
    ]


def _sum_categories(groups: list[Group]) -> list[CategoryFlow]:
    """By minor-category name with its major one, within each type by amount."""
    sums: dict[tuple[str, int | None], list[Group]] = {}
    for group in groups:
        sums.setdefault((group.type, group.category_id), []).append(group)
    whole = {type_: sum(g.amount for g in groups if g.type == type_)
             for type_ in EntryType.values}  # fmt: skip
    flows = [
        CategoryFlow(
            type=type_,
            category=parts[0].category,
            parent=parts[0].parent,
            amount=(amount := sum(part.amount for part in parts)),
            count=sum(part.count for part in parts),
            share=share_of(amount, whole[type_]),
        )
        for (type_, _), parts in sums.items()
    ]
    return sorted(
        flows, key=lambda flow: (flow.type, -flow.amount, flow.category or "")
    )


def _sum_wallets(groups: list[Group]) -> list[WalletFlow]:
    """In the order of the wallets; what has no wallet comes last."""
    sums: dict[int | None, Flow] = {}
    of_wallet = {group.wallet_id: group for group in groups}
    for group in groups:
        flow = sums.setdefault(group.wallet_id, Flow())
        flow.add(group.type, group.amount, group.count)
    ordered = sorted(
        sums.items(),
        key=lambda item: (item[0] is None, of_wallet[item[0]].order or 0, item[0] or 0),
    )
    return [
        WalletFlow(wallet_id, of_wallet[wallet_id].wallet, flow.income, flow.expense)
        for wallet_id, flow in ordered
    ]


def _flows_by_month(member: Member, period: Period) -> dict[date, Flow]:
    flows: dict[date, Flow] = {}
    for month, type_, amount, count in _fetch(_BY_MONTH, member, period):
        flows.setdefault(month, Flow()).add(type_, int(amount), int(count))
    return flows


def _flows_by_day(member: Member, period: Period) -> dict[date, Flow]:
    flows: dict[date, Flow] = {}
    for day, type_, amount, count in _fetch(_BY_DAY, member, period):
        flows.setdefault(day, Flow()).add(type_, int(amount), count)
    return flows


def _days(period: Period) -> list[date]:
    return [part.start for part in split(period, Unit.DAY)]


def _index_days(parts: list[Period]) -> dict[date, date]:
    """The start of the part that each day lies in."""
    return {day: part.start for part in parts for day in _days(part)}


def _sum(flows: Any) -> Flow:
    total = Flow()
    for flow in flows:
        total.income += flow.income
        total.expense += flow.expense
        total.count += flow.count
    return total


def _fetch(sql: str, member: Member, period: Period) -> Sequence[tuple[Any, ...]]:
    values: dict[str, Any] = {
        "member": member.pk,
        "start": period.start,
        "end": period.end,
    }
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return rows
