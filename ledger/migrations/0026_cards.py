from django.contrib.postgres.operations import AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models


class Migration(migrations.Migration):
    # Entries are written while constraints are checked and the index is built.
    atomic = False
    dependencies = [("ledger", "0025_changes_create_entry_operations_versions")]

    operations = [
        ValidateConstraint(model_name="entry", name="account_entry_parts_whole"),
        ValidateConstraint(model_name="entry", name="account_entry_bill_month"),
        ValidateConstraint(
            model_name="operationrow", name="account_operation_row_kind_known"
        ),
        ValidateConstraint(
            model_name="tombstone", name="account_tombstone_kind_known"
        ),
        # An interrupted attempt leaves an invalid index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS account_entry_by_bill",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="entry",
            index=models.Index(
                condition=models.Q(bill_month__isnull=False),
                fields=["member", "bill_month"],
                name="account_entry_by_bill",
            ),
        ),
    ]
