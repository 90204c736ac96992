"""Which profile image a member has, so that its address can change with it."""

import django.db.models.functions.comparison
import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_award_slots")]
    operations = [
        migrations.AddField(
            model_name="member",
            name="avatar_version",
            field=models.GeneratedField(
                db_persist=True,
                expression=django.db.models.functions.text.MD5(
                    django.db.models.functions.comparison.NullIf(
                        "profile_image", models.Value("")
                    )
                ),
                output_field=models.CharField(max_length=32, null=True),
            ),
        ),
    ]
