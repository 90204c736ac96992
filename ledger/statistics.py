"""Statistics by month, year and range, computed by the database.

Pending entries count nowhere. Everything is read from the kept totals, so that a month
costs the same however many entries it has.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import connection

from accounts.models import Member
from ledger.cash_flow import (
    CategoryFlow,
    EntryGroup,
    Flow,
    TagFlow,
    WalletFlow,
    sum_categories,
    sum_flow,
    sum_tags,
    sum_wallets,
)
from ledger.periods import (
    Period,
    Unit,
    month_period,
    previous_month,
    split_period,
    year_period,
)

_BY_MONTH = """
    SELECT month, type, amount, entries FROM account_month_total
    WHERE member_id = %(member)s AND month BETWEEN %(start)s AND %(end)s
        AND NOT pending AND entries > 0
"""
_BY_DAY = """
    SELECT date, type, sum(amount)::bigint, sum(entries) FROM account_day_total
    WHERE member_id = %(member)s AND date BETWEEN %(start)s AND %(end)s
        AND NOT pending AND entries > 0
    GROUP BY date, type
"""
_GROUPS = """
    SELECT t.type, t.category_id, c.name, p.name, t.wallet_id, w.name,
        w.sort_order, sum(t.amount)::bigint, sum(t.entries)
    FROM account_entry_total t
    LEFT JOIN account_category c ON c.id = t.category_id
    LEFT JOIN account_category p ON p.id = c.parent_id
    LEFT JOIN account w ON w.id = t.wallet_id
    WHERE t.member_id = %(member)s AND t.month BETWEEN %(start)s AND %(end)s
        AND NOT t.pending AND t.entries > 0
    GROUP BY t.type, t.category_id, c.id, p.id, t.wallet_id, w.id
"""
"""One row for each type, category and wallet: few, however long the history."""
_MONTH = f"""
    SELECT 'group', NULL::date, g.* FROM ({_GROUPS}) g
    UNION ALL
    SELECT 'day', d.date, d.type, NULL, NULL, NULL, NULL, NULL, NULL, d.amount, d.count
    FROM ({_BY_DAY}) d (date, type, amount, count)
    UNION ALL
    SELECT 'before', NULL, b.type, NULL, NULL, NULL, NULL, NULL, NULL,
        b.amount, b.entries
    FROM account_month_total b
    WHERE b.member_id = %(member)s AND b.month = %(before)s AND NOT b.pending
    UNION ALL
    SELECT 'tag', NULL, t.type, t.tag_id, g.name, NULL, NULL, NULL, g.sort_order,
        t.amount, t.entries
    FROM account_tag_total t JOIN account_tag g ON g.id = t.tag_id
    WHERE t.member_id = %(member)s AND t.month = %(start)s AND t.entries > 0
"""  # noqa: S608 - of constants only
"""A month in one statement: the part of the answer that a row is for, a day, and
then the fields of `EntryGroup`; those of a tag stand where a category's do."""


_YEAR = f"""
    SELECT 'group', NULL::date, g.* FROM ({_GROUPS}) g
    UNION ALL
    SELECT 'month', m.month, m.type, NULL, NULL, NULL, NULL, NULL, NULL,
        m.amount, m.entries
    FROM ({_BY_MONTH}) m
"""  # noqa: S608 - of constants only


@dataclass(frozen=True, slots=True)
class DaySum:
    """The entries of one type of a day."""

    day: date
    type: str
    amount: int
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


def get_month_statistics(member: Member, year: int, month: int) -> MonthStatistics:
    """One month beside the month before it; days without entries are listed too."""
    period = month_period(year, month)
    before = month_period(*previous_month(year, month)).start
    days = {day: Flow() for day in _days(period)}
    parts: dict[str, list[EntryGroup]] = {"group": [], "before": [], "tag": []}
    for part, day, *values in _fetch_rows(_MONTH, member, period, before=before):
        group = EntryGroup(*values)
        if part == "day":
            days[day].add(group)
        else:
            parts[part].append(group)
    return MonthStatistics(
        total=sum_flow(parts["group"]),
        previous=sum_flow(parts["before"]),
        by_category=sum_categories(parts["group"]),
        by_day=list(days.items()),
        by_wallet=sum_wallets(parts["group"]),
        by_tag=sum_tags(parts["tag"]),
    )


def get_year_statistics(member: Member, year: int) -> YearStatistics:
    """The twelve months of a year, and its categories."""
    period = year_period(year)
    months = {part.start: Flow() for part in split_period(period, Unit.MONTH)}
    groups = []
    for part, month, *values in _fetch_rows(_YEAR, member, period):
        group = EntryGroup(*values)
        if part == "month":
            months[month].add(group)
        else:
            groups.append(group)
    return YearStatistics(
        total=sum_flow(groups),
        months=[(start.month, flow) for start, flow in months.items()],
        by_category=sum_categories(groups),
    )


def get_range_statistics(member: Member, period: Period, unit: Unit) -> RangeStatistics:
    """The periods of this unit that cover the range, cut to it."""
    points = [(part, Flow()) for part in split_period(period, unit)]
    flow_of = {day: flow for part, flow in points for day in _days(part)}
    sums = [DaySum(*row) for row in _fetch_rows(_BY_DAY, member, period)]
    for row in sums:
        flow_of[row.day].add(row)
    return RangeStatistics(total=sum_flow(sums), points=points)


def _days(period: Period) -> Iterator[date]:
    return (part.start for part in split_period(period, Unit.DAY))


def _fetch_rows(
    sql: str, member: Member, period: Period, **values: Any
) -> list[tuple[Any, ...]]:
    values |= {"member": member.pk, "start": period.start, "end": period.end}
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
