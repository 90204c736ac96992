from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Lines are added while the indexes are built.
    atomic = False
    dependencies = [("accounts", "0013_announcements_and_switches")]

    operations = [
        # An interrupted attempt leaves an invalid index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS audit_log_actor_name",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="auditlogentry",
            index=models.Index(fields=["actor_name", "-id"], name="audit_log_actor_name"),
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS audit_log_action",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="auditlogentry",
            index=models.Index(fields=["action", "-id"], name="audit_log_action"),
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS audit_log_target_id",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="auditlogentry",
            index=models.Index(fields=["target_id", "-id"], name="audit_log_target_id"),
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS audit_log_at",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="auditlogentry",
            index=models.Index(fields=["at"], name="audit_log_at"),
        ),
    ]
