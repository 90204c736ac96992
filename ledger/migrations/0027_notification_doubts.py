from django.db import migrations, models


class Migration(migrations.Migration):
    """Columns of a busy table, in a transaction of their own."""

    dependencies = [
        ('ledger', '0026_cards'),
    ]

    operations = [
        migrations.AddField(
            model_name='notification',
            name='doubts',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='notification',
            name='is_confirmed',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='notification',
            name='layout_digest',
            field=models.CharField(max_length=64, null=True),
        ),
    ]
