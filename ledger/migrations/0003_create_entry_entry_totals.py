"""Current text of create_entry, entry_totals."""

from django.db import migrations

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    dependencies = [("ledger", "0002_refunds_of_lines_and_dismissed_transfers")]

    operations = [
        sql_file("ledger", "create_entry", "0003", former="0001"),
        sql_file("ledger", "entry_totals", "0003", former="0001"),
    ]
