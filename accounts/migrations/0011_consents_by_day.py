from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    # Members are written while the index is built.
    atomic = False
    dependencies = [("accounts", "0010_delete_account_codes")]

    operations = [
        # An interrupted attempt leaves an invalid index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS consent_by_day", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            model_name="consent",
            index=models.Index(
                condition=Q(accepted=True),
                fields=["document", "at"],
                name="consent_by_day",
            ),
        ),
    ]
