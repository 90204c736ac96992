"""Budgets and their spending."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Member
from core.db.rows import fetch_parts
from core.errors import DuplicateError, InvalidFieldError, raise_on_constraint_violation
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.ownership import get_owned_or_404
from ledger.cards.plans import SPREAD, read_moves, window_params
from ledger.cards.spread import Move
from ledger.categories.categories import get_or_create_category
from ledger.entries.sent_ids import SentCategory, resolve_expense_category
from ledger.models import Budget, BudgetIncome
from ledger.models.base import CategoryType, OwnedQuerySet
from ledger.periods import Month, Period, month_period
from ledger.rollups.effects import FLOW_SQL, ratio

BUDGET_EXISTS = gettext_lazy("The category already has a budget for this month.")

# `xmax = 0` holds for inserted rows only.
_COPY_BUDGETS = """
    INSERT INTO account_budget
        (member_id, category_id, type, year, month, amount)
    SELECT member_id, category_id, type, %(to_year)s, %(to_month)s, amount
    FROM account_budget
    WHERE member_id = %(member)s AND year = %(from_year)s AND month = %(from_month)s
    ORDER BY category_id
    ON CONFLICT (member_id, year, month, category_id)
    DO UPDATE SET amount = excluded.amount
    RETURNING xmax = 0 AS is_new
"""
_SPENDING_BY_BUDGET = """
    SELECT b.amount AS budgeted, c.id AS category_id, c.name AS category,
        c.parent_id, p.name AS parent,
        coalesce((
            SELECT sum(t.amount) FROM account_category_total t
            WHERE t.member_id = %(member)s AND t.month = %(start)s
                AND t.type = 'expense' AND t.category_id IN (
                    SELECT id FROM account_category m
                    WHERE m.member_id = %(member)s
                        AND (m.id = b.category_id OR m.parent_id = b.category_id)
                )
        ), 0)::bigint AS spent
    FROM account_budget b
    JOIN account_category c ON c.member_id = b.member_id AND c.id = b.category_id
    LEFT JOIN account_category p ON p.member_id = c.member_id AND p.id = c.parent_id
    WHERE b.member_id = %(member)s AND b.year = %(year)s AND b.month = %(month)s
    ORDER BY coalesce(p.sort_order, c.sort_order), coalesce(p.id, c.id),
        p.id IS NOT NULL, c.sort_order, c.id
"""
_SPENDING_BY_DAY = f"""
    SELECT date, sum({FLOW_SQL})::bigint FROM (
        SELECT e.date, e.type, e.category_type, e.category_id, e.amount
        FROM account_entry e
        WHERE e.member_id = %(member)s AND e.date BETWEEN %(start)s AND %(end)s
            AND e.category_type = 'expense' AND NOT e.pending AND NOT e.excluded
            AND e.line_count = 0
        UNION ALL
        SELECT e.date, e.type, l.category_type, l.category_id, l.amount
        FROM account_entry e JOIN account_entry_line l
            ON l.member_id = e.member_id AND l.entry_id = e.id
        WHERE e.member_id = %(member)s AND e.date BETWEEN %(start)s AND %(end)s
            AND l.category_type = 'expense' AND NOT e.pending AND NOT e.excluded
            AND e.line_count > 0
    ) spent
    WHERE category_id IN (
        SELECT m.id FROM account_category m
        JOIN account_budget b
            ON b.member_id = m.member_id AND b.category_id IN (m.id, m.parent_id)
        WHERE b.member_id = %(member)s AND b.year = %(year)s AND b.month = %(month)s
    )
    GROUP BY date
"""  # noqa: S608 - constants
_BUDGETED = """
    SELECT category_id FROM account_budget
    WHERE member_id = %(member)s AND year = %(year)s AND month = %(month)s
