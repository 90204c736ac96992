import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
import django.db.models.lookups
import django.utils.timezone
from django.conf import settings
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models

from core.db.migrations import sql_file


def insert_signup_setting(apps, schema_editor):
    """Have the switch as a row from the start, so that staff find it in the admin."""
    settings = apps.get_model("accounts", "ApplicationSetting")
    settings.objects.create(name="signup_enabled", enabled=True)


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        TrigramExtension(),
        # The tables, as makemigrations writes them.
        migrations.CreateModel(
            name="ApplicationSetting",
            fields=[
                (
                    "name",
                    models.CharField(
                        choices=[("signup_enabled", "sign-up is open")],
                        max_length=50,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "enabled",
                    models.BooleanField(default=True, verbose_name="enabled"),
                ),
            ],
            options={
                "db_table": "application_setting",
                "verbose_name": "application setting",
                "verbose_name_plural": "application settings",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="AuditLogEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("actor_id", models.BigIntegerField()),
                ("actor_name", models.CharField(max_length=50)),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("ADDITION", "Addition"),
                            ("CHANGE", "Change"),
                            ("DELETION", "Deletion"),
                        ],
                        max_length=8,
                    ),
                ),
                ("target_type", models.CharField(max_length=100)),
                ("target_id", models.CharField(max_length=100)),
                ("target_label", models.CharField(max_length=200)),
                ("text", models.CharField(blank=True, default="", max_length=500)),
                (
                    "request_id",
                    models.CharField(blank=True, default="", max_length=24),
                ),
            ],
            options={
                "verbose_name": "log entry",
                "verbose_name_plural": "log entries",
                "db_table": "audit_log",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        fields=["target_type", "target_id", "-id"],
                        name="audit_log_target",
                    ),
                    models.Index(fields=["actor_id", "-id"], name="audit_log_actor"),
                ],
            },
        ),
        migrations.CreateModel(
            name="MemberCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("role", models.CharField(max_length=6)),
                ("status", models.CharField(max_length=9)),
                ("plan", models.CharField(max_length=7)),
                ("count", models.BigIntegerField()),
            ],
            options={
                "db_table": "member_count",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="RateLimit",
            fields=[
                (
                    "key",
                    models.CharField(max_length=200, primary_key=True, serialize=False),
                ),
                (
                    "attempts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.DateTimeField(), size=None
                    ),
                ),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "db_table": "rate_limit",
                "ordering": ["key"],
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("login_id", models.CharField(max_length=50)),
                ("display_name", models.CharField(max_length=100)),
                ("email", models.EmailField(max_length=254)),
                (
                    "login_id_normalized",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.db.models.functions.text.Lower(
                            django.db.models.functions.comparison.Collate(
                                "login_id", "C"
                            )
                        ),
                        output_field=models.CharField(max_length=50),
                    ),
                ),
                (
                    "email_normalized",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                django.db.models.lookups.Exact(
                                    models.Func(
                                        "email",
                                        function="OCTET_LENGTH",
                                        output_field=models.IntegerField(),
                                    ),
                                    django.db.models.functions.text.Length("email"),
                                ),
                                then=django.db.models.functions.text.Lower(
                                    django.db.models.functions.comparison.Collate(
                                        "email", "C"
                                    )
                                ),
                            )
                        ),
                        output_field=models.CharField(max_length=254, null=True),
                    ),
                ),
                (
                    "email_changed_at",
                    models.DateTimeField(blank=True, editable=False, null=True),
                ),
                (
                    "is_email_by_administrator",
                    models.BooleanField(default=False, editable=False),
                ),
                (
                    "provider",
                    models.CharField(
                        choices=[("LOCAL", "Local"), ("IDP", "Idp")],
                        default="LOCAL",
                        max_length=5,
                    ),
                ),
                ("idp_id", models.CharField(blank=True, max_length=255, null=True)),
                (
                    "idp_picture",
                    models.CharField(blank=True, default="", max_length=2048),
                ),
                ("profile_image", models.TextField(blank=True, default="")),
                (
                    "avatar_version",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.db.models.functions.text.MD5(
                            django.db.models.functions.comparison.NullIf(
                                "profile_image", models.Value("")
                            )
                        ),
                        output_field=models.CharField(max_length=32, null=True),
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("MEMBER", "Member"), ("ADMIN", "Admin")],
                        default="MEMBER",
                        max_length=6,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("ACTIVE", "Active"), ("SUSPENDED", "Suspended")],
                        default="ACTIVE",
                        max_length=9,
                    ),
                ),
                (
                    "plan",
                    models.CharField(
                        choices=[("FREE", "Free"), ("PREMIUM", "Premium")],
                        default="FREE",
                        max_length=7,
                    ),
                ),
                ("plan_expires_at", models.DateTimeField(blank=True, null=True)),
                (
                    "premium_since",
                    models.DateTimeField(blank=True, editable=False, null=True),
                ),
                (
                    "plan_product",
                    models.CharField(blank=True, default="", max_length=100),
                ),
                ("plan_auto_renew", models.BooleanField(default=False)),
                ("points", models.IntegerField(default=0)),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
            ],
            options={
                "db_table": "member",
                "verbose_name": "member",
                "verbose_name_plural": "members",
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["email_normalized"], name="member_email"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Upper("login_id"),
                            name="gin_trgm_ops",
                        ),
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Upper("display_name"),
                            name="gin_trgm_ops",
                        ),
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Upper("email"),
                            name="gin_trgm_ops",
                        ),
                        name="member_search",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("plan", "PREMIUM"), ("plan_auto_renew", False)
                        ),
                        fields=["plan_expires_at"],
                        name="member_plan_ends",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("plan", "PREMIUM"), ("plan_expires_at__isnull", False)
                        ),
                        fields=["plan_expires_at"],
                        name="member_plan_expiry",
                    ),
                    models.Index(
                        condition=models.Q(("role", "ADMIN")),
                        fields=["-id"],
                        name="member_admins",
                    ),
                    models.Index(
                        models.Func(
                            "id",
                            output_field=models.TextField(),
                            template="encode(sha256(decode(%(expressions)s::text, 'escape')), 'hex')",
                        ),
                        name="member_account_id_hash",
                    ),
                    models.Index(
                        condition=models.Q(("status", "SUSPENDED")),
                        fields=["-id"],
                        name="member_suspended",
                    ),
                    models.Index(
                        condition=models.Q(("status", "CLOSED")),
                        fields=["id"],
                        name="member_closed",
                    ),
                    models.Index(
                        condition=models.Q(("plan", "PREMIUM")),
                        fields=["-id"],
                        name="member_premium",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("login_id_normalized__isnull", False)),
                        fields=("login_id_normalized",),
                        name="member_login_id_unique",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("login_id__regex", "^[A-Za-z0-9._-]+$")),
                        name="member_login_id_characters",
                    ),
                    models.UniqueConstraint(
                        fields=("idp_id",), name="member_idp_id_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("points__gte", 0)),
                        name="member_points_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuthSession",
            fields=[
                (
                    "key_hash",
                    models.CharField(max_length=64, primary_key=True, serialize=False),
                ),
                ("plan", models.CharField(default="", max_length=7)),
                ("display_name", models.CharField(default="", max_length=100)),
                ("data", models.JSONField(default=dict)),
                ("version", models.BigIntegerField(default=1)),
                ("created_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(db_index=True)),
                ("ip_address", models.GenericIPAddressField(null=True)),
                ("user_agent", models.CharField(default="", max_length=200)),
                (
                    "member",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "auth_session",
                "ordering": ["-last_seen_at", "key_hash"],
            },
        ),
        migrations.CreateModel(
            name="PointHistory",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("points", models.IntegerField()),
                (
                    "reason",
                    models.CharField(
                        choices=[("POST", "Post"), ("COMMENT", "Comment")], max_length=7
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("award_day", models.DateField(editable=False, null=True)),
                ("award_number", models.SmallIntegerField(editable=False, null=True)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="awards",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "point_history",
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(
                        fields=["member", "-created_at", "-id"],
                        name="point_history_list",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("member", "award_day", "award_number"),
                        name="point_history_award_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("award_number__gte", 1), ("award_number__lte", 3)
                        ),
                        name="point_history_daily_limit",
                    ),
                ],
            },
        ),
        # Functions, triggers and first rows.
        sql_file("accounts", "premium"),
        sql_file("accounts", "sessions"),
        sql_file("accounts", "member_counts"),
        sql_file("accounts", "email_changes"),
        sql_file("accounts", "audit_log"),
        migrations.RunPython(insert_signup_setting, migrations.RunPython.noop),
    ]
