from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0013_client_ids_of_merged_entries")]

    operations = [
        # It writes the table anew, which has a row for each value that was typed in.
        migrations.RunSQL(
            "CREATE SEQUENCE account_valuation_id_seq",
            "DROP SEQUENCE IF EXISTS account_valuation_id_seq",
        ),
        migrations.AddField(
            model_name="valuation",
            name="id",
            field=models.BigIntegerField(
                db_default=models.Func(
                    template="nextval('account_valuation_id_seq'::regclass)"
                ),
                editable=False,
            ),
        ),
        migrations.RunSQL(
            "ALTER SEQUENCE account_valuation_id_seq OWNED BY account_valuation.id",
            "ALTER SEQUENCE account_valuation_id_seq OWNED BY NONE",
        ),
        migrations.AddConstraint(
            model_name="valuation",
            constraint=models.UniqueConstraint(
                fields=["member", "id"], name="account_valuation_id_unique"
            ),
        ),
    ]
