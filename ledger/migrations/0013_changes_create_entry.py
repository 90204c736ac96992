"""Current text of changes, create_entry."""

from django.db import migrations

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    dependencies = [("ledger", "0012_changed_entries")]

    operations = [
        sql_file("ledger", "changes", "0013"),
        sql_file("ledger", "create_entry", "0013", former="0003"),
    ]
