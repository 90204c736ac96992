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
                    "order_hash",
                    models.CharField(max_length=64, primary_key=True, serialize=False),
                ),
            ],
            options={
                "db_table": "iap_spent_order",
            },
        ),
        migrations.CreateModel(
            name="AccountToken",
            fields=[
                (
                    "member",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("uuid", models.UUIDField(editable=False, unique=True)),
                (
                    "digest",
                    models.CharField(editable=False, max_length=64, unique=True),
                ),
            ],
            options={
                "db_table": "store_account_token",
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
                ("sealed_body", models.BinaryField()),
                ("kind", models.CharField(max_length=60)),
                ("package", models.CharField(blank=True, max_length=255)),
                (
                    "token_hash",
                    models.CharField(blank=True, db_index=True, max_length=64),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("PENDING", "Pending"),
                            ("REFRESHED", "purchase refreshed from the store"),
                            ("ASSIGNED", "purchase given to its owner"),
                            ("NO_OWNER", "purchase without an owner"),
                            ("UNKNOWN_PURCHASE", "purchase not recorded"),
                            ("OTHER_PACKAGE", "other application"),
                            (
                                "NO_SUBSCRIPTION",
                                "not about a subscription, or unreadable",
                            ),
                            ("REJECTED", "purchase belongs to another account"),
                        ],
                        default="PENDING",
                        max_length=16,
                    ),
                ),
                ("processed_at", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.IntegerField(default=0)),
                (
                    "next_attempt_at",
                    models.DateTimeField(default=django.utils.timezone.now),
                ),
                ("looked_up_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "store_notification",
                "verbose_name": "store notification",
                "verbose_name_plural": "store notifications",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("processed_at", None)),
                        fields=["next_attempt_at"],
                        name="store_notification_pending",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("outcome__in", ("PENDING", "NO_OWNER")),
                                ("processed_at", None),
                            ),
                            models.Q(
                                ("processed_at__isnull", False),
                                models.Q(("outcome", "PENDING"), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="store_notification_outcome_when_processed",
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
                ("sealed_token", models.BinaryField()),
                ("token_hash", models.CharField(max_length=64)),
                (
                    "replaces_token_hash",
                    models.CharField(
                        blank=True, db_index=True, default="", max_length=64
                    ),
                ),
                ("product_id", models.CharField(max_length=100)),
                ("state", models.CharField(blank=True, max_length=100)),
                ("purchased_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("auto_renew", models.BooleanField()),
                ("is_active", models.BooleanField(default=True)),
                ("replaced_at", models.DateTimeField(blank=True, null=True)),
                ("is_acknowledged", models.BooleanField(default=True)),
                ("acknowledged_at", models.DateTimeField(blank=True, null=True)),
                ("is_out_of_app", models.BooleanField(default=False)),
                ("checked_at", models.DateTimeField()),
                (
                    "paid_amount",
                    models.DecimalField(
                        blank=True, decimal_places=6, max_digits=18, null=True
                    ),
                ),
                (
                    "paid_currency",
                    models.CharField(blank=True, default="", max_length=3),
                ),
                ("is_paid_confirmed", models.BooleanField(default=False)),
                ("refunded_at", models.DateTimeField(blank=True, null=True)),
                (
                    "refunded_amount",
                    models.DecimalField(
                        blank=True, decimal_places=6, max_digits=18, null=True
                    ),
                ),
                ("order_due_since", models.DateTimeField(blank=True, null=True)),
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
                "verbose_name": "purchase",
                "verbose_name_plural": "purchases",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        fields=["member", "-expires_at"], name="iap_purchase_member"
                    ),
                    models.Index(fields=["token_hash"], name="iap_purchase_token"),
                    models.Index(fields=["purchased_at"], name="iap_purchase_bought"),
                    models.Index(
                        condition=models.Q(("is_active", True)),
                        fields=["expires_at"],
                        name="iap_purchase_counted",
                    ),
                    models.Index(
                        condition=models.Q(("auto_renew", True), ("is_active", True)),
                        fields=["expires_at"],
                        name="iap_purchase_renewing",
                    ),
                    models.Index(
                        condition=models.Q(("store", "test")),
                        fields=["member", "expires_at"],
                        name="iap_purchase_test_mode",
                    ),
                    models.Index(
                        condition=models.Q(("is_acknowledged", False)),
                        fields=["id"],
                        name="iap_purchase_unacknowledged",
                    ),
                    models.Index(
                        condition=models.Q(("order_due_since__isnull", False)),
                        fields=["order_due_since"],
                        name="iap_purchase_order_due",
                    ),
                    models.Index(
                        condition=models.Q(("refunded_at__isnull", False)),
                        fields=["refunded_at"],
                        name="iap_purchase_refunded",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("order_id", "store"), name="iap_purchase_unique_order"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("order_id", ""), _negated=True),
                            models.Q(("token_hash", ""), _negated=True),
                        ),
                        name="iap_purchase_has_order_and_token",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("replaced_at", None), ("is_active", False), _connector="OR"
                        ),
                        name="iap_purchase_replaced_is_inactive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("refunded_amount", None),
                            ("refunded_at__isnull", False),
                            _connector="OR",
                        ),
                        name="iap_purchase_refunded_amount_has_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("paid_amount", None),
                                ("paid_amount__gte", 0),
                                _connector="OR",
                            ),
                            models.Q(
                                ("refunded_amount", None),
                                ("refunded_amount__gte", 0),
                                _connector="OR",
                            ),
                        ),
                        name="iap_purchase_amounts_not_negative",
                    ),
                ],
            },
        ),
    ]
