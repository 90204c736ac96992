"""The net-worth trend: income, expense and net worth by month or week.

The last point is the current net worth; each earlier point subtracts the later flows
through the wallets. Manual valuations count with their value of that time, holdings
with their current value.
"""

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from accounts.models import Member
from core.db.rows import fetch_parts
from ledger.investments.portfolio import get_holdings_value
from ledger.periods import Period, Unit, last_periods
from ledger.rollups.effects import BALANCE_CHANGE_SQL
from ledger.statistics.net_worth import WALLET_WORTHS
from ledger.wallets.valuations import get_value_histories

# `wallet_change` leaves out wallets with a manual valuation.
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
# Listed first: joined, the planner would read all entries to find those of no wallet.
_VALUED_WALLETS = """ARRAY(
    SELECT id FROM account
    WHERE member_id = %(member)s AND manual_valuation AND current_value IS NOT NULL
)"""
# No rollup has days and wallets: the flows to leave out come from the entries of houses
# and the like, which are few.
_FLOWS_BY_WEEK = f"""
    SELECT date - (extract(isodow FROM date)::int - 1) AS start,
        sum(income)::bigint AS income, sum(expense)::bigint AS expense,
        sum(wallet_change)::bigint AS wallet_change
    FROM (
        SELECT date, income, expense, wallet_change FROM account_day_total
        WHERE member_id = %(member)s AND date >= %(start)s
        UNION ALL
        SELECT date, 0, 0, -({BALANCE_CHANGE_SQL}) FROM account_entry
        WHERE member_id = %(member)s AND wallet_id = ANY({_VALUED_WALLETS})
            AND date >= %(start)s AND NOT pending AND line_count IS NOT NULL
        UNION ALL
        SELECT date, 0, 0, {BALANCE_CHANGE_SQL} FROM account_entry
        WHERE member_id = %(member)s AND to_wallet_id = ANY({_VALUED_WALLETS})
            AND date >= %(start)s AND NOT pending
        UNION ALL
        SELECT date, 0, 0, {BALANCE_CHANGE_SQL}
        FROM (
            SELECT e.date, e.type, l.amount
            FROM account_entry_line l
            JOIN account_entry e ON e.member_id = l.member_id AND e.id = l.entry_id
            WHERE l.member_id = %(member)s AND l.wallet_id = ANY({_VALUED_WALLETS})
                AND e.date >= %(start)s AND NOT e.pending AND e.line_count > 0
        ) lines
    ) flows
    GROUP BY 1
"""  # noqa: S608 - constants
_WORTH = f"""
    SELECT coalesce(sum(value), 0)::bigint AS wallets,
        coalesce(sum(value) FILTER (WHERE is_typed), 0)::bigint AS typed,
        coalesce(bool_or(is_typed), false) AS has_typed
    FROM ({WALLET_WORTHS}) worths
"""  # noqa: S608 - constants
_TREND_BY_UNIT = {
    Unit.MONTH: {"flows": _FLOWS_BY_MONTH, "worth": _WORTH},
    Unit.WEEK: {"flows": _FLOWS_BY_WEEK, "worth": _WORTH},
}


class TrendFlow(NamedTuple):
    income: int = 0
    expense: int = 0
    wallet_change: int = 0


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """Flows of a period and the net worth at its end, in whole home-currency units."""

    period: Period
    income: int
    expense: int
    net_worth: int


def get_net_worth_trend(
    member: Member, unit: Unit, count: int, today: date
) -> list[TrendPoint]:
    """Return the last `count` periods, the current one last."""
    periods = last_periods(today, unit, count)
    params = {"member": member.pk, "start": periods[0].start}
    # Flows and balances of one snapshot agree with each other.
    found = fetch_parts(_TREND_BY_UNIT[unit], params)
    flows = {
        date.fromisoformat(row.pop("start")): TrendFlow(**row) for row in found["flows"]
    }
    (worth,) = found["worth"]
    typed_worth = worth["typed"]
    histories = get_value_histories(member) if worth["has_typed"] else {}
    # Wallets with a manual valuation are added by their histories.
    net_worth = get_holdings_value(member) + worth["wallets"] - typed_worth
    # The current balances include entries dated after the current period.
    later = sum(
        flow.wallet_change for start, flow in flows.items() if start > periods[-1].start
    )
    points = []
    for period in reversed(periods):
        flow = flows.get(period.start, TrendFlow())
        if period is not periods[-1]:
            typed_worth = sum(each.at(period.end) for each in histories.values())
        points.append(
            TrendPoint(period, flow.income, flow.expense, net_worth + typed_worth)
        )
        net_worth -= flow.wallet_change + later
        later = 0
    return points[::-1]
