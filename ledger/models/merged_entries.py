"""Halves of merged transfers."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from core.db.constraints import CompositeForeignKey
from ledger.models.base import CategoryType, OwnedForeignKey
from ledger.models.entries import Entry, EntryDetails


class MergedEntry(EntryDetails):
    """An expense or income before it became part of a transfer (spec 3.20).

    A transfer has one row of each, and keeps amount and wallets itself. A category is
    in use here as in an entry; a deleted tag is not restored.
    """

    pk = models.CompositePrimaryKey("member_id", "entry_id", "type")
    entry = OwnedForeignKey(Entry)
    type = models.CharField(max_length=7, choices=CategoryType.choices)
    # The id that an income gets back; an expense still has it.
    former_id = models.BigIntegerField()
    # That an income gets back, too.
    client_id = models.UUIDField(null=True)
    tag_ids = ArrayField(models.BigIntegerField())
    # Notifications of the income, which refer to the transfer.
    notification_ids = ArrayField(models.BigIntegerField())

    class Meta:
        db_table = "account_merged_entry"
        verbose_name_plural = "merged entries"
        ordering = ["entry_id", "type"]
        constraints = [
            models.CheckConstraint(
                condition=Q(type__in=CategoryType.values),
                name="account_merged_entry_type_known",
            ),
            models.CheckConstraint(
                condition=Q(installment_months=None)
                | Q(installment_months__range=(2, 24), type=CategoryType.EXPENSE),
                name="account_merged_entry_installments",
            ),
            CompositeForeignKey(
                name="account_merged_entry_category_owned",
                fields=["member", "category_type", "category"],
                to="ledger.Category",
                to_fields=["member", "type", "id"],
            ),
            CompositeForeignKey(
                name="account_merged_entry_entry_owned",
                fields=["member", "entry"],
                to="ledger.Entry",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "category"],
                condition=Q(category__isnull=False),
                name="account_merged_entry_category",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} in entry {self.entry_id}"
