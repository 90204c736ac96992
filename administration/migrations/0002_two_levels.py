"""A minor default category only ever sits under a major one of its type."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("administration", "0001_initial")]
    operations = [
        migrations.RunSQL(
            "ALTER TABLE default_category ADD CONSTRAINT "
            "default_category_parent_is_major FOREIGN KEY "
            "(type, parent_id, parent_level) REFERENCES "
            "default_category (type, id, level)",
            "ALTER TABLE default_category DROP CONSTRAINT "
            "default_category_parent_is_major",
        )
    ]
