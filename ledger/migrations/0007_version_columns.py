from django.db import migrations, models

VERSIONED = (
    *("budget", "budgetincome", "category", "entry", "quickentry", "recurringrule"),
    *("stock", "tag", "trade", "valuation", "wallet"),
)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0006_excluded_entries")]

    operations = [
        migrations.AddField("ledger", "revision", models.BigIntegerField(db_default=0)),
        *(
            migrations.AddField(
                model,
                "version",
                models.BigIntegerField(db_default=0, editable=False),
            )
            for model in VERSIONED
        ),
    ]
