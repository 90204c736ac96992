"""Current text of legal."""

from django.db import migrations

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_legal_documents")]

    operations = [
        sql_file("accounts", "legal", "0009"),
    ]
