import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("board", "0003_hidden_posts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="comment",
            name="hidden_reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("AUTHOR", "Author"),
                    ("STAFF", "Staff"),
                    ("REPORTS", "Reports"),
                    ("HELD", "Held"),
                    ("BLIND", "Blind"),
                ],
                max_length=7,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="comment",
            name="remove_after",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="comment",
            name="parent",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="board.comment",
            ),
        ),
        migrations.AddField(
            model_name="comment",
            name="reply_to",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="board.comment",
            ),
        ),
        migrations.AlterField(
            model_name="comment",
            name="member",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
