"""The net-worth trend: income, expense and net worth by month or week.

The last point is the current net worth, as `GET /networth` returns it. Each earlier
point subtracts what flowed through the wallets after it. Manual valuations count with
the value of their time (`ledger.valuations`); holdings have no history and count at
their current value throughout. The cost depends on the
number of points and wallets, not on the length of the member's history.
"""

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from accounts.models import Member
from core.db.rows import fetch_all
from ledger.effects import BALANCE_CHANGE_SQL
from ledger.investments.portfolio import get_holdings_value
from ledger.networth import WALLET_WORTHS
from ledger.periods import Period, Unit, last_periods
from ledger.valuations import get_value_histories

# `wallet_change` leaves out wallets whose manual valuation counts, not their balance.
_FLOWS_BY_MONTH = """
    SELECT t.month AS start, sum(t.income)::bigint AS income,
        sum(t.expense)::bigint AS expense,
        coalesce(sum(t.wallet_change) FILTER (
            WHERE w.id IS NOT NULL
                AND NOT (w.manual_valuation AND w.current_value IS NOT NULL)
        ), 0)::bigint AS wallet_change
    FROM account_wallet_month_total t
    LEFT JOIN account w ON w.member_id = t.member_id AND w.id = t.wallet_id
    WHERE t.member_id = %(member)s AND t.month >= %(start)s
    GROUP BY t.month
"""
# No rollup has days and wallets: what flowed through the wallets to leave out, which
# are houses and the like with few entries, comes from the entries.
_FLOWS_BY_WEEK = f"""
    SELECT date - (extract(isodow FROM date)::int - 1) AS start,
        sum(income)::bigint AS income, sum(expense)::bigint AS expense,
        sum(wallet_change)::bigint AS wallet_change
    FROM (
        SELECT date, income, expense, wallet_change FROM account_day_total
        WHERE member_id = %(member)s AND date >= %(start)s
        UNION ALL
        SELECT date, 0, 0, -({BALANCE_CHANGE_SQL})
        FROM account w JOIN account_entry e
            ON e.member_id = w.member_id AND e.wallet_id = w.id
        WHERE w.member_id = %(member)s AND e.date >= %(start)s AND NOT e.pending
            AND e.line_count IS NOT NULL
            AND w.manual_valuation AND w.current_value IS NOT NULL
        UNION ALL
        SELECT date, 0, 0, {BALANCE_CHANGE_SQL}
        FROM account w JOIN account_entry e
            ON e.member_id = w.member_id AND e.to_wallet_id = w.id
        WHERE w.member_id = %(member)s AND e.date >= %(start)s AND NOT e.pending
            AND w.manual_valuation AND w.current_value IS NOT NULL
        UNION ALL
        SELECT date, 0, 0, {BALANCE_CHANGE_SQL}
        FROM (
            SELECT e.date, e.type, l.amount
            FROM account w
            JOIN account_entry_line l
                ON l.member_id = w.member_id AND l.wallet_id = w.id
            JOIN account_entry e ON e.member_id = l.member_id AND e.id = l.entry_id
            WHERE w.member_id = %(member)s AND e.date >= %(start)s AND NOT e.pending
                AND e.line_count > 0
                AND w.manual_valuation AND w.current_value IS NOT NULL
        ) lines
    ) flows
    GROUP BY 1
"""  # noqa: S608 - of constants only
# Flows and balances of one statement agree with each other.
_TREND_BY_UNIT = {
    unit: f"""
        SELECT start, income, expense, wallet_change, 0::bigint AS typed_worth,
            false AS has_typed
        FROM ({flows}) flows
        UNION ALL
        SELECT NULL, 0, 0, coalesce(sum(value), 0)::bigint,
            coalesce(sum(value) FILTER (WHERE is_typed), 0)::bigint,
            coalesce(bool_or(is_typed), false)
        FROM ({WALLET_WORTHS}) worths
    """  # noqa: S608 - of constants only
    for unit, flows in ((Unit.MONTH, _FLOWS_BY_MONTH), (Unit.WEEK, _FLOWS_BY_WEEK))
}


class TrendRow(NamedTuple):
    """The flows of the period that begins on `start`.

    One row has no start: its `wallet_change` is what the wallets are worth now, and
    `typed_worth` the part of those with a manual valuation.
    """

    start: date | None
    income: int
    expense: int
    wallet_change: int
    typed_worth: int = 0
    has_typed: bool = False


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A period, and the net worth at its end, in whole home-currency units."""

    period: Period
    income: int
    expense: int
    net_worth: int


def get_net_worth_trend(
    member: Member, unit: Unit, count: int, today: date
) -> list[TrendPoint]:
    """Return the last `count` periods, oldest first, the current one last."""
    periods = last_periods(today, unit, count)
    params = {"member": member.pk, "start": periods[0].start}
    rows = fetch_all(_TREND_BY_UNIT[unit], params, TrendRow)
    flows = {row.start: row for row in rows}
    now = flows.pop(None)
    # Without the wallets that have a history of their own.
    net_worth = get_holdings_value(member) + now.wallet_change - now.typed_worth
    histories = get_value_histories(member) if now.has_typed else {}
    typed_worth = now.typed_worth
    # Entries dated after the current period are part of the current balances.
    later = sum(
        row.wallet_change
        for start, row in flows.items()
        if start and start > periods[-1].start
    )
    points = []
    for period in reversed(periods):
        flow = flows.get(period.start) or TrendRow(period.start, 0, 0, 0)
        if period is not periods[-1]:
            typed_worth = sum(each.at(period.end) for each in histories.values())
        points.append(
            TrendPoint(period, flow.income, flow.expense, net_worth + typed_worth)
        )
        net_worth -= flow.wallet_change + later
        later = 0
    return points[::-1]
