"""Current text of operations."""

from django.db import migrations

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    dependencies = [("ledger", "0019_entries_by_time")]

    operations = [
        sql_file("ledger", "operations", "0020", former="0018"),
    ]
