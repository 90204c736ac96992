"""The index by which the hourly job finds plans that have passed."""

from django.db import migrations

CREATE = """
CREATE INDEX member_plan_expiry ON member (plan_expires_at)
WHERE plan = 'PREMIUM' AND plan_expires_at IS NOT NULL
"""
DROP = "DROP INDEX member_plan_expiry"


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial"), ("accounts", "0005_premium_by_role")]
    operations = [migrations.RunSQL(CREATE, DROP)]
