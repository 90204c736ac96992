"""Pairs of entries that are no transfer."""

from django.db import models

from core.db.constraints import CompositeForeignKey
from ledger.models.base import OwnedForeignKey, OwnedModel
from ledger.models.entries import Entry


class DismissedTransfer(OwnedModel):
    """An expense and an income that their member does not take for one transfer.

    It holds as long as amount, date and wallet of both equal the columns
    (contract C5). Changes of an entry do not read it.
    """

    pk = models.CompositePrimaryKey("member_id", "expense_id", "income_id")
    expense = OwnedForeignKey(Entry)
    income = OwnedForeignKey(Entry)
    expense_amount = models.BigIntegerField()
    expense_date = models.DateField()
    expense_wallet_id = models.BigIntegerField()
    income_amount = models.BigIntegerField()
    income_date = models.DateField()
    income_wallet_id = models.BigIntegerField()

    class Meta:
        db_table = "account_dismissed_transfer"
        ordering = ["expense_id", "income_id"]
        constraints = [
            CompositeForeignKey(
                name="account_dismissed_transfer_expense_owned",
                fields=["member", "expense"],
                to="ledger.Entry",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
            CompositeForeignKey(
                name="account_dismissed_transfer_income_owned",
                fields=["member", "income"],
                to="ledger.Entry",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "income"], name="account_dismissed_by_income"
            )
        ]

    def __str__(self) -> str:
        return f"expense {self.expense_id} and income {self.income_id}"
