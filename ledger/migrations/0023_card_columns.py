from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    # A transaction of its own: writers wait for these tables.
    dependencies = [("ledger", "0022_imports")]

    operations = [
        migrations.AddField(
            model_name='entry',
            name='bill_month',
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name='entry',
            name='installment_parts',
            field=ArrayField(base_field=models.BigIntegerField(), null=True, size=None),
        ),
        migrations.AddField(
            model_name='mergedentry',
            name='bill_month',
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name='mergedentry',
            name='installment_parts',
            field=ArrayField(base_field=models.BigIntegerField(), null=True, size=None),
        ),
        AddConstraintNotValid(
            model_name='entry',
            constraint=models.CheckConstraint(condition=models.Q(('installment_parts', None), ('installment_parts__len', models.F('installment_months')), _connector='OR'), name='account_entry_parts_whole'),
        ),
        AddConstraintNotValid(
            model_name='entry',
            constraint=models.CheckConstraint(condition=models.Q(('bill_month', None), ('bill_month__day', 1), _connector='OR'), name='account_entry_bill_month'),
        ),
    ]
