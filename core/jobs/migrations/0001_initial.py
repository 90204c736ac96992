import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="JobRun",
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
                ("job", models.CharField(max_length=50)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("RUNNING", "Running"),
                            ("DONE", "Done"),
                            ("FAILED", "Failed"),
                            ("SKIPPED", "skipped, another run was under way"),
                        ],
                        max_length=7,
                    ),
                ),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("count", models.BigIntegerField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "db_table": "job_run",
                "verbose_name": "job run",
                "verbose_name_plural": "job runs",
                "ordering": ["-started_at", "-id"],
                "indexes": [
                    models.Index(fields=["job", "-started_at"], name="job_run_by_job"),
                    models.Index(fields=["started_at"], name="job_run_by_start"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "RUNNING")),
                        fields=("job",),
                        name="job_run_one_running",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="JobRange",
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
                ("first_id", models.BigIntegerField()),
                ("last_id", models.BigIntegerField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("count", models.BigIntegerField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=200)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ranges",
                        to="jobs.jobrun",
                    ),
                ),
            ],
            options={"db_table": "job_range", "ordering": ["id"]},
        ),
    ]
