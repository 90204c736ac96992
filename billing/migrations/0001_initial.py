import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="RedeemedOrder",
            fields=[
                (
                    "digest",
                    models.CharField(max_length=64, primary_key=True, serialize=False),
                ),
            ],
            options={
                "db_table": "iap_spent_order",
            },
        ),
        migrations.CreateModel(
            name="StoreNotification",
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
                (
                    "message_id",
                    models.CharField(max_length=255, null=True, unique=True),
                ),
                (
                    "received_at",
                    models.DateTimeField(
                        db_index=True, default=django.utils.timezone.now
                    ),
                ),
                ("body", models.TextField()),
                ("kind", models.CharField(max_length=60)),
                ("package", models.CharField(blank=True, max_length=255)),
                (
                    "token_digest",
                    models.CharField(blank=True, db_index=True, max_length=64),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("WAITING", "Waiting"),
                            ("FOLLOWED", "purchase refreshed from the store"),
                            ("UNKNOWN_PURCHASE", "purchase not recorded"),
                            ("OTHER_PACKAGE", "other application"),
                            (
                                "NO_SUBSCRIPTION",
                                "not about a subscription, or unreadable",
                            ),
                            ("REFUSED", "purchase belongs to another account"),
                        ],
                        default="WAITING",
                        max_length=16,
                    ),
                ),
                ("handled_at", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.IntegerField(default=0)),
                ("retry_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "db_table": "store_notification",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("handled_at", None)),
                        fields=["retry_at"],
                        name="store_notification_waiting",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("handled_at", None), ("outcome", "WAITING")),
                            models.Q(
                                ("handled_at__isnull", False),
                                models.Q(("outcome", "WAITING"), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="store_notification_outcome_when_handled",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Purchase",
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
                ("store", models.CharField(max_length=20)),
                ("order_id", models.CharField(max_length=1000)),
                ("purchase_token", models.TextField()),
                ("token_digest", models.CharField(max_length=64)),
                (
                    "replaced_digest",
                    models.CharField(
                        blank=True, db_index=True, default="", max_length=64
                    ),
                ),
                ("product_id", models.CharField(max_length=100)),
                ("state", models.CharField(blank=True, max_length=100)),
                ("purchased_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("auto_renew", models.BooleanField()),
                ("counts", models.BooleanField(default=True)),
                ("replaced_at", models.DateTimeField(blank=True, null=True)),
                ("acknowledged", models.BooleanField(default=True)),
                ("asked_at", models.DateTimeField()),
                (
                    "member",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="purchases",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "iap_purchase",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        fields=["member", "-expires_at"], name="iap_purchase_member"
                    ),
                    models.Index(fields=["token_digest"], name="iap_purchase_token"),
                    models.Index(
                        condition=models.Q(("auto_renew", True), ("counts", True)),
                        fields=["expires_at"],
                        name="iap_purchase_renewing",
                    ),
                    models.Index(
                        condition=models.Q(("acknowledged", False)),
                        fields=["id"],
                        name="iap_purchase_unacknowledged",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("order_id", "store"), name="iap_purchase_order_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("order_id", ""), _negated=True),
                            models.Q(("token_digest", ""), _negated=True),
                        ),
                        name="iap_purchase_named",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("replaced_at", None), ("counts", False), _connector="OR"
                        ),
                        name="iap_purchase_replaced_counts_not",
                    ),
                ],
            },
        ),
    ]
