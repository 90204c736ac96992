"""Statistics by month, year and range, from the rollup tables.

A month costs the same however many entries it has.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from accounts.models import Member
from core.db.rows import fetch_all, fetch_parts
from ledger.periods import (
    Period,
    Unit,
    month_period,
    period_containing,
    previous_month,
    split_period,
    year_period,
)
from ledger.statistics.cash_flow import (
    CategoryFlow,
    Flow,
    PeriodFlow,
    TagFlow,
    WalletFlow,
    category_flows,
    sum_flows,
)

# Rows are a `PeriodFlow`, in the order of its fields.
DAYS = """
    SELECT income, expense, refunded, flow_count AS count, transferred,
        transferring_count AS transfer_count, excluded_income, excluded_expense,
        excluded_count, date AS start
    FROM account_day_total
    WHERE member_id = %(member)s AND date BETWEEN %(since)s AND %(until)s
        AND flow_count + transferring_count + excluded_count > 0
"""
WEEKS_OR_MONTHS = """
    SELECT sum(income)::bigint AS income, sum(expense)::bigint AS expense,
        sum(refunded)::bigint AS refunded, sum(flow_count)::bigint AS count,
        sum(transferred)::bigint AS transferred,
        sum(transferring_count)::bigint AS transfer_count,
        sum(excluded_income)::bigint AS excluded_income,
        sum(excluded_expense)::bigint AS excluded_expense,
        sum(excluded_count)::bigint AS excluded_count,
        date_trunc(%(unit)s, date::timestamp)::date AS start
    FROM account_day_total
    WHERE member_id = %(member)s AND date BETWEEN %(since)s AND %(until)s
    GROUP BY start
"""
# Sums of wallets: an entry can have several categories.
MONTHS = """
    SELECT month AS start, sum(income)::bigint AS income,
        sum(expense)::bigint AS expense, sum(refunded)::bigint AS refunded,
        sum(flow_count) AS count, sum(transfer_in)::bigint AS transferred,
        sum(transferring_count) AS transfer_count,
        sum(excluded_income)::bigint AS excluded_income,
        sum(excluded_expense)::bigint AS excluded_expense,
        sum(excluded_count) AS excluded_count
    FROM account_wallet_month_total
    WHERE member_id = %(member)s AND month BETWEEN %(start)s AND %(end)s
    GROUP BY month
"""
CATEGORY_SUMS = """
    SELECT type, category_id, sum(amount)::bigint AS amount,
        sum(refunded)::bigint AS refunded, sum(entry_count) AS count
    FROM account_category_total
    WHERE member_id = %(member)s AND month BETWEEN %(start)s AND %(end)s
        AND entry_count > 0
    GROUP BY type, category_id
"""
# Rows are a `CategoryFlow`, a `WalletFlow` or a `TagFlow`.
_CATEGORIES = f"""
    SELECT t.type, c.id AS category_id, c.name AS category, p.name AS parent, t.amount,
        t.refunded, t.count
    FROM ({CATEGORY_SUMS}) t
    LEFT JOIN account_category c ON c.member_id = %(member)s AND c.id = t.category_id
    LEFT JOIN account_category p ON p.member_id = %(member)s AND p.id = c.parent_id
"""  # noqa: S608 - constants
_WALLETS = """
    SELECT w.id AS wallet_id, w.name, t.income, t.expense, t.refunded, t.transfer_in,
        t.transfer_out
    FROM account_wallet_month_total t
    LEFT JOIN account w ON w.member_id = t.member_id AND w.id = t.wallet_id
    WHERE t.member_id = %(member)s AND t.month = %(start)s
        AND t.flow_count + t.transfer_in + t.transfer_out > 0
    ORDER BY w.sort_order NULLS LAST, w.id
