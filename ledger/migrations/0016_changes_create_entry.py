"""Current text of changes, create_entry."""

from django.db import migrations

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    dependencies = [("ledger", "0015_changed_entries")]

    operations = [
        sql_file("ledger", "changes", "0016"),
        sql_file("ledger", "create_entry", "0016", former="0003"),
    ]
