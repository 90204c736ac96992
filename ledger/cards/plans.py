"""Purchases in installments, as statistics, budgets and the list of plans read them."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from ledger.cards.schedule import first_of_month
from ledger.cards.spread import (
    Move,
    PaymentCalendar,
    Plan,
    PlanLine,
    list_moves,
    move_within_calendar,
)
from ledger.periods import Period, month_period

_MAX_PARTS = 24
# A bill closes two months before its payment at most.
_MONTHS_OF_PLAN = _MAX_PARTS + 3

CALENDAR = {
    "cards": """
        SELECT id, terms, billed_with_id AS billed_with FROM account_card
        WHERE member_id = %(member)s
    """,
    "printed": """
        SELECT card_id AS card, month, period_end, payment_date FROM account_card_bill
        WHERE member_id = %(member)s
            AND (period_end IS NOT NULL OR payment_date IS NOT NULL)
    """,
}
# Purchases with a part in the bills of some months, and those of the months. An issuer
# may have closed a bill earlier or later than the card's settings say, by less than a
# month. The index by installments has no other entries.
IN_WINDOW = """
    e.member_id = %(member)s AND e.installment_months IS NOT NULL AND NOT e.pending
    AND e.line_count IS NOT NULL AND (
        e.date BETWEEN least(%(plans_since)s, (
                SELECT min(period_end) FROM account_card_bill
                WHERE member_id = %(member)s AND month = %(bill_before)s
            )) AND greatest(%(plans_until)s, (
                SELECT max(period_end) FROM account_card_bill
                WHERE member_id = %(member)s AND month <= %(plans_until)s
            ))
            AND e.date + make_interval(months => e.installment_months + 4)
                >= %(plans_start)s
        OR e.bill_month BETWEEN %(bill_before)s AND %(plans_until)s
    )
"""
PLAN_COLUMNS = """
    e.id, e.date, e.wallet_id, e.amount, e.installment_months, e.installment_parts,
    e.bill_month
"""
_TAGS = """(
    SELECT json_agg(t.tag_id) FROM account_entry_tag t
    WHERE t.member_id = %(member)s AND t.entry_id = e.id
)"""


def _select_plans(tags: str) -> str:
    """Return the statement of purchases with the lines that count.

    Lines of wallets count in no statistics. Arrays in the order of the fields of a
    `Plan` are read faster than objects.
    """
    return f"""
        SELECT json_build_array({PLAN_COLUMNS},
            CASE e.line_count WHEN 0 THEN json_build_array(json_build_array(
                e.category_type, e.category_id, c.parent_id, e.amount
            ))
            ELSE (
                SELECT json_agg(json_build_array(
                    l.category_type, l.category_id, m.parent_id, l.amount
                ) ORDER BY l.position)
                FROM account_entry_line l LEFT JOIN account_category m
                    ON m.member_id = l.member_id AND m.id = l.category_id
                WHERE l.member_id = %(member)s AND l.entry_id = e.id
                    AND l.wallet_id IS NULL
            ) END,
            {tags}
        ) AS plan
        FROM account_entry e LEFT JOIN account_category c
            ON c.member_id = e.member_id AND c.id = e.category_id
        WHERE {IN_WINDOW} AND NOT e.excluded
    """  # noqa: S608 - constants


# For `fetch_parts`, beside the sums that the moves are added to: one statement reads
# one snapshot. `window_params` returns its parameters.
SPREAD = {"plans": _select_plans("NULL")} | CALENDAR
SPREAD_WITH_TAGS = {"plans": _select_plans(_TAGS)} | CALENDAR


def window_params(period: Period) -> dict[str, date]:
    """Return the parameters for plans that may have a part in a period."""
    start = first_of_month(period.start)
    return {
        "plans_start": start,
        "plans_since": move_within_calendar(start, -_MONTHS_OF_PLAN),
        "bill_before": move_within_calendar(start, -_MAX_PARTS),
        "plans_until": month_period(period.end.year, period.end.month).end,
    }


def read_plans(
    found: Mapping[str, list[dict[str, Any]]],
) -> tuple[PaymentCalendar, list[Plan]]:
    """Return what the rows of `SPREAD` tell."""
    calendar = PaymentCalendar.of(found["cards"], found["printed"])
    return calendar, [build_plan(*row["plan"]) for row in found["plans"]]


def read_moves(found: Mapping[str, list[dict[str, Any]]], period: Period) -> list[Move]:
    """Return what the rows of `SPREAD` change in the sums of a period."""
    calendar, plans = read_plans(found)
    return list_moves(plans, calendar, period)


def build_plan(
    entry_id: int,
    day: str,
    wallet_id: int | None,
    amount: int,
    months: int,
    typed: list[int] | None,
    bill_month: str | None,
    lines: list[Any] | None = None,
    tag_ids: list[int] | None = None,
) -> Plan:
    """Build a plan from the columns of `PLAN_COLUMNS` as JSON, with lines and tags."""
    return Plan(
        entry_id,
        date.fromisoformat(day),
        wallet_id,
        amount,
        months,
        typed,
        None if bill_month is None else date.fromisoformat(bill_month),
        [PlanLine(*line) for line in lines or ()],
        tag_ids or (),
    )
