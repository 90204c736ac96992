"""Current text of operations."""

from django.db import migrations

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    dependencies = [("ledger", "0017_operations")]

    operations = [
        sql_file("ledger", "operations", "0018"),
    ]
