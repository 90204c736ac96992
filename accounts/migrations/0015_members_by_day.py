from django.contrib.postgres.indexes import BrinIndex, OpClass
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    # Members are written while the index is built.
    atomic = False
    dependencies = [("accounts", "0014_audit_log_filters")]

    operations = [
        # An interrupted attempt leaves an invalid index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS member_written", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            model_name="member",
            index=BrinIndex(
                OpClass("created_at", name="timestamptz_minmax_multi_ops"),
                autosummarize=True,
                name="member_written",
            ),
        ),
    ]
