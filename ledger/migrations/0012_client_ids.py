from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0011_deletions")]

    operations = [
        # Alone: writers lock the ledger before its entries.
        migrations.AddField(
            model_name="entry",
            name="client_id",
            field=models.UUIDField(editable=False, null=True),
        ),
    ]
