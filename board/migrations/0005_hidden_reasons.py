"""Current text of hidden_reasons."""

from django.db import migrations

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    dependencies = [("board", "0004_replies")]

    operations = [
        sql_file("board", "hidden_reasons", "0005"),
    ]
