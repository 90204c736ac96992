"""The net-worth trend: income, expense and net worth by month or by week.

The last point is what `GET /networth` says. Each point before it takes off again what
flowed through the wallets after its end. Typed-in valuations and holdings have no
history and are drawn as they are now. The cost grows with the points and the wallets,
not with the member's history.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import connection

from accounts.models import Member
from core.db.transactions import repeatable_read
from ledger.investments.portfolio import get_holdings_value
from ledger.networth import list_wallet_worths, sum_net_worth
from ledger.periods import Period, Unit, last_periods

_FLOWS_TEMPLATE = """
    SELECT {bucket},
        coalesce(sum(f.amount) FILTER (WHERE f.type = 'income'), 0),
        coalesce(sum(f.amount) FILTER (WHERE f.type = 'expense'), 0),
        coalesce(sum(CASE f.type WHEN 'income' THEN f.amount ELSE -f.amount END)
            FILTER (WHERE w.id IS NOT NULL
                AND NOT (w.manual_valuation AND w.current_value IS NOT NULL)), 0)
    FROM {table} f LEFT JOIN account w ON w.id = f.wallet_id
    WHERE f.member_id = %(member)s AND f.{day} >= %(start)s AND NOT f.pending
    GROUP BY 1
"""
FLOW_QUERIES = {
    Unit.MONTH: _FLOWS_TEMPLATE.format(
        bucket="f.month", table="account_entry_total", day="month"
    ),
    Unit.WEEK: _FLOWS_TEMPLATE.format(
        bucket="f.date - (extract(isodow FROM f.date)::int - 1)",
        table="account_day_total",
        day="date",
    ),
}
"""By the first day of the period: income, expense, and what wallets kept of them."""


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One period, and the net worth at its end, in whole home-currency units."""

    period: Period
    income: int
    expense: int
    net_worth: int


def get_net_worth_trend(
    member: Member, unit: Unit, count: int, today: date
) -> list[TrendPoint]:
    """The last `count` periods, oldest first, the current one last."""
    periods = last_periods(today, unit, count)
    investments = get_holdings_value(member)
    with repeatable_read():
        flows = _fetch_flows(member, unit, periods[0].start)
        wallets = list_wallet_worths(member)
    net_worth = sum_net_worth(wallets, investments).total
    points = []
    for period in reversed(periods):
        income, expense, kept = flows.get(period.start, (0, 0, 0))
        points.append(TrendPoint(period, income, expense, net_worth))
        if len(points) == 1:
            kept += sum(row[2] for day, row in flows.items() if day > period.start)
        net_worth -= kept
    return points[::-1]


def _fetch_flows(
    member: Member, unit: Unit, start: date
) -> dict[date, tuple[int, int, int]]:
    values: dict[str, Any] = {"member": member.pk, "start": start}
    with connection.cursor() as cursor:
        cursor.execute(FLOW_QUERIES[unit], values)
        return {
            day: (int(income), int(expense), int(kept))
            for day, income, expense, kept in cursor.fetchall()
        }
