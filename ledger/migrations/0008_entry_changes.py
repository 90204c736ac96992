from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Entries are written while the index is built.
    atomic = False
    dependencies = [("ledger", "0007_version_columns")]

    operations = [
        # An interrupted attempt leaves an invalid index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS account_entry_changes",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="entry",
            index=models.Index(
                fields=["member", "version"], name="account_entry_changes"
            ),
        ),
    ]
