"""What is left of deleted rows."""

from django.db import models
from django.db.models.functions import Now

from core.db.constraints import CompositeForeignKey
from ledger.models.base import OwnedModel


class RowKind(models.TextChoices):
    """Rows that clients keep a copy of, by their name in the feed of changes."""

    WALLET = "wallet"
    CATEGORY = "category"
    TAG = "tag"
    ENTRY = "entry"
    QUICK_ENTRY = "quickEntry"
    RECURRING = "recurring"
    BUDGET = "budget"
    BUDGET_INCOME = "budgetIncome"
    STOCK = "stock"
    TRADE = "trade"
    VALUATION = "valuation"
    SETTINGS = "settings"
    CARD = "card"
    BILL = "bill"


class Tombstone(OwnedModel):
    """A deleted row, for the feed of changes (spec 3.26).

    A trigger writes it (`ledger/sql/changes.sql`). A row that comes back under its id
    has a newer version.
    """

    pk = models.CompositePrimaryKey("member_id", "kind", "row_id")
    kind = models.CharField(max_length=12, choices=RowKind.choices)
    row_id = models.BigIntegerField()
    # The revision of the deletion.
    version = models.BigIntegerField()
    deleted_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "account_tombstone"
        ordering = ["version", "kind", "row_id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=RowKind.values),
                name="account_tombstone_kind_known",
            ),
            CompositeForeignKey(
                name="account_tombstone_in_ledger",
                fields=["member"],
                to="ledger.Ledger",
                to_fields=["member"],
                # The release before may still delete accounts beside this one.
                on_delete="CASCADE",
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "version", "kind", "row_id"],
                name="account_tombstone_by_version",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.row_id}"


class DeletedClientId(OwnedModel):
    """The `client_id` of an entry that was deleted (spec 3.25), kept for ever.

    An entry that has it again counts more.
    """

    pk = models.CompositePrimaryKey("member_id", "client_id")
    client_id = models.UUIDField()

    class Meta:
        db_table = "account_deleted_client_id"
        ordering = ["client_id"]
        constraints = [
            CompositeForeignKey(
                name="account_deleted_client_id_in_ledger",
                fields=["member"],
                to="ledger.Ledger",
                to_fields=["member"],
                # The release before may still delete accounts beside this one.
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return str(self.client_id)
