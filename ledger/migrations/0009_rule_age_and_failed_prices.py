"""When a rule was made, and whether the last look-up of a price failed.

Rules that were there before count as old ones: what fell into a lapse stays missed.
"""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0008_notifications")]
    operations = [
        migrations.AddField(
            model_name="recurringrule",
            name="created_at",
            field=models.DateTimeField(
                db_default=django.db.models.functions.datetime.Now()
            ),
        ),
        migrations.RunSQL(
            "UPDATE account_recurring SET created_at = 'epoch'",
            migrations.RunSQL.noop,
        ),
        migrations.AddField(
            model_name="stockquote",
            name="failed",
            field=models.BooleanField(db_default=False),
        ),
    ]
