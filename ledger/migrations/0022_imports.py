from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0021_imports'),
    ]

    operations = [
        ValidateConstraint(
            model_name='operation',
            name='account_operation_kind_known',
        ),
    ]
