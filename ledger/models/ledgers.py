"""The ledger as a row."""

from django.db import models

from accounts.models import Member
from ledger.models.base import MAX_ENTRIES, MAX_ENTRIES_CONSTRAINT, OwnedQuerySet


class Ledger(models.Model):
    """The ledger of a member, with the counts of its entries, kept by triggers.

    A trigger creates it with the member. All rows refer to it: nothing can be written
    for a member who has left.
    """

    member = models.OneToOneField(
        Member, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    # Confirmed entries, then pending ones.
    income_count = models.IntegerField(db_default=0)
    expense_count = models.IntegerField(db_default=0)
    transfer_count = models.IntegerField(db_default=0)
    pending_income_count = models.IntegerField(db_default=0)
    pending_expense_count = models.IntegerField(db_default=0)
    pending_transfer_count = models.IntegerField(db_default=0)
    # Grows when rollups are written without the triggers.
    rollup_version = models.IntegerField(db_default=0)
    # Raised by the first write of a transaction (`ledger/sql/versions.sql`). The lock
    # of `ledger_write` makes its order that of the commits.
    revision = models.BigIntegerField(db_default=0)
    # When the ledger was replaced: cursors of an earlier revision are void (spec 3.26).
    oldest_cursor = models.BigIntegerField(db_default=0)
    # Texts of bank accounts become entries too (spec 4.12).
    captures_bank_texts = models.BooleanField(db_default=False)
    # The revision of the last change of such a setting.
    settings_version = models.BigIntegerField(db_default=0)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "account_ledger"
        ordering = ["member_id"]
        constraints = [
            # The triggers change the counts in the transaction of each new entry.
            models.CheckConstraint(
                condition=models.lookups.LessThanOrEqual(
                    models.F("income_count")
                    + models.F("expense_count")
                    + models.F("transfer_count")
                    + models.F("pending_income_count")
                    + models.F("pending_expense_count")
                    + models.F("pending_transfer_count"),
                    models.Value(MAX_ENTRIES),
                ),
                name=MAX_ENTRIES_CONSTRAINT,
            ),
        ]

    def __str__(self) -> str:
        return f"ledger of member {self.member_id}"
