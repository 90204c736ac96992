"""Current text of object_deletions."""

from django.db import migrations

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    dependencies = [("board", "0010_image_places")]

    operations = [
        sql_file("board", "object_deletions", "0011"),
    ]
