from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0012_client_ids")]

    operations = [
        migrations.AddField(
            model_name="mergedentry",
            name="client_id",
            field=models.UUIDField(null=True),
        ),
    ]
