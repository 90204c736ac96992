"""Current text of versions."""

from django.db import migrations

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    dependencies = [("ledger", "0008_entry_changes")]

    operations = [
        sql_file("ledger", "versions", "0009"),
    ]
