"""Recorded operations, and the rows as they were before."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from core.db.constraints import CompositeForeignKey
from ledger.models.base import OwnedModel
from ledger.models.tombstones import RowKind

# A row that clients keep no copy of: which entry a notification belongs to.
NOTIFICATION = "notification"
KEPT_KINDS = (*RowKind.values, NOTIFICATION)


class OperationKind(models.TextChoices):
    DELETE = "delete"
    MERGE = "merge"
    UNMERGE = "unmerge"
    BULK_CHANGE = "bulkChange"
    BATCH = "batch"
    IMPORT = "import"
    RESTORE = "restore"
    UNDO = "undo"


class RowAction(models.TextChoices):
    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"


def _in_ledger(table: str) -> CompositeForeignKey:
    return CompositeForeignKey(
        name=f"{table}_in_ledger",
        fields=["member"],
        to="ledger.Ledger",
        to_fields=["member"],
        # The release before may still delete accounts beside this one.
        on_delete="CASCADE",
    )


class Operation(OwnedModel):
    """One request that changed a ledger (spec 3.27).

    `id` is the revision of its transaction: a row with a higher version was changed
    since.
    """

    pk = models.CompositePrimaryKey("member_id", "id")
    id = models.BigIntegerField()
    kind = models.CharField(max_length=12, choices=OperationKind.choices)
    at = models.DateTimeField(db_default=Now())
    # The member who sent the request; null for staff.
    caller_id = models.BigIntegerField(null=True)
    # By kind of row, then by action.
    counts = models.JSONField()
    row_count = models.IntegerField()
    # The operation replaced the ledger, and is undone by a copy instead of rows.
    is_whole = models.BooleanField(db_default=False)
    # The rows, or the copy, are still there.
    is_kept = models.BooleanField(db_default=True)
    # The operation that undid it.
    undone_by = models.BigIntegerField(null=True)

    class Meta:
        db_table = "account_operation"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=OperationKind.values),
                name="account_operation_kind_known",
            ),
            _in_ledger("account_operation"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class OperationRow(OwnedModel):
    """A row that an operation created, changed or deleted.

    A trigger writes it (`ledger/sql/operations.sql`), with the row as it was before the
    first change, its lines and tags included.
    """

    pk = models.CompositePrimaryKey("member_id", "operation_id", "kind", "row_id")
    operation_id = models.BigIntegerField()
    kind = models.CharField(max_length=12)
    row_id = models.BigIntegerField()
    action = models.CharField(max_length=7, choices=RowAction.choices)
    # `row` and its parts by name, without nulls; null for a row that was created.
    before = models.JSONField(null=True)
    # The row of the same kind without which it cannot be undone.
    partner_id = models.BigIntegerField(null=True)

    class Meta:
        db_table = "account_operation_row"
        ordering = ["operation_id", "kind", "row_id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=KEPT_KINDS),
                name="account_operation_row_kind_known",
            ),
            models.CheckConstraint(
                condition=models.Q(action__in=RowAction.values),
                name="account_operation_row_action_known",
            ),
            _in_ledger("account_operation_row"),
        ]
        indexes = [
            # Finds the name of a category or tag that is gone.
            models.Index(
                fields=["member", "kind", "row_id"],
                condition=models.Q(kind__in=[RowKind.CATEGORY, RowKind.TAG]),
                name="account_operation_row_named",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.row_id} {self.action}"


class LedgerCopy(OwnedModel):
    """The rows of one table of a ledger before it was last replaced, compressed."""

    pk = models.CompositePrimaryKey("member_id", "table_name")
    table_name = models.CharField(max_length=63)
    columns = ArrayField(models.CharField(max_length=63))
    # The text of COPY, by zlib.
    data = models.BinaryField()

    class Meta:
        db_table = "account_ledger_copy"
        ordering = ["table_name"]
        verbose_name_plural = "ledger copies"
        constraints = [_in_ledger("account_ledger_copy")]

    def __str__(self) -> str:
        return self.table_name
