"""The ledger of a member, as a row."""

from django.db import models

from accounts.models import Member
from ledger.models.base import OwnedQuerySet


class Ledger(models.Model):
    """The ledger of a member, with the counts of its entries.

    A trigger creates it with the member. Every row of the ledger refers to it, so that
    none can be written for a member who has left; whoever needs the ledger for
    themselves locks it. Triggers on the entries keep the numbers.
    """

    member = models.OneToOneField(
        Member, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    # Confirmed entries.
    income_count = models.IntegerField(db_default=0)
    expense_count = models.IntegerField(db_default=0)
    transfer_count = models.IntegerField(db_default=0)
    # Entries that await confirmation.
    pending_income_count = models.IntegerField(db_default=0)
    pending_expense_count = models.IntegerField(db_default=0)
    pending_transfer_count = models.IntegerField(db_default=0)
    # Grows whenever rollups are written other than by the triggers.
    rollup_version = models.IntegerField(db_default=0)
    # Texts of bank accounts become entries too (spec 4.12).
    captures_bank_texts = models.BooleanField(db_default=False)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "account_ledger"
        ordering = ["member_id"]

    def __str__(self) -> str:
        return f"ledger of member {self.member_id}"
