"""The sign-up switch as a row, so that staff find it in the admin."""

from django.db import migrations


def plant(apps, schema_editor):
    settings = apps.get_model("accounts", "ApplicationSetting")
    settings.objects.get_or_create(name="signup_enabled", defaults={"enabled": True})


class Migration(migrations.Migration):
    dependencies = [("accounts", "0099_sql")]
    operations = [migrations.RunPython(plant, migrations.RunPython.noop)]
