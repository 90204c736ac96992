from django.db import migrations, models

# In the order of the writers, so that none of them is in a deadlock with this.
VERSIONED = (
    *("category", "wallet", "tag", "quickentry", "recurringrule", "stock", "trade"),
    *("budget", "budgetincome", "valuation", "entry"),
)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0006_excluded_entries")]

    operations = [
        *(
            migrations.AddField(
                model,
                "version",
                models.BigIntegerField(db_default=0, editable=False),
            )
            for model in VERSIONED
        ),
        migrations.AddField("ledger", "revision", models.BigIntegerField(db_default=0)),
    ]
