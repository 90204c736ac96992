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
    sum_periods,
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

# The columns of a period, from the totals by day. What is moved between wallets comes
# into one of them.
_OF_DAY = """
    income, expense, refunded, flow_count AS count, transferred AS transfer_in,
    0::bigint AS transfer_out, transferring_count AS transfer_count,
    excluded_income, excluded_expense, excluded_count
"""
_PERIOD_COLUMNS = (
    *("income", "expense", "refunded", "count", "transfer_in", "transfer_count"),
    *("excluded_income", "excluded_expense", "excluded_count"),
)
_SUMS = ", ".join(f"sum({each})::bigint AS {each}" for each in _PERIOD_COLUMNS)
_BY_DAY = f"""
    SELECT date AS day, {_OF_DAY}
    FROM account_day_total
    WHERE member_id = %(member)s AND date BETWEEN %(start)s AND %(end)s
        AND flow_count + transferring_count + excluded_count > 0
"""  # noqa: S608 - of constants only
_BY_PERIOD = f"""
    SELECT {{start}} AS day, {_SUMS}
    FROM ({_BY_DAY}) d
    GROUP BY 1
"""  # noqa: S608 - of constants only
_RANGE_BY_UNIT = {
    Unit.DAY: f"SELECT day, {', '.join(_PERIOD_COLUMNS)} FROM ({_BY_DAY}) d",  # noqa: S608
    # From Monday, as `period_containing`.
    Unit.WEEK: _BY_PERIOD.format(start="day - (extract(isodow FROM day)::int - 1)"),
    Unit.MONTH: _BY_PERIOD.format(start="day - (extract(day FROM day)::int - 1)"),
}
_BY_CATEGORY = """
    SELECT t.type, c.id, c.name, p.name AS parent, t.income, t.expense, t.refunded,
        t.count
    FROM (
        SELECT type, category_id,
            coalesce(sum(amount) FILTER (WHERE type = 'income'), 0)::bigint AS income,
            coalesce(sum(amount) FILTER (WHERE type = 'expense'), 0)::bigint AS expense,
            sum(refunded)::bigint AS refunded, sum(entry_count) AS count
        FROM account_category_total
        WHERE member_id = %(member)s AND month BETWEEN %(start)s AND %(end)s
            AND entry_count > 0
        GROUP BY type, category_id
    ) t
    LEFT JOIN account_category c ON c.member_id = %(member)s AND c.id = t.category_id
    LEFT JOIN account_category p ON p.member_id = %(member)s AND p.id = c.parent_id
"""
# By wallet, since an entry can have several categories.
_BY_MONTH = """
    SELECT month, sum(income)::bigint AS income, sum(expense)::bigint AS expense,
        sum(refunded)::bigint AS refunded, sum(flow_count) AS count,
        sum(transfer_in)::bigint AS transfer_in,
        sum(transferring_count)::bigint AS transfer_count,
        sum(excluded_income)::bigint AS excluded_income,
        sum(excluded_expense)::bigint AS excluded_expense,
        sum(excluded_count)::bigint AS excluded_count
    FROM account_wallet_month_total
    WHERE member_id = %(member)s AND month BETWEEN %(start)s AND %(end)s
    GROUP BY month
"""
_OF_CATEGORY = """
    SELECT 'category' AS part, NULL::date AS day, c.type, c.id, c.name, c.parent,
        NULL::int AS sort_order, c.income, c.expense, c.refunded, c.count,
        0::bigint AS transfer_in, 0::bigint AS transfer_out,
        0::bigint AS transfer_count, 0::bigint AS excluded_income,
        0::bigint AS excluded_expense, 0::bigint AS excluded_count
"""
# All parts of a month in one statement, so that they agree with each other. Each row
# is a `FlowRow`; columns that a part does not have are NULL or 0.
_MONTH = f"""
    {_OF_CATEGORY} FROM ({_BY_CATEGORY}) c
    UNION ALL
    SELECT 'day', d.day, NULL, NULL, NULL, NULL, NULL, d.income, d.expense, d.refunded,
        d.count, d.transfer_in, d.transfer_out, d.transfer_count, d.excluded_income,
        d.excluded_expense, d.excluded_count
    FROM ({_BY_DAY}) d
    UNION ALL
    SELECT 'before', NULL, NULL, NULL, NULL, NULL, NULL, {_OF_DAY}
    FROM account_day_total b
    WHERE b.member_id = %(member)s AND b.date >= %(before)s AND b.date < %(start)s
    UNION ALL
    SELECT 'wallet', NULL, NULL, w.id, w.name, NULL, w.sort_order, t.income, t.expense,
        t.refunded, t.flow_count, t.transfer_in, t.transfer_out, 0, 0, 0, 0
    FROM account_wallet_month_total t
    LEFT JOIN account w ON w.member_id = t.member_id AND w.id = t.wallet_id
    WHERE t.member_id = %(member)s AND t.month = %(start)s
        AND t.flow_count + t.transfer_in + t.transfer_out > 0
    UNION ALL
    SELECT 'tag', NULL, NULL, g.id, g.name, NULL, g.sort_order,
        coalesce(sum(t.amount) FILTER (WHERE t.type = 'income'), 0)::bigint,
        coalesce(sum(t.amount) FILTER (WHERE t.type = 'expense'), 0)::bigint,
        sum(t.refunded)::bigint, sum(t.entry_count), 0, 0, 0, 0, 0, 0
    FROM account_tag_total t
    JOIN account_tag g ON g.member_id = t.member_id AND g.id = t.tag_id
    WHERE t.member_id = %(member)s AND t.month = %(start)s
    GROUP BY g.id, g.name, g.sort_order
    HAVING sum(t.entry_count) > 0
"""  # noqa: S608 - of constants only
_YEAR = f"""
    {_OF_CATEGORY} FROM ({_BY_CATEGORY}) c
    UNION ALL
    SELECT 'month', m.month, NULL, NULL, NULL, NULL, NULL, m.income, m.expense,
        m.refunded, m.count, m.transfer_in, 0, m.transfer_count, m.excluded_income,
        m.excluded_expense, m.excluded_count
    FROM ({_BY_MONTH}) m
"""  # noqa: S608 - of constants only


@dataclass(frozen=True, slots=True)
class DayFlow:
    """The entries of a day, or of the period that begins on it."""

    day: date
    income: int
    expense: int
    refunded: int
    count: int
    transfer_in: int
    transfer_count: int
    excluded_income: int
    excluded_expense: int
    excluded_count: int


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
            days[row.day].add_period(row)
    return MonthStatistics(
        total=sum_periods(rows["day"]),
        previous=sum_periods(rows["before"]),
        by_category=category_flows(rows["category"]),
        by_day=list(days.items()),
        by_wallet=wallet_flows(rows["wallet"]),
        by_tag=tag_flows(rows["tag"]),
    )


def get_year_statistics(member: Member, year: int) -> YearStatistics:
    """Return the twelve months of a year, and its categories."""
    period = year_period(year)
    months = {part.start: Flow() for part in split_period(period, Unit.MONTH)}
    categories, totals = [], []
    for row in fetch_all(_YEAR, _params(member, period), FlowRow):
        if row.day is not None:
            months[row.day].add_period(row)
            totals.append(row)
        else:
            categories.append(row)
    return YearStatistics(
        total=sum_periods(totals),
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
        flows[max(row.day, period.start)].add_period(row)
    return RangeStatistics(total=sum_periods(rows), points=points)


def _params(member: Member, period: Period) -> dict[str, int | date]:
    return {"member": member.pk, "start": period.start, "end": period.end}
