from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    ValidateConstraint,
)
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('ledger', '0028_unsure_texts'),
    ]

    operations = [
        ValidateConstraint(model_name='taughtlayout', name='account_notification_layout_kind_known'),
        AddIndexConcurrently(
            model_name='notification',
            index=models.Index(condition=models.Q(('entry_id__isnull', False), ('is_confirmed', False)), fields=['member', 'entry_id'], name='account_notification_of_entry'),
        ),
        AddIndexConcurrently(
            model_name='notification',
            index=models.Index(condition=models.Q(('is_confirmed', True), ('layout_digest__isnull', False)), fields=['member', 'layout_digest'], name='account_notification_confirmed'),
        ),
        RemoveIndexConcurrently(
            model_name='notification',
            name='account_notification_with_text',
        ),
    ]
