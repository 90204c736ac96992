import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.functions
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
                    "authenticated_email",
                    models.CharField(
                        blank=True, default="", editable=False, max_length=254
                    ),
                ),
                (
                    "verified_email",
                    models.CharField(
                        blank=True, default="", editable=False, max_length=254
                    ),
                ),
                (
                    "pending_email",
                    models.CharField(
                        blank=True, default="", editable=False, max_length=254
                    ),
                ),
                (
                    "locale",
                    models.CharField(
                        choices=[("en", "En"), ("ko", "Ko")],
                        default="en",
                        max_length=2,
                    ),
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
                    "has_second_factor",
                    models.BooleanField(default=False, editable=False),
                ),
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
                (
                    "public_id",
                    models.UUIDField(
                        db_default=django.contrib.postgres.functions.RandomUUID(),
                        editable=False,
                        unique=True,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("SESSION", "Session"), ("TOKEN", "Token")],
                        db_default="SESSION",
                        editable=False,
                        max_length=7,
                    ),
                ),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=30),
                        null=True,
                        size=None,
                    ),
                ),
                ("name", models.CharField(db_default="", default="", max_length=60)),
                ("plan", models.CharField(default="", max_length=7)),
                ("display_name", models.CharField(default="", max_length=100)),
                ("data", models.JSONField(default=dict)),
                ("version", models.BigIntegerField(default=1)),
                ("created_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField(db_index=True)),
                ("fresh_until", models.DateTimeField(null=True)),
                ("expiry_notified_at", models.DateTimeField(null=True)),
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
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "SESSION"), ("scopes__isnull", True)),
                            models.Q(
                                ("kind", "TOKEN"),
                                ("member__isnull", False),
                                ("scopes__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="auth_session_scopes",
                    )
                ],
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
        migrations.CreateModel(
            name="CodeRequest",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("VERIFY_EMAIL", "Verify Email"),
                            ("RESET_PASSWORD", "Reset Password"),
                        ],
                        max_length=14,
                    ),
                ),
                ("target", models.BinaryField(null=True)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(db_index=True)),
                ("processed_at", models.DateTimeField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="code_requests",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "code_request",
                "ordering": ["created_at", "id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("processed_at__isnull", True)),
                        fields=["created_at"],
                        name="code_request_waiting",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Mail",
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
                ("template", models.CharField(max_length=40)),
                ("message_id", models.CharField(max_length=255, unique=True)),
                ("content", models.BinaryField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("WAITING", "Waiting"),
                            ("SENT", "Sent"),
                            ("GIVEN_UP", "Given Up"),
                        ],
                        default="WAITING",
                        max_length=8,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "next_attempt_at",
                    models.DateTimeField(default=django.utils.timezone.now),
                ),
                ("expires_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("error", models.CharField(default="", max_length=60)),
                (
                    "member",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mails",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "mail",
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "WAITING")),
                        fields=["next_attempt_at", "id"],
                        name="mail_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("ended_at__isnull", False)),
                        fields=["ended_at"],
                        name="mail_ended",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("content__isnull", False),
                                ("ended_at__isnull", True),
                                ("state", "WAITING"),
                            ),
                            models.Q(
                                models.Q(("state", "WAITING"), _negated=True),
                                ("content__isnull", True),
                                ("ended_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="mail_content_until_ended",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Code",
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
                ("email", models.EmailField(max_length=254)),
                ("code_hash", models.BinaryField()),
                (
                    "mail",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="codes",
                        to="accounts.mail",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="codes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="codes",
                        to="accounts.coderequest",
                    ),
                ),
            ],
            options={
                "db_table": "code",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("request", "member"), name="code_one_of_a_request"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name='LoginTicket',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('auth_hash', models.CharField(max_length=128)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('expires_at', models.DateTimeField(db_index=True)),
                ('device_name', models.CharField(default='', max_length=60)),
                ('extra', models.JSONField(default=dict)),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='login_tickets', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'login_ticket',
            },
        ),
        migrations.CreateModel(
            name='TotpFactor',
            fields=[
                ('member', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='totp_factor', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('sealed_seed', models.BinaryField(null=True)),
                ('last_step', models.BigIntegerField(default=0)),
                ('confirmed_at', models.DateTimeField(null=True)),
                ('pending_seed', models.BinaryField(null=True)),
                ('pending_until', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'totp_factor',
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('confirmed_at__isnull', True), ('sealed_seed__isnull', True)), models.Q(('confirmed_at__isnull', False), ('sealed_seed__isnull', False)), _connector='OR'), name='totp_factor_confirmed')],
            },
        ),
        migrations.CreateModel(
            name='RecoveryCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('index', models.CharField(max_length=2)),
                ('hash', models.CharField(max_length=128)),
                ('spent_at', models.DateTimeField(null=True)),
                ('member', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recovery_codes', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'recovery_code',
                'constraints': [models.UniqueConstraint(fields=('member', 'index'), name='recovery_code_unique')],
            },
        ),
        migrations.CreateModel(
            name='SecurityLogEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('LOGIN', 'Login'), ('LOGIN_FAILED', 'Login Failed'), ('LOGOUT', 'Logout'), ('SESSION_ENDED', 'Session Ended'), ('PASSWORD_CHANGED', 'Password Changed'), ('PASSWORD_RESET', 'Password Reset'), ('EMAIL_CHANGED', 'Email Changed'), ('FACTOR_ADDED', 'Factor Added'), ('FACTOR_REMOVED', 'Factor Removed'), ('IDENTITY_LINKED', 'Identity Linked'), ('IDENTITY_REMOVED', 'Identity Removed'), ('TOKEN_CREATED', 'Token Created'), ('TOKEN_REVOKED', 'Token Revoked'), ('EXPORTED', 'Exported')], max_length=16)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('is_by_staff', models.BooleanField(default=False)),
                ('ip_address', models.GenericIPAddressField(null=True)),
                ('device_name', models.CharField(default='', max_length=60)),
                ('client', models.CharField(default='', max_length=60)),
                ('detail', models.CharField(default='', max_length=60)),
                ('member', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='security_log', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'security_event',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['member', '-id'], name='security_event_list'), models.Index(fields=['member', 'kind', '-at'], name='security_event_of_kind'), models.Index(fields=['at'], name='security_event_age')],
            },
        ),
        # Functions, triggers and first rows.
        sql_file("accounts", "premium", "0001"),
        sql_file("accounts", "sessions", "0001"),
        sql_file("accounts", "member_counts", "0001"),
        sql_file("accounts", "email_changes", "0001"),
        sql_file("accounts", "audit_log", "0001"),
        migrations.RunPython(insert_signup_setting, migrations.RunPython.noop),
    ]
