from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    # Entries are written while the index is built.
    atomic = False
    dependencies = [("ledger", "0005_looks")]

    operations = [
        # An interrupted attempt leaves an invalid index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS account_entry_excluded",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="entry",
            index=models.Index(
                fields=["member", "-date"],
                condition=Q(excluded=True),
                name="account_entry_excluded",
            ),
        ),
    ]
