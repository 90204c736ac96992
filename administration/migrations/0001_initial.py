from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="DailyMetric",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("day", models.DateField()),
                (
                    "name",
                    models.CharField(
                        choices=[
                            ("members", "Members"),
                            ("premium", "Premium"),
                            ("active", "Active"),
                            ("sign_ups", "Sign Ups"),
                            ("entries", "Entries"),
                            ("posts", "Posts"),
                            ("comments", "Comments"),
                            ("votes", "Votes"),
                        ],
                        max_length=10,
                    ),
                ),
                ("value", models.BigIntegerField()),
            ],
            options={
                "db_table": "daily_metric",
                "ordering": ["day", "name", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("day", "name"), name="daily_metric_once"
                    )
                ],
            },
        ),
    ]
