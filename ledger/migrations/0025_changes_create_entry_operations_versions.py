"""Current text of changes, create_entry, operations, versions."""

from django.db import migrations

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    dependencies = [("ledger", "0024_cards")]

    operations = [
        sql_file("ledger", "changes", "0025", former="0016"),
        sql_file("ledger", "create_entry", "0025", former="0016"),
        sql_file("ledger", "operations", "0025", former="0020"),
        sql_file("ledger", "versions", "0025", former="0009"),
    ]
