"""Files that a member imports, their rows, and the keys of imported rows."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from core.db.constraints import CompositeForeignKey
from ledger.models.base import MAX_NAME_LENGTH, OwnedModel, owned_key

MAX_SOURCE_LENGTH = 20
DIGEST_BYTES = 16


class ImportStatus(models.TextChoices):
    """What a row of a file is to the ledger (spec 3.29)."""

    NEW = "NEW"
    DUPLICATE = "DUPLICATE"
    LIKELY_DUPLICATE = "LIKELY_DUPLICATE"
    TRANSFER = "TRANSFER"
    PAIRED = "PAIRED"
    UNPAIRED = "UNPAIRED"
    REFUND = "REFUND"
    INVALID = "INVALID"


class ImportAction(models.TextChoices):
    IMPORT = "IMPORT"
    SKIP = "SKIP"
    MERGE = "MERGE"


class Import(OwnedModel):
    """A file that was read, until its rows are committed or it expires.

    Nothing of it is in the ledger before. `choices` are what the member has corrected;
    `description` is what was found, as the API answers it. The file itself is not kept,
    but its cells, compressed.
    """

    source = models.CharField(max_length=MAX_SOURCE_LENGTH)
    # Finds the columns of an earlier file with the same header.
    header_digest = models.BinaryField(null=True)
    # By zlib; null once the rows are committed.
    tables = models.BinaryField(null=True)
    stored_bytes = models.IntegerField()
    choices = models.JSONField()
    description = models.JSONField()
    # Counts the readings: a commit is of the newest.
    reading = models.IntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now())
    committed_at = models.DateTimeField(null=True)
    # What the commit did; null before.
    result = models.JSONField(null=True)

    class Meta:
        db_table = "account_import"
        ordering = ["-id"]
        constraints = [
            owned_key("account_import"),
            CompositeForeignKey(
                name="account_import_in_ledger",
                fields=["member"],
                to="ledger.Ledger",
                to_fields=["member"],
                # The release before may still delete accounts beside this one.
                on_delete="CASCADE",
            ),
            models.CheckConstraint(
                condition=Q(committed_at=None, result=None)
                | Q(committed_at__isnull=False, result__isnull=False),
                name="account_import_result_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"import {self.id} of {self.source}"


class ImportRow(OwnedModel):
    """A row of a file, and what becomes of it.

    `record` is `ledger.imports.records.Record` as JSON; null for a row that cannot be
    read, which has `errors`.
    """

    pk = models.CompositePrimaryKey("member_id", "import_id", "row")
    import_id = models.BigIntegerField()
    # As a spreadsheet counts it, from 1.
    row = models.IntegerField()
    status = models.CharField(max_length=16, choices=ImportStatus.choices)
    action = models.CharField(max_length=6, choices=ImportAction.choices)
    # The member's own choice; null for the action above.
    chosen = models.CharField(max_length=6, choices=ImportAction.choices, null=True)
    # What the member has changed: an entry to merge with, the other wallet, a category,
    # a memo.
    edits = models.JSONField(null=True)
    record = models.JSONField(null=True)
    # The category of earlier entries with such a memo, for a row without one.
    learned = models.CharField(max_length=MAX_NAME_LENGTH, null=True)
    errors = models.JSONField(null=True)
    # Why the row has its status: a name of `ledger.imports.reasons`.
    reason = models.CharField(max_length=24)
    # The entry of the ledger that it is, or is a part of.
    entry_id = models.BigIntegerField(null=True)
    # The other row of a transfer, or the purchase that a row cancels.
    other_row = models.IntegerField(null=True)

    class Meta:
        db_table = "account_import_row"
        ordering = ["row"]
        constraints = [
            CompositeForeignKey(
                name="account_import_row_of_import",
                fields=["member", "import_id"],
                to="ledger.Import",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
            models.CheckConstraint(
                condition=Q(status__in=ImportStatus.values),
                name="account_import_row_status_known",
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "import_id", "status", "row"],
                name="account_import_row_by_status",
            ),
        ]

    def __str__(self) -> str:
        return f"row {self.row} of import {self.import_id}"


class ImportKey(OwnedModel):
    """What tells a row of a file apart, in its wallet (spec 3.29).

    It outlives its entry: a row whose entry was edited, moved, merged or deleted does
    not come back. `entry_id` is no foreign key for that reason. An undo of the import
    frees it, in `freed_by`; an undo of that undo takes it back.
    """

    pk = models.CompositePrimaryKey("member_id", "digest", "wallet_id")
    digest = models.BinaryField(max_length=DIGEST_BYTES)
    # 0 for rows without a wallet.
    wallet_id = models.BigIntegerField()
    # Null after a restore that has kept the key.
    entry_id = models.BigIntegerField(null=True)
    # The operation of the commit, and the undo of it.
    operation_id = models.BigIntegerField()
    freed_by = models.BigIntegerField(null=True)

    class Meta:
        db_table = "account_import_key"
        ordering = ["digest"]
        constraints = [
            CompositeForeignKey(
                name="account_import_key_in_ledger",
                fields=["member"],
                to="ledger.Ledger",
                to_fields=["member"],
                # The release before may still delete accounts beside this one.
                on_delete="CASCADE",
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "entry_id"], name="account_import_key_by_entry"
            ),
        ]

    def __str__(self) -> str:
        return f"key of entry {self.entry_id}"


class ImportMapping(OwnedModel):
    """The columns by which a file with a header was last read."""

    pk = models.CompositePrimaryKey("member_id", "header_digest")
    header_digest = models.BinaryField(max_length=DIGEST_BYTES)
    # As the API has it: columns with their fields, and the order of dates.
    mapping = models.JSONField()
    used_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "account_import_mapping"
        ordering = ["-used_at"]
        constraints = [
            CompositeForeignKey(
                name="account_import_mapping_in_ledger",
                fields=["member"],
                to="ledger.Ledger",
                to_fields=["member"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return "columns of a header"
