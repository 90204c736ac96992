"""Budgets: what categories may cost in a month, and how much of it is spent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Coalesce

from accounts.models import Member
from core.errors import DuplicateError, InvalidFieldError, raise_on_constraint_violation
from ledger.categories import get_or_create_category
from ledger.locking import lock_ledger_shared
from ledger.models import Budget, BudgetIncome
from ledger.models.base import EntryType, OwnedQuerySet
from ledger.ownership import get_owned_or_404
from ledger.periods import month_period
from ledger.ratios import compute_ratio

BUDGET_EXISTS = "The category has a budget in this month."

_COPY_BUDGETS = """
    INSERT INTO account_budget AS kept
        (member_id, category_id, type, year, month, amount)
    SELECT member_id, category_id, type, %(to_year)s, %(to_month)s, amount
    FROM account_budget
    WHERE member_id = %(member)s AND year = %(from_year)s AND month = %(from_month)s
    ORDER BY category_id
    ON CONFLICT (member_id, year, month, category_id)
    DO UPDATE SET amount = excluded.amount
    RETURNING xmax = 0
"""
_SPENDING_BY_BUDGET = """
    SELECT b.amount, c.name, p.name, c.id, c.parent_id,
        coalesce((
            SELECT sum(t.amount) FROM account_entry_total t
            WHERE t.member_id = b.member_id AND t.month = %(start)s
                AND t.type = 'expense' AND NOT t.pending
                AND t.category_id IN (
                    SELECT id FROM account_category m
                    WHERE m.id = b.category_id OR m.parent_id = b.category_id
                )
        ), 0)
    FROM account_budget b
    JOIN account_category c ON c.id = b.category_id
    LEFT JOIN account_category p ON p.id = c.parent_id
    WHERE b.member_id = %(member)s AND b.year = %(year)s AND b.month = %(month)s
    ORDER BY coalesce(p.sort_order, c.sort_order), coalesce(p.id, c.id),
        p.id IS NOT NULL, c.sort_order, c.id
"""
_SPENDING_BY_DAY = """
    SELECT e.date, sum(e.amount) FROM account_entry e
    WHERE e.member_id = %(member)s AND e.date BETWEEN %(start)s AND %(end)s
        AND e.type = 'expense' AND NOT e.pending AND e.category_id IN (
            SELECT m.id FROM account_category m
            JOIN account_budget b ON b.category_id IN (m.id, m.parent_id)
            WHERE b.member_id = %(member)s AND b.year = %(year)s
                AND b.month = %(month)s
        )
    GROUP BY e.date
"""
_ACTUAL_INCOME = """
    SELECT coalesce(sum(amount), 0) FROM account_month_total
    WHERE member_id = %(member)s AND month = %(start)s AND type = 'income'
        AND NOT pending
"""


@dataclass(frozen=True, slots=True)
class Month:
    """A year and a month of the calendar."""

    year: int
    month: int


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """A budget beside what was spent, in whole home-currency units."""

    category: str
    parent: str | None
    budgeted: int
    spent: int

    @property
    def share(self) -> Decimal | None:
        return compute_ratio(self.spent, self.budgeted)


@dataclass(frozen=True, slots=True)
class MonthlyBudgetStatus:
    """All budgets of a month, their sum, and the month's income."""

    categories: list[BudgetStatus]
    total: BudgetStatus
    expected_income: int
    actual_income: int


def list_budgets(member: Member, month: Month) -> OwnedQuerySet:
    """The budgets of one month, in the order of the list of categories.

    Each major one is followed by its minors, whether or not it has a budget itself.
    """
    rows = Budget.objects.owned_by(member).select_related("category")
    return rows.filter(year=month.year, month=month.month).order_by(
        Coalesce("category__parent__sort_order", "category__sort_order"),
        Coalesce("category__parent_id", "category_id"),
        F("category__parent_id").asc(nulls_first=True),
        "category__sort_order",
        "category_id",
    )


def get_budget(member: Member, budget_id: int) -> Budget:
    rows = Budget.objects.select_related("category")
    found: Budget = get_owned_or_404(rows, member, budget_id)
    return found


