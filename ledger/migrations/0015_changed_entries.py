from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    RemoveIndexConcurrently,
)
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    # Entries are written while the indexes are built.
    atomic = False
    dependencies = [("ledger", "0014_valuation_ids")]

    operations = [
        # An interrupted attempt leaves an invalid index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS account_entry_changed",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="entry",
            index=models.Index(
                fields=["member", "version", "id"], name="account_entry_changed"
            ),
        ),
        RemoveIndexConcurrently(model_name="entry", name="account_entry_changes"),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS account_entry_client_id_unique",
            migrations.RunSQL.noop,
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "CREATE UNIQUE INDEX CONCURRENTLY account_entry_client_id_unique"
                    " ON account_entry (member_id, client_id)"
                    " WHERE client_id IS NOT NULL",
                    "DROP INDEX CONCURRENTLY IF EXISTS account_entry_client_id_unique",
                ),
            ],
            state_operations=[
                migrations.AddConstraint(
                    model_name="entry",
                    constraint=models.UniqueConstraint(
                        fields=["member", "client_id"],
                        condition=Q(client_id__isnull=False),
                        name="account_entry_client_id_unique",
                    ),
                ),
            ],
        ),
    ]
