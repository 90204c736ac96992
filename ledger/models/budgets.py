"""Budgets and expected incomes."""

from django.db import models
from django.db.models import Q

from core.db.constraints import CompositeForeignKey
from ledger.models.base import (
    CategoryType,
    OwnedForeignKey,
    VersionedModel,
    owned_constraints,
    owned_key,
)
from ledger.models.categories import Category

MIN_YEAR, MAX_YEAR = 1900, 2200


def valid_month_condition() -> Q:
    return Q(year__range=(MIN_YEAR, MAX_YEAR), month__range=(1, 12))


class Budget(VersionedModel):
    """The budget of an expense category in one month (spec 3.11)."""

    category = OwnedForeignKey(Category)
    # Always expense: part of the composite foreign key to the category.
    type = models.CharField(max_length=7, default=CategoryType.EXPENSE, editable=False)
    year = models.SmallIntegerField()
    month = models.SmallIntegerField()
    amount = models.BigIntegerField()

    class Meta:
        db_table = "account_budget"
        ordering = ["year", "month", "category__sort_order", "id"]
        constraints = [
            owned_key("account_budget"),
            models.UniqueConstraint(
                fields=["member", "year", "month", "category"],
                name="account_budget_unique",
            ),
            models.CheckConstraint(
                condition=Q(type=CategoryType.EXPENSE), name="account_budget_is_expense"
            ),
            models.CheckConstraint(
                condition=valid_month_condition(), name="account_budget_month"
            ),
            models.CheckConstraint(
                condition=Q(amount__gt=0), name="account_budget_amount_positive"
            ),
            CompositeForeignKey(
                name="account_budget_category_owned",
                fields=["member", "type", "category"],
                to="ledger.Category",
                to_fields=["member", "type", "id"],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.year}-{self.month:02} {self.amount}"


class BudgetIncome(VersionedModel):
    """The expected income of a member in one month (spec 3.11)."""

    year = models.SmallIntegerField()
    month = models.SmallIntegerField()
    amount = models.BigIntegerField()

    class Meta:
        db_table = "account_budget_income"
        ordering = ["year", "month", "id"]
        constraints = [
            *owned_constraints("account_budget_income"),
            models.UniqueConstraint(
                fields=["member", "year", "month"],
                name="account_budget_income_unique",
            ),
            models.CheckConstraint(
                condition=valid_month_condition(), name="account_budget_income_month"
            ),
            models.CheckConstraint(
                condition=Q(amount__gte=0),
                name="account_budget_income_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.year}-{self.month:02} {self.amount}"