"""
_TAGS = """
    SELECT g.name AS tag,
        coalesce(sum(t.amount) FILTER (WHERE t.type = 'income'), 0)::bigint AS income,
        coalesce(sum(t.amount) FILTER (WHERE t.type = 'expense'), 0)::bigint AS expense,
        sum(t.refunded)::bigint AS refunded, sum(t.entry_count) AS count
    FROM account_tag_total t
    JOIN account_tag g ON g.member_id = t.member_id AND g.id = t.tag_id
    WHERE t.member_id = %(member)s AND t.month = %(start)s
    GROUP BY g.id, g.name, g.sort_order
    HAVING sum(t.entry_count) > 0
    ORDER BY g.sort_order, g.id
"""
_MONTH = {"days": DAYS, "categories": _CATEGORIES, "wallets": _WALLETS, "tags": _TAGS}
_YEAR = {"months": MONTHS, "categories": _CATEGORIES}


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
    params = month_params(member, year, month)
    found = fetch_parts(_MONTH, params)
    return build_month(
        params["start"],
        flows_by_start(found["days"]),
        category_flows(found["categories"]),
        [WalletFlow(**row) for row in found["wallets"]],
        [TagFlow(**row) for row in found["tags"]],
    )


def get_year_statistics(member: Member, year: int) -> YearStatistics:
    period = year_period(year)
    params = {"member": member.pk, "start": period.start, "end": period.end}
    found = fetch_parts(_YEAR, params)
    flows = flows_by_start(found["months"])
    return build_year(period, flows, category_flows(found["categories"]))


def get_range_statistics(member: Member, period: Period, unit: Unit) -> RangeStatistics:
    query = DAYS if unit is Unit.DAY else WEEKS_OR_MONTHS
    params = range_params(member, period, unit)
    flows = {flow.start: flow for flow in fetch_all(query, params, PeriodFlow)}
    return build_range(period, unit, flows)


def month_params(member: Member, year: int, month: int) -> dict[str, Any]:
    """Return the parameters of a month, with the days of the month before."""
    period = month_period(year, month)
    before = month_period(*previous_month(year, month))
    return {
        "member": member.pk,
        "since": before.start,
        "until": period.end,
        "start": period.start,
        "end": period.end,
    }


def range_params(member: Member, period: Period, unit: Unit) -> dict[str, Any]:
    return {
        "member": member.pk,
        "since": period.start,
        "until": period.end,
        "unit": unit.value,
    }


def build_month(
    start: date,
    flows: dict[date, Flow],
    by_category: list[CategoryFlow],
    by_wallet: list[WalletFlow],
    by_tag: list[TagFlow],
) -> MonthStatistics:
    """Build a month from the flows of its days and of the month before."""
    last = month_period(start.year, start.month).end.day
    days = [start + timedelta(number) for number in range(last)]
    by_day = [(day, flows.pop(day, Flow())) for day in days]
    return MonthStatistics(
        total=sum_flows(flow for _, flow in by_day),
        previous=sum_flows(flows.values()),
        by_category=by_category,
        by_day=by_day,
        by_wallet=by_wallet,
        by_tag=by_tag,
    )


def build_year(
    period: Period, flows: Mapping[date, Flow], by_category: list[CategoryFlow]
) -> YearStatistics:
    return YearStatistics(
        total=sum_flows(flows.values()),
        months=[
            (part.start.month, flows.get(part.start, Flow()))
            for part in split_period(period, Unit.MONTH)
        ],
        by_category=by_category,
    )


def build_range(
    period: Period, unit: Unit, flows: Mapping[date, Flow]
) -> RangeStatistics:
    return RangeStatistics(
        total=sum_flows(flows.values()),
        points=[
            (part, flows.get(period_containing(part.start, unit).start, Flow()))
            for part in split_period(period, unit)
        ],
    )


def flows_by_start(rows: list[dict[str, Any]]) -> dict[date, Flow]:
    return {date.fromisoformat(row.pop("start")): Flow(**row) for row in rows}