"""
_STATUS = {
    "spending": _SPENDING_BY_BUDGET,
    "actual_income": """
        SELECT coalesce(sum(amount), 0)::bigint AS amount FROM account_category_total
        WHERE member_id = %(member)s AND month = %(start)s AND type = 'income'
    """,
    "expected_income": """
        SELECT amount FROM account_budget_income
        WHERE member_id = %(member)s AND year = %(year)s AND month = %(month)s
    """,
}


class SpendingRow(NamedTuple):
    budgeted: int
    category_id: int
    category: str
    parent_id: int | None
    parent: str | None
    spent: int


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """Amounts in whole home-currency units."""

    category: str
    parent: str | None
    budgeted: int
    spent: int

    @property
    def share(self) -> Decimal | None:
        return ratio(self.spent, self.budgeted)


@dataclass(frozen=True, slots=True)
class MonthlyBudgetStatus:
    categories: list[BudgetStatus]
    total: BudgetStatus
    expected_income: int
    actual_income: int


def list_budgets(member: Member, month: Month) -> OwnedQuerySet:
    """Return the budgets of one month, in the order of the category list."""
    rows = Budget.objects.owned_by(member).select_related("category")
    return rows.filter(year=month.year, month=month.month).order_by(
        Coalesce("category__parent__sort_order", "category__sort_order"),
        Coalesce("category__parent_id", "category_id"),
        F("category__parent_id").asc(nulls_first=True),
        "category__sort_order",
        "category_id",
    )


@ledger_write
def create_budget(
    ledger: LockedLedger, category: str | SentCategory, month: Month, amount: int
) -> Budget:
    """Raise `DuplicateError` if the month has a budget of the category."""
    name = resolve_expense_category(ledger, category, None)
    budget = Budget(
        member=ledger.member,
        category=get_or_create_category(ledger, CategoryType.EXPENSE, name),
        year=month.year,
        month=month.month,
        amount=amount,
    )
    with raise_on_constraint_violation(
        "account_budget_unique", DuplicateError(BUDGET_EXISTS)
    ):
        budget.save(force_insert=True)
    return budget


@ledger_write
def update_budget(
    ledger: LockedLedger, budget_id: int, changes: dict[str, Any]
) -> Budget:
    """Update the named fields; raise `DuplicateError` on a conflict."""
    rows = Budget.objects.select_related("category")
    budget: Budget = get_owned_or_404(rows, ledger.member, budget_id)
    changes = dict(changes)
    if category := changes.pop("category", None):
        name = resolve_expense_category(ledger, category, budget.category)
        budget.category = get_or_create_category(ledger, CategoryType.EXPENSE, name)
    for field, value in changes.items():
        setattr(budget, field, value)
    with raise_on_constraint_violation(
        "account_budget_unique", DuplicateError(BUDGET_EXISTS)
    ):
        budget.save()
    return budget


@ledger_write
def delete_budget(ledger: LockedLedger, budget_id: int) -> None:
    get_owned_or_404(Budget.objects.all(), ledger.member, budget_id).delete()


@ledger_write
def copy_budgets(ledger: LockedLedger, source: Month, target: Month) -> tuple[int, int]:
    """Copy the budgets of a month; return the counts (created, overwritten)."""
    if source == target:
        raise InvalidFieldError(
            "toMonth", gettext("Must differ from the source month.")
        )
    params = {
        "member": ledger.member.pk,
        "from_year": source.year,
        "from_month": source.month,
        "to_year": target.year,
        "to_month": target.month,
    }
    with connection.cursor() as cursor:
        cursor.execute(_COPY_BUDGETS, params)
        results = [is_new for (is_new,) in cursor.fetchall()]
    return results.count(True), results.count(False)


def get_budget_status(
    member: Member, month: Month, *, spread: bool = False
) -> MonthlyBudgetStatus:
    """Return each budget of a month with its spending, and the totals.

    The spending of a major category includes its minor ones. If both have a budget, the
    total counts the major one only. With `spread` the parts of installments count when
    they are paid, instead of the purchases.
    """
    params = _month_params(member, month)
    if spread:
        parts, moves = _fetch_with_moves(_STATUS, params)
        _move_spending(parts, moves)
    else:
        parts = fetch_parts(_STATUS, params)
    rows = [SpendingRow(**row) for row in parts["spending"]]
    majors = {row.category_id for row in rows if row.parent_id is None}
    counted = [row for row in rows if row.parent_id not in majors]
    expected = sum(row["amount"] for row in parts["expected_income"])
    return MonthlyBudgetStatus(
        categories=[
            BudgetStatus(row.category, row.parent, row.budgeted, row.spent)
            for row in rows
        ],
        total=BudgetStatus(
            category="",
            parent=None,
            budgeted=sum(row.budgeted for row in counted),
            spent=sum(row.spent for row in counted),
        ),
        expected_income=expected,
        actual_income=parts["actual_income"][0]["amount"],
    )


def get_budget_chart(
    member: Member, month: Month, *, spread: bool = False
) -> list[tuple[date, int, int]]:
    """Return (day, budgeted, spent) of each day of a month, both cumulative.

    The budget grows evenly and is complete on the last day. `spread` is as in
    `get_budget_status`.
    """
    period = month_period(month.year, month.month)
    budgeted = get_budget_status(member, month).total.budgeted
    params = _month_params(member, month)
    if spread:
        spent_by_day = _spread_by_day(params)
    else:
        with connection.cursor() as cursor:
            cursor.execute(_SPENDING_BY_DAY, params)
            spent_by_day = Counter(dict(cursor.fetchall()))
    days = period.end.day
    chart, spent = [], 0
    for number in range(1, days + 1):
        day = period.start + timedelta(days=number - 1)
        spent += spent_by_day[day]
        chart.append((day, budgeted * number // days, spent))
    return chart


def _fetch_with_moves(
    queries: Mapping[str, str], params: dict[str, Any]
) -> tuple[dict[str, Any], list[Move]]:
    """Run queries about a month, and return what spread installments change in it."""
    period = Period(params["start"], params["end"])
    found = fetch_parts({**queries, **SPREAD}, params | window_params(period))
    return found, read_moves(found, period)


def _move_spending(parts: dict[str, Any], moves: Iterable[Move]) -> None:
    """Change the rows of `_STATUS` by parts of installments."""
    spent: Counter[int | None] = Counter()
    for line, gain in (each for move in moves for each in move.list_gains()):
        if line.type == CategoryType.INCOME:
            parts["actual_income"][0]["amount"] -= gain
        else:
            for category_id in {line.category_id, line.major_id}:
                spent[category_id] += gain
    for row in parts["spending"]:
        row["spent"] += spent[row["category_id"]]


def _spread_by_day(params: dict[str, Any]) -> Counter[date]:
    """Return the spending on budgeted categories by day, with installments spread."""
    queries = {"days": _SPENDING_BY_DAY, "budgeted": _BUDGETED}
    found, moves = _fetch_with_moves(queries, params)
    spent = Counter({date.fromisoformat(r["date"]): r["sum"] for r in found["days"]})
    budgeted = {row["category_id"] for row in found["budgeted"]}
    for day, _, gains in (each for move in moves for each in move.list_days()):
        for line, gain in gains:
            is_budgeted = {line.category_id, line.major_id} & budgeted
            if is_budgeted and line.type == CategoryType.EXPENSE:
                spent[day] += gain
    return spent


def find_expected_income(member: Member, month: Month) -> BudgetIncome | None:
    rows = BudgetIncome.objects.owned_by(member)
    row: BudgetIncome | None = rows.filter(year=month.year, month=month.month).first()
    return row


@ledger_write
def set_expected_income(ledger: LockedLedger, month: Month, amount: int) -> None:
    BudgetIncome.objects.update_or_create(
        member=ledger.member,
        year=month.year,
        month=month.month,
        defaults={"amount": amount},
    )


def _month_params(member: Member, month: Month) -> dict[str, Any]:
    period = month_period(month.year, month.month)
    return {
        "member": member.pk,
        "year": month.year,
        "month": month.month,
        "start": period.start,
        "end": period.end,
    }