def create_budget(member: Member, category: str, month: Month, amount: int) -> Budget:
    """A new budget; one for each category and month."""
    with transaction.atomic():
        lock_ledger_shared(member)
        budget = Budget(
            member=member,
            category=get_or_create_category(member, EntryType.EXPENSE, category),
            year=month.year,
            month=month.month,
            amount=amount,
        )
        with raise_on_constraint_violation(
            "account_budget_unique", DuplicateError(BUDGET_EXISTS)
        ):
            budget.save(force_insert=True)
    return budget


def update_budget(member: Member, budget_id: int, changes: dict[str, Any]) -> Budget:
    with transaction.atomic():
        lock_ledger_shared(member)
        rows = Budget.objects.select_for_update(of=("self",))
        budget: Budget = get_owned_or_404(rows, member, budget_id)
        changes = dict(changes)
        if name := changes.pop("category", None):
            budget.category = get_or_create_category(member, EntryType.EXPENSE, name)  # type: ignore[assignment]
        for field, value in changes.items():
            setattr(budget, field, value)
        with raise_on_constraint_violation(
            "account_budget_unique", DuplicateError(BUDGET_EXISTS)
        ):
            budget.save()
    return budget


def delete_budget(member: Member, budget_id: int) -> None:
    get_budget(member, budget_id).delete()


def copy_budgets(member: Member, source: Month, target: Month) -> tuple[int, int]:
    """Copy a month's budgets into another; how many were new and overwritten."""
    if source == target:
        raise InvalidFieldError("toMonth", "This is the month to be copied.")
    with transaction.atomic(), connection.cursor() as cursor:
        lock_ledger_shared(member)
        values = {
            "member": member.pk,
            "from_year": source.year,
            "from_month": source.month,
            "to_year": target.year,
            "to_month": target.month,
        }
        cursor.execute(_COPY_BUDGETS, values)
        created = [is_new for (is_new,) in cursor.fetchall()]
    return created.count(True), created.count(False)


def get_budget_status(member: Member, month: Month) -> MonthlyBudgetStatus:
    """Each budget beside what its category cost; a major one covers its minors.

    Where both a major category and its minor one have budgets, the total counts the
    major one only, whose spending includes the minor's.
    """
    values = _month_params(member, month)
    rows = _fetch_rows(_SPENDING_BY_BUDGET, values)
    majors = {category_id for *_, category_id, parent_id, _ in rows if not parent_id}
    categories = [BudgetStatus(name, parent, amount, int(spent))
                  for amount, name, parent, _, _, spent in rows]  # fmt: skip
    counted = [
        status
        for status, row in zip(categories, rows, strict=True)
        if row[4] not in majors
    ]
    return MonthlyBudgetStatus(
        categories=categories,
        total=BudgetStatus(
            "", None,
            sum(status.budgeted for status in counted),
            sum(status.spent for status in counted),
        ),
        expected_income=get_expected_income(member, month),
        actual_income=int(_fetch_rows(_ACTUAL_INCOME, values)[0][0]),
    )  # fmt: skip


def get_budget_chart(member: Member, month: Month) -> list[tuple[date, int, int]]:
    """Day by day, cumulative: what may be spent up to it, and what was spent.

    The budget grows evenly over the month and is reached on its last day.
    """
    period = month_period(month.year, month.month)
    budgeted = get_budget_status(member, month).total.budgeted
    spent = dict(_fetch_rows(_SPENDING_BY_DAY, _month_params(member, month)))
    days = period.end.day
    chart, so_far = [], 0
    for number in range(1, days + 1):
        day = period.start + timedelta(days=number - 1)
        so_far += int(spent.get(day, 0))
        chart.append((day, budgeted * number // days, so_far))
    return chart


def get_expected_income(member: Member, month: Month) -> int:
    """The expected income, 0 where none was set."""
    rows = BudgetIncome.objects.owned_by(member)
    row = rows.filter(year=month.year, month=month.month).first()
    return row.amount if row else 0


def set_expected_income(member: Member, month: Month, amount: int) -> None:
    BudgetIncome.objects.update_or_create(
        member=member,
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


def _fetch_rows(sql: str, values: dict[str, Any]) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return rows
