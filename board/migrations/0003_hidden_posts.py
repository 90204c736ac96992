from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("board", "0002_post_keys")]

    operations = [
        migrations.AddField(
            model_name="post",
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
            model_name="post",
            name="remove_after",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
