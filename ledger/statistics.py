"""Statistics by month, year and range.

Pending entries are not counted. All figures come from the rollup tables, so that a
month costs the same however many entries it has.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from accounts.models import Member
from core.db.rows import fetch_all
from ledger.cash_flow import (
    CategoryFlow,
    Flow,
    FlowRow,
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
    SELECT month, type, amount, entry_count FROM account_month_total
    WHERE member_id = %(member)s AND month BETWEEN %(start)s AND %(end)s
        AND NOT pending AND entry_count > 0
"""
_BY_DAY = """
    SELECT date AS day, type, sum(amount)::bigint AS amount, sum(entry_count) AS count
    FROM account_day_total
    WHERE member_id = %(member)s AND date BETWEEN %(start)s AND %(end)s
        AND NOT pending AND entry_count > 0
    GROUP BY date, type
"""
# One row for each type, category and wallet: few rows, however long the history is.
_BY_CATEGORY_AND_WALLET = """
    SELECT t.type, t.category_id AS id, c.name, p.name AS parent, t.wallet_id,
        w.name AS wallet, w.sort_order, sum(t.amount)::bigint AS amount,
        sum(t.entry_count) AS count
    FROM account_entry_total t
    LEFT JOIN account_category c ON c.id = t.category_id
    LEFT JOIN account_category p ON p.id = c.parent_id
    LEFT JOIN account w ON w.id = t.wallet_id
    WHERE t.member_id = %(member)s AND t.month BETWEEN %(start)s AND %(end)s
        AND NOT t.pending AND t.entry_count > 0
    GROUP BY t.type, t.category_id, c.id, p.id, t.wallet_id, w.id
"""
# All parts of a month in one statement, so that they agree with each other. Each row
# is a `FlowRow`; columns that a part does not have are NULL.
_MONTH = f"""
    SELECT 'group' AS part, NULL::date AS day, g.* FROM ({_BY_CATEGORY_AND_WALLET}) g
    UNION ALL
    SELECT 'day', d.day, d.type, NULL, NULL, NULL, NULL, NULL, NULL, d.amount, d.count
    FROM ({_BY_DAY}) d
    UNION ALL
    SELECT 'before', NULL, b.type, NULL, NULL, NULL, NULL, NULL, NULL,
        b.amount, b.entry_count
    FROM account_month_total b
    WHERE b.member_id = %(member)s AND b.month = %(before)s AND NOT b.pending
    UNION ALL
    SELECT 'tag', NULL, t.type, t.tag_id, g.name, NULL, NULL, NULL, g.sort_order,
        t.amount, t.entry_count
    FROM account_tag_total t JOIN account_tag g ON g.id = t.tag_id
    WHERE t.member_id = %(member)s AND t.month = %(start)s AND t.entry_count > 0
"""  # noqa: S608 - of constants only
_YEAR = f"""
    SELECT 'group' AS part, NULL::date AS day, g.* FROM ({_BY_CATEGORY_AND_WALLET}) g
    UNION ALL
    SELECT 'month', m.month, m.type, NULL, NULL, NULL, NULL, NULL, NULL,
        m.amount, m.entry_count
    FROM ({_BY_MONTH}) m
"""  # noqa: S608 - of constants only


@dataclass(slots=True)
class DaySum:
    """The sum of the entries of one type on a day."""

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
    """Return a month and the totals of the month before; all days are listed."""
    period = month_period(year, month)
    before = month_period(*previous_month(year, month)).start
    params = _params(member, period) | {"before": before}
    rows: dict[str, list[FlowRow]] = {"group": [], "day": [], "before": [], "tag": []}
    for row in fetch_all(_MONTH, params, FlowRow):
        rows[row.part].append(row)
    days = {day: Flow() for day in _days(period)}
    for row in rows["day"]:
        if row.day is not None:
            days[row.day].add(row)
    return MonthStatistics(
        total=sum_flow(rows["group"]),
        previous=sum_flow(rows["before"]),
        by_category=sum_categories(rows["group"]),
        by_day=list(days.items()),
        by_wallet=sum_wallets(rows["group"]),
        by_tag=sum_tags(rows["tag"]),
    )


def get_year_statistics(member: Member, year: int) -> YearStatistics:
    """Return the twelve months of a year, and its categories."""
    period = year_period(year)
    months = {part.start: Flow() for part in split_period(period, Unit.MONTH)}
    groups = []
    for row in fetch_all(_YEAR, _params(member, period), FlowRow):
        if row.part == "month" and row.day is not None:
            months[row.day].add(row)
        else:
            groups.append(row)
    return YearStatistics(
        total=sum_flow(groups),
        months=[(start.month, flow) for start, flow in months.items()],
        by_category=sum_categories(groups),
    )


def get_range_statistics(member: Member, period: Period, unit: Unit) -> RangeStatistics:
    """Return the periods of this unit that cover the range, cut to it."""
    points = [(part, Flow()) for part in split_period(period, unit)]
    flow_by_day = {day: flow for part, flow in points for day in _days(part)}
    rows = fetch_all(_BY_DAY, _params(member, period), DaySum)
    for row in rows:
        flow_by_day[row.day].add(row)
    return RangeStatistics(total=sum_flow(rows), points=points)


def _days(period: Period) -> Iterator[date]:
    return (part.start for part in split_period(period, Unit.DAY))


def _params(member: Member, period: Period) -> dict[str, int | date]:
    return {"member": member.pk, "start": period.start, "end": period.end}
