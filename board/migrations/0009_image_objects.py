from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("board", "0008_outside_reports")]

    operations = [
        migrations.CreateModel(
            name="ObjectDeletion",
            fields=[
                (
                    "key",
                    models.CharField(max_length=120, primary_key=True, serialize=False),
                ),
                ("delete_after", models.DateTimeField()),
                ("next_attempt_at", models.DateTimeField()),
                ("attempts", models.PositiveSmallIntegerField(db_default=0, default=0)),
            ],
            options={
                "db_table": "board_object_deletion",
                "ordering": ["delete_after", "key"],
                "indexes": [
                    models.Index(
                        fields=["delete_after"], name="board_object_deletion_due"
                    ),
                    models.Index(
                        fields=["next_attempt_at", "key"],
                        name="board_object_deletion_next",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="image",
            name="object_key",
            field=models.CharField(editable=False, max_length=120, null=True),
        ),
        migrations.AlterField(
            model_name="image",
            name="content",
            field=models.BinaryField(null=True),
        ),
    ]
