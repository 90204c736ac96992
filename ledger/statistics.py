"""Statistics by month, year and range.

Pending entries are not counted. All figures come from the rollup tables, so that a
month costs the same however many entries it has.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta

from accounts.models import Member
from core.db.rows import fetch_all
from ledger.cash_flow import (
    CategoryFlow,
    Flow,
    FlowRow,
    TagFlow,
    WalletFlow,
    category_flows,
    sum_flow,
    tag_flows,
    wallet_flows,
)
from ledger.periods import (
    Period,
    Unit,
    month_period,
    previous_month,
    split_period,
    year_period,
)

_BY_DAY = """
    SELECT date AS day, income, expense, income_count + expense_count AS count
    FROM account_day_total
    WHERE member_id = %(member)s AND date BETWEEN %(start)s AND %(end)s
        AND income_count + expense_count > 0
"""
_BY_PERIOD = f"""
    SELECT {{start}} AS day, sum(income)::bigint AS income,
        sum(expense)::bigint AS expense, sum(count) AS count
    FROM ({_BY_DAY}) d
    GROUP BY 1
"""  # noqa: S608 - of constants only
_RANGE_BY_UNIT = {
    Unit.DAY: _BY_DAY,
    # From Monday, as `period_containing`.
    Unit.WEEK: _BY_PERIOD.format(start="day - (extract(isodow FROM day)::int - 1)"),
    Unit.MONTH: _BY_PERIOD.format(start="day - (extract(day FROM day)::int - 1)"),
}
_BY_CATEGORY = """
    SELECT t.type, c.id, c.name, p.name AS parent, t.income, t.expense, t.count
    FROM (
        SELECT type, category_id,
            coalesce(sum(amount) FILTER (WHERE type = 'income'), 0)::bigint AS income,
            coalesce(sum(amount) FILTER (WHERE type = 'expense'), 0)::bigint AS expense,
            sum(entry_count) AS count
        FROM account_category_total
        WHERE member_id = %(member)s AND month BETWEEN %(start)s AND %(end)s
            AND entry_count > 0
        GROUP BY type, category_id
    ) t
    LEFT JOIN account_category c ON c.member_id = %(member)s AND c.id = t.category_id
    LEFT JOIN account_category p ON p.member_id = %(member)s AND p.id = c.parent_id
"""
_BY_MONTH = """
    SELECT month,
        coalesce(sum(amount) FILTER (WHERE type = 'income'), 0)::bigint AS income,
        coalesce(sum(amount) FILTER (WHERE type = 'expense'), 0)::bigint AS expense,
        sum(entry_count) AS count
    FROM account_category_total
    WHERE member_id = %(member)s AND month BETWEEN %(start)s AND %(end)s
        AND entry_count > 0
    GROUP BY month
"""
# All parts of a month in one statement, so that they agree with each other. Each row
# is a `FlowRow`; columns that a part does not have are NULL.
_MONTH = f"""
    SELECT 'category' AS part, NULL::date AS day, c.type, c.id, c.name, c.parent,
        NULL::int AS sort_order, c.income, c.expense, c.count
    FROM ({_BY_CATEGORY}) c
    UNION ALL
    SELECT 'day', d.day, NULL, NULL, NULL, NULL, NULL, d.income, d.expense, d.count
    FROM ({_BY_DAY}) d
    UNION ALL
    SELECT 'before', NULL, NULL, NULL, NULL, NULL, NULL, b.income, b.expense,
        b.income_count + b.expense_count
    FROM account_day_total b
    WHERE b.member_id = %(member)s AND b.date >= %(before)s AND b.date < %(start)s
    UNION ALL
    SELECT 'wallet', NULL, NULL, w.id, w.name, NULL, w.sort_order, t.income, t.expense,
        t.income_count + t.expense_count
    FROM account_wallet_month_total t
    LEFT JOIN account w ON w.member_id = t.member_id AND w.id = t.wallet_id
    WHERE t.member_id = %(member)s AND t.month = %(start)s
        AND t.income_count + t.expense_count > 0
    UNION ALL
    SELECT 'tag', NULL, NULL, g.id, g.name, NULL, g.sort_order,
        coalesce(sum(t.amount) FILTER (WHERE t.type = 'income'), 0)::bigint,
        coalesce(sum(t.amount) FILTER (WHERE t.type = 'expense'), 0)::bigint,
        sum(t.entry_count)
    FROM account_tag_total t
    JOIN account_tag g ON g.member_id = t.member_id AND g.id = t.tag_id
    WHERE t.member_id = %(member)s AND t.month = %(start)s AND t.entry_count > 0
    GROUP BY g.id, g.name, g.sort_order
"""  # noqa: S608 - of constants only
_YEAR = f"""
    SELECT 'category' AS part, NULL::date AS day, c.type, c.id, c.name, c.parent,
        NULL::int AS sort_order, c.income, c.expense, c.count
    FROM ({_BY_CATEGORY}) c
    UNION ALL
    SELECT 'month', m.month, NULL, NULL, NULL, NULL, NULL, m.income, m.expense, m.count
    FROM ({_BY_MONTH}) m
"""  # noqa: S608 - of constants only


@dataclass(frozen=True, slots=True)
class DayFlow:
    """The entries of a day, or of the period that begins on it."""

    day: date
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


def get_month_statistics(member: Member, year: int, month: int) -> MonthStatistics:
    """Return a month and the totals of the month before; all days are listed."""
    period = month_period(year, month)
    before = month_period(*previous_month(year, month)).start
    params = _params(member, period) | {"before": before}
    rows: dict[str, list[FlowRow]] = defaultdict(list)
    for row in fetch_all(_MONTH, params, FlowRow):
        rows[row.part].append(row)
    days = {
        period.start + timedelta(number): Flow() for number in range(period.end.day)
    }
    for row in rows["day"]:
        if row.day is not None:
            days[row.day].add(row)
    return MonthStatistics(
        total=sum_flow(rows["day"]),
        previous=sum_flow(rows["before"]),
        by_category=category_flows(rows["category"]),
        by_day=list(days.items()),
        by_wallet=wallet_flows(rows["wallet"]),
        by_tag=tag_flows(rows["tag"]),
    )


def get_year_statistics(member: Member, year: int) -> YearStatistics:
    """Return the twelve months of a year, and its categories."""
    period = year_period(year)
    months = {part.start: Flow() for part in split_period(period, Unit.MONTH)}
    categories = []
    for row in fetch_all(_YEAR, _params(member, period), FlowRow):
        if row.day is not None:
            months[row.day].add(row)
        else:
            categories.append(row)
    return YearStatistics(
        total=sum_flow(months.values()),
        months=[(start.month, flow) for start, flow in months.items()],
        by_category=category_flows(categories),
    )


def get_range_statistics(member: Member, period: Period, unit: Unit) -> RangeStatistics:
    """Return the periods of this unit that cover the range, cut to it."""
    points = [(part, Flow()) for part in split_period(period, unit)]
    flows = {part.start: flow for part, flow in points}
    rows = fetch_all(_RANGE_BY_UNIT[unit], _params(member, period), DayFlow)
    for row in rows:
        # The first period is cut to the range.
        flows[max(row.day, period.start)].add(row)
    return RangeStatistics(total=sum_flow(rows), points=points)


def _params(member: Member, period: Period) -> dict[str, int | date]:
    return {"member": member.pk, "start": period.start, "end": period.end}
