from django.contrib.postgres.indexes import BrinIndex, OpClass
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    # Entries are written while the index is built.
    atomic = False
    dependencies = [("ledger", "0018_operations")]

    operations = [
        # An interrupted attempt leaves an invalid index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS account_entry_written",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="entry",
            index=BrinIndex(
                OpClass("created_at", name="timestamptz_minmax_multi_ops"),
                autosummarize=True,
                name="account_entry_written",
            ),
        ),
    ]
