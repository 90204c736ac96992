import core.db.constraints
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0020_operations'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Import',
            fields=[
                ('member', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=20)),
                ('header_digest', models.BinaryField(null=True)),
                ('tables', models.BinaryField(null=True)),
                ('stored_bytes', models.IntegerField()),
                ('choices', models.JSONField()),
                ('description', models.JSONField()),
                ('reading', models.IntegerField(default=1)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('committed_at', models.DateTimeField(null=True)),
                ('result', models.JSONField(null=True)),
            ],
            options={
                'db_table': 'account_import',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='ImportKey',
            fields=[
                ('member', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('pk', models.CompositePrimaryKey('member_id', 'digest', 'wallet_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('digest', models.BinaryField(max_length=16)),
                ('wallet_id', models.BigIntegerField()),
                ('entry_id', models.BigIntegerField(null=True)),
                ('operation_id', models.BigIntegerField()),
                ('freed_by', models.BigIntegerField(null=True)),
            ],
            options={
                'db_table': 'account_import_key',
                'ordering': ['digest'],
            },
        ),
        migrations.CreateModel(
            name='ImportMapping',
            fields=[
                ('member', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('pk', models.CompositePrimaryKey('member_id', 'header_digest', blank=True, editable=False, primary_key=True, serialize=False)),
                ('header_digest', models.BinaryField(max_length=16)),
                ('mapping', models.JSONField()),
                ('used_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'account_import_mapping',
                'ordering': ['-used_at'],
            },
        ),
        migrations.CreateModel(
            name='ImportRow',
            fields=[
                ('member', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('pk', models.CompositePrimaryKey('member_id', 'import_id', 'row', blank=True, editable=False, primary_key=True, serialize=False)),
                ('import_id', models.BigIntegerField()),
                ('row', models.IntegerField()),
                ('status', models.CharField(choices=[('NEW', 'New'), ('DUPLICATE', 'Duplicate'), ('LIKELY_DUPLICATE', 'Likely Duplicate'), ('TRANSFER', 'Transfer'), ('PAIRED', 'Paired'), ('UNPAIRED', 'Unpaired'), ('REFUND', 'Refund'), ('INVALID', 'Invalid')], max_length=16)),
                ('action', models.CharField(choices=[('IMPORT', 'Import'), ('SKIP', 'Skip'), ('MERGE', 'Merge')], max_length=6)),
                ('chosen', models.CharField(choices=[('IMPORT', 'Import'), ('SKIP', 'Skip'), ('MERGE', 'Merge')], max_length=6, null=True)),
                ('edits', models.JSONField(null=True)),
                ('record', models.JSONField(null=True)),
                ('learned', models.CharField(max_length=100, null=True)),
                ('errors', models.JSONField(null=True)),
                ('reason', models.CharField(max_length=24)),
                ('entry_id', models.BigIntegerField(null=True)),
                ('other_row', models.IntegerField(null=True)),
            ],
            options={
                'db_table': 'account_import_row',
                'ordering': ['row'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='operation',
            name='account_operation_kind_known',
        ),
        migrations.AlterField(
            model_name='operation',
            name='kind',
            field=models.CharField(choices=[('delete', 'Delete'), ('merge', 'Merge'), ('unmerge', 'Unmerge'), ('bulkChange', 'Bulk Change'), ('batch', 'Batch'), ('import', 'Import'), ('restore', 'Restore'), ('undo', 'Undo')], max_length=12),
        ),
        # Checked in the next migration, while operations are read and written.
        AddConstraintNotValid(
            model_name='operation',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['delete', 'merge', 'unmerge', 'bulkChange', 'batch', 'import', 'restore', 'undo'])), name='account_operation_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=core.db.constraints.TablePrimaryKey(fields=('member', 'id'), name='account_import_pkey'),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=core.db.constraints.CompositeForeignKey(fields=('member',), name='account_import_in_ledger', on_delete='CASCADE', to='ledger.Ledger', to_fields=('member',)),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('committed_at', None), ('result', None)), models.Q(('committed_at__isnull', False), ('result__isnull', False)), _connector='OR'), name='account_import_result_whole'),
        ),
        migrations.AddIndex(
            model_name='importkey',
            index=models.Index(fields=['member', 'entry_id'], name='account_import_key_by_entry'),
        ),
        migrations.AddConstraint(
            model_name='importkey',
            constraint=core.db.constraints.CompositeForeignKey(fields=('member',), name='account_import_key_in_ledger', on_delete='CASCADE', to='ledger.Ledger', to_fields=('member',)),
        ),
        migrations.AddConstraint(
            model_name='importmapping',
            constraint=core.db.constraints.CompositeForeignKey(fields=('member',), name='account_import_mapping_in_ledger', on_delete='CASCADE', to='ledger.Ledger', to_fields=('member',)),
        ),
        migrations.AddIndex(
            model_name='importrow',
            index=models.Index(fields=['member', 'import_id', 'status', 'row'], name='account_import_row_by_status'),
        ),
        migrations.AddConstraint(
            model_name='importrow',
            constraint=core.db.constraints.CompositeForeignKey(fields=('member', 'import_id'), name='account_import_row_of_import', on_delete='CASCADE', to='ledger.Import', to_fields=('member', 'id')),
        ),
        migrations.AddConstraint(
            model_name='importrow',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['NEW', 'DUPLICATE', 'LIKELY_DUPLICATE', 'TRANSFER', 'PAIRED', 'UNPAIRED', 'REFUND', 'INVALID'])), name='account_import_row_status_known'),
        ),
    ]
