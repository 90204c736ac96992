from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    # Members are written while the indexes are built.
    atomic = False
    dependencies = [("accounts", "0005_staff_and_silence")]

    operations = [
        # An interrupted attempt leaves an invalid index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS member_staff", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            model_name="member",
            index=models.Index(
                condition=Q(role__in=("ADMIN", "MODERATOR")),
                fields=["role", "-id"],
                name="member_staff",
            ),
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS member_suspension_ends",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="member",
            index=models.Index(
                condition=Q(suspended_until__isnull=False),
                fields=["suspended_until"],
                name="member_suspension_ends",
            ),
        ),
    ]
