import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.db.models.lookups
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import core.db.constraints
from core.db.migrations import sql_file
from ledger.migrations._0001_default_categories import insert_default_categories


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("accounts", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Ledger",
            fields=[
                (
                    "member",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("income_count", models.IntegerField(db_default=0)),
                ("expense_count", models.IntegerField(db_default=0)),
                ("transfer_count", models.IntegerField(db_default=0)),
                ("pending_income_count", models.IntegerField(db_default=0)),
                ("pending_expense_count", models.IntegerField(db_default=0)),
                ("pending_transfer_count", models.IntegerField(db_default=0)),
                ("rollup_version", models.IntegerField(db_default=0)),
                ("captures_bank_texts", models.BooleanField(db_default=False)),
            ],
            options={
                "db_table": "account_ledger",
                "ordering": ["member_id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=django.db.models.lookups.LessThanOrEqual(
                            django.db.models.expressions.CombinedExpression(
                                django.db.models.expressions.CombinedExpression(
                                    django.db.models.expressions.CombinedExpression(
                                        django.db.models.expressions.CombinedExpression(
                                            django.db.models.expressions.CombinedExpression(
                                                models.F("income_count"),
                                                "+",
                                                models.F("expense_count"),
                                            ),
                                            "+",
                                            models.F("transfer_count"),
                                        ),
                                        "+",
                                        models.F("pending_income_count"),
                                    ),
                                    "+",
                                    models.F("pending_expense_count"),
                                ),
                                "+",
                                models.F("pending_transfer_count"),
                            ),
                            models.Value(500000),
                        ),
                        name="account_ledger_max_entries",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Category",
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
                    "type",
                    models.CharField(
                        choices=[("income", "Income"), ("expense", "Expense")],
                        max_length=7,
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("sort_order", models.IntegerField(default=0)),
                (
                    "level",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                models.Q(("parent__isnull", True)), then=models.Value(1)
                            ),
                            default=models.Value(2),
                            output_field=models.SmallIntegerField(null=True),
                        ),
                        output_field=models.SmallIntegerField(null=True),
                    ),
                ),
                (
                    "parent_level",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                models.Q(("parent__isnull", True)),
                                then=models.Value(None),
                            ),
                            default=models.Value(1),
                            output_field=models.SmallIntegerField(null=True),
                        ),
                        output_field=models.SmallIntegerField(null=True),
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.category",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "categories",
                "db_table": "account_category",
                "ordering": ["type", "sort_order", "id"],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="account_category_pkey"
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member",),
                        name="account_category_in_ledger",
                        to="ledger.Ledger",
                        to_fields=("member",),
                    ),
                    models.UniqueConstraint(
                        fields=("member", "type", "name"),
                        name="account_category_name_unique",
                    ),
                    models.UniqueConstraint(
                        fields=("member", "type", "id"), name="account_category_owner"
                    ),
                    models.UniqueConstraint(
                        fields=("member", "type", "id", "level"),
                        name="account_category_place",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("type__in", ["income", "expense"])),
                        name="account_category_type_known",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "type", "parent", "parent_level"),
                        name="account_category_parent_is_major",
                        to="self",
                        to_fields=("member", "type", "id", "level"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Budget",
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
                    "type",
                    models.CharField(default="expense", editable=False, max_length=7),
                ),
                ("year", models.SmallIntegerField()),
                ("month", models.SmallIntegerField()),
                ("amount", models.BigIntegerField()),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "category",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.category",
                    ),
                ),
            ],
            options={
                "db_table": "account_budget",
                "ordering": ["year", "month", "category__sort_order", "id"],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="account_budget_pkey"
                    ),
                    models.UniqueConstraint(
                        fields=("member", "year", "month", "category"),
                        name="account_budget_unique",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("type", "expense")),
                        name="account_budget_is_expense",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("month__range", (1, 12)), ("year__range", (1900, 2200))
                        ),
                        name="account_budget_month",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gt", 0)),
                        name="account_budget_amount_positive",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "type", "category"),
                        name="account_budget_category_owned",
                        to="ledger.Category",
                        to_fields=("member", "type", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CategoryRollup",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "month",
                        "type",
                        "category_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("month", models.DateField()),
                (
                    "type",
                    models.CharField(
                        choices=[("income", "Income"), ("expense", "Expense")],
                        max_length=7,
                    ),
                ),
                ("category_id", models.BigIntegerField()),
                ("amount", models.BigIntegerField()),
                ("refunded", models.BigIntegerField(db_default=0)),
                ("entry_count", models.IntegerField()),
                ("pending_count", models.IntegerField()),
                ("excluded_count", models.IntegerField(db_default=0)),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "account_category_total",
                "ordering": ["month", "type", "category_id"],
            },
        ),
        migrations.CreateModel(
            name="DayRollup",
            fields=[
                ("income", models.BigIntegerField()),
                ("expense", models.BigIntegerField()),
                ("refunded", models.BigIntegerField(db_default=0)),
                ("excluded_income", models.BigIntegerField(db_default=0)),
                ("excluded_expense", models.BigIntegerField(db_default=0)),
                ("flow_count", models.IntegerField(db_default=0)),
                ("excluded_count", models.IntegerField(db_default=0)),
                ("transferring_count", models.IntegerField(db_default=0)),
                ("income_count", models.IntegerField()),
                ("expense_count", models.IntegerField()),
                ("transfer_count", models.IntegerField(db_default=0)),
                ("pending_income_count", models.IntegerField()),
                ("pending_expense_count", models.IntegerField()),
                ("pending_transfer_count", models.IntegerField(db_default=0)),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "date",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("date", models.DateField()),
                ("wallet_change", models.BigIntegerField()),
                ("transferred", models.BigIntegerField(db_default=0)),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "account_day_total",
                "ordering": ["date"],
            },
        ),
        migrations.CreateModel(
            name="DefaultCategory",
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
                    "type",
                    models.CharField(
                        choices=[("income", "Income"), ("expense", "Expense")],
                        max_length=7,
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "name_en",
                    models.CharField(
                        blank=True, max_length=100, verbose_name="name in English"
                    ),
                ),
                ("sort_order", models.IntegerField(default=0)),
                (
                    "level",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                models.Q(("parent__isnull", True)), then=models.Value(1)
                            ),
                            default=models.Value(2),
                            output_field=models.SmallIntegerField(null=True),
                        ),
                        output_field=models.SmallIntegerField(null=True),
                    ),
                ),
                (
                    "parent_level",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                models.Q(("parent__isnull", True)),
                                then=models.Value(None),
                            ),
                            default=models.Value(1),
                            output_field=models.SmallIntegerField(null=True),
                        ),
                        output_field=models.SmallIntegerField(null=True),
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        limit_choices_to={"parent": None},
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="minors",
                        to="ledger.defaultcategory",
                    ),
                ),
            ],
            options={
                "verbose_name": "default category",
                "verbose_name_plural": "default categories",
                "db_table": "default_category",
                "ordering": ["type", "sort_order", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("type", "name"), name="default_category_name_unique"
                    ),
                    models.UniqueConstraint(
                        fields=("type", "id", "level"), name="default_category_place"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("type__in", ["income", "expense"])),
                        name="default_category_type_known",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("type", "parent", "parent_level"),
                        name="default_category_parent_is_major",
                        to="self",
                        to_fields=("type", "id", "level"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Wallet",
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
                ("name", models.CharField(max_length=100)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("CASH", "Cash"),
                            ("BANK", "Bank"),
                            ("CARD", "Card"),
                            ("CHECK_CARD", "Check Card"),
                            ("INVESTMENT", "Investment"),
                            ("PENSION", "Pension"),
                            ("LOAN", "Loan"),
                            ("PREPAID", "Prepaid"),
                            ("RECEIVABLE", "Receivable"),
                            ("OTHER", "Other"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "institution",
                    models.CharField(blank=True, default="", max_length=100),
                ),
                (
                    "encrypted_account_number",
                    models.CharField(
                        blank=True,
                        db_column="account_number",
                        default="",
                        max_length=255,
                    ),
                ),
                ("opening_balance", models.BigIntegerField(default=0)),
                ("manual_valuation", models.BooleanField(default=False)),
                ("current_value", models.BigIntegerField(blank=True, null=True)),
                ("archived", models.BooleanField(default=False)),
                ("memo", models.CharField(blank=True, default="", max_length=500)),
                ("sort_order", models.IntegerField(default=0)),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "account",
                "ordering": ["sort_order", "id"],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="account_pkey"
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member",),
                        name="account_in_ledger",
                        to="ledger.Ledger",
                        to_fields=("member",),
                    ),
                    models.UniqueConstraint(
                        fields=("member", "name"), name="account_name_unique"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Entry",
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
                ("date", models.DateField()),
                (
                    "type",
                    models.CharField(
                        choices=[
                            ("income", "Income"),
                            ("expense", "Expense"),
                            ("transfer", "Transfer"),
                        ],
                        max_length=8,
                    ),
                ),
                ("is_reversal", models.BooleanField(db_default=False, editable=False)),
                (
                    "category_type",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                models.Q(
                                    models.Q(
                                        ("type", "income"), ("is_reversal", False)
                                    ),
                                    models.Q(
                                        models.Q(("type", "income"), _negated=True),
                                        ("is_reversal", True),
                                    ),
                                    _connector="OR",
                                ),
                                then=models.Value("income"),
                            ),
                            default=models.Value("expense"),
                            output_field=models.CharField(max_length=7),
                        ),
                        output_field=models.CharField(max_length=7),
                    ),
                ),
                ("amount", models.BigIntegerField()),
                (
                    "line_count",
                    models.SmallIntegerField(db_default=0, editable=False, null=True),
                ),
                ("excluded", models.BooleanField(db_default=False)),
                ("time", models.TimeField(null=True)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("MANUAL", "Manual"),
                            ("NOTIFICATION", "Notification"),
                            ("RECURRING", "Recurring"),
                            ("IMPORT", "Import"),
                            ("BILL", "Bill"),
                            ("ADJUSTMENT", "Adjustment"),
                        ],
                        db_default="MANUAL",
                        editable=False,
                        max_length=12,
                    ),
                ),
                ("memo", models.CharField(blank=True, default="", max_length=500)),
                ("currency", models.CharField(max_length=3, null=True)),
                (
                    "original_amount",
                    models.DecimalField(decimal_places=4, max_digits=16, null=True),
                ),
                (
                    "exchange_rate",
                    models.DecimalField(decimal_places=8, max_digits=20, null=True),
                ),
                ("installment_months", models.SmallIntegerField(null=True)),
                ("pending", models.BooleanField(default=False)),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
                (
                    "category",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.category",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "refund_of",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.entry",
                    ),
                ),
                (
                    "to_wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.wallet",
                    ),
                ),
                (
                    "wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.wallet",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "entries",
                "db_table": "account_entry",
                "ordering": ["-date", "-id"],
                "indexes": [
                    models.Index(fields=["member", "-date"], name="account_entry_list"),
                    models.Index(
                        fields=["member", "category", "-date"],
                        name="account_entry_by_category",
                    ),
                    models.Index(
                        fields=["member", "wallet", "-date"],
                        name="account_entry_by_wallet",
                    ),
                    models.Index(
                        condition=models.Q(("pending", True)),
                        fields=["member", "-date"],
                        name="account_entry_pending",
                    ),
                    models.Index(
                        condition=models.Q(("installment_months__isnull", False)),
                        fields=["member", "wallet"],
                        name="account_entry_by_installments",
                    ),
                    models.Index(
                        condition=models.Q(("to_wallet__isnull", False)),
                        fields=["member", "to_wallet", "-date"],
                        name="account_entry_by_to_wallet",
                    ),
                    models.Index(
                        condition=models.Q(("refund_of__isnull", False)),
                        fields=["member", "refund_of"],
                        name="account_entry_refunds",
                    ),
                    models.Index(
                        condition=models.Q(("is_reversal", True)),
                        fields=["member", "category"],
                        name="account_entry_reversals",
                    ),
                ],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="account_entry_pkey"
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member",),
                        name="account_entry_in_ledger",
                        to="ledger.Ledger",
                        to_fields=("member",),
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("type__in", ["income", "expense", "transfer"])
                        ),
                        name="account_entry_type_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("amount__gt", 0),
                            models.Q(("amount", 0), ("pending", True)),
                            _connector="OR",
                        ),
                        name="account_entry_amount_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("currency__isnull", False),
                                ("original_amount__gt", 0),
                                ("original_amount__isnull", False),
                                models.Q(
                                    models.Q(
                                        ("exchange_rate__gt", 0),
                                        ("exchange_rate__isnull", False),
                                    ),
                                    models.Q(
                                        ("exchange_rate", None), ("pending", True)
                                    ),
                                    _connector="OR",
                                ),
                            ),
                            models.Q(
                                ("currency", None),
                                ("exchange_rate", None),
                                ("original_amount", None),
                            ),
                            _connector="OR",
                        ),
                        name="account_entry_currency_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("installment_months", None),
                            models.Q(
                                ("installment_months__range", (2, 24)),
                                ("type", "expense"),
                            ),
                            _connector="OR",
                        ),
                        name="account_entry_installments",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("type", "transfer"), _negated=True),
                            models.Q(
                                ("category", None),
                                ("currency", None),
                                ("wallet__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="account_entry_transfer_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("line_count", 0),
                                ("to_wallet__isnull", False),
                                ("type", "transfer"),
                            ),
                            models.Q(
                                ("to_wallet", None),
                                models.Q(
                                    ("line_count", 0),
                                    ("type", "transfer"),
                                    _negated=True,
                                ),
                            ),
                            models.Q(("line_count", None), ("to_wallet", None)),
                            _connector="OR",
                        ),
                        name="account_entry_to_wallet_given",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("to_wallet", None),
                            models.Q(("to_wallet", models.F("wallet")), _negated=True),
                            _connector="OR",
                        ),
                        name="account_entry_two_wallets",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("line_count", 0),
                            models.Q(("category", None), ("line_count__gt", 0)),
                            _connector="OR",
                        ),
                        name="account_entry_split_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("refund_of", None), ("type", "income"), _connector="OR"
                        ),
                        name="account_entry_refund_is_income",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "category_type", "category"),
                        name="account_entry_category_owned",
                        to="ledger.Category",
                        to_fields=("member", "type", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "wallet"),
                        name="account_entry_wallet_owned",
                        to="ledger.Wallet",
                        to_fields=("member", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "to_wallet"),
                        name="account_entry_to_wallet_owned",
                        to="ledger.Wallet",
                        to_fields=("member", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "refund_of"),
                        name="account_entry_refund_of_owned",
                        to="self",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FxRate",
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
                ("base", models.CharField(max_length=3)),
                ("quote", models.CharField(max_length=3)),
                ("day", models.DateField()),
                ("rate", models.DecimalField(decimal_places=8, max_digits=20)),
                ("rate_date", models.DateField()),
                ("source", models.CharField(max_length=50)),
                ("fetched_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "db_table": "fx_rate",
                "ordering": ["base", "quote", "-day"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("base", "quote", "day"),
                        include=("rate", "rate_date"),
                        name="fx_rate_once_a_day",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rate__gt", 0)), name="fx_rate_positive"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MemoRollup",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "type",
                        "memo",
                        "category_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "type",
                    models.CharField(
                        choices=[("income", "Income"), ("expense", "Expense")],
                        max_length=7,
                    ),
                ),
                ("memo", models.CharField(max_length=500)),
                ("category_id", models.BigIntegerField()),
                ("entry_count", models.IntegerField()),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "account_memo_total",
                "ordering": ["type", "memo", "category_id"],
            },
        ),
        migrations.CreateModel(
            name="MergedEntry",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "entry_id",
                        "type",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "type",
                    models.CharField(
                        choices=[("income", "Income"), ("expense", "Expense")],
                        max_length=7,
                    ),
                ),
                ("former_id", models.BigIntegerField()),
                ("date", models.DateField()),
                ("is_reversal", models.BooleanField(db_default=False, editable=False)),
                (
                    "category_type",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                models.Q(
                                    models.Q(
                                        ("type", "income"), ("is_reversal", False)
                                    ),
                                    models.Q(
                                        models.Q(("type", "income"), _negated=True),
                                        ("is_reversal", True),
                                    ),
                                    _connector="OR",
                                ),
                                then=models.Value("income"),
                            ),
                            default=models.Value("expense"),
                            output_field=models.CharField(max_length=7),
                        ),
                        output_field=models.CharField(max_length=7),
                    ),
                ),
                ("memo", models.CharField(blank=True, default="", max_length=500)),
                (
                    "tag_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), size=None
                    ),
                ),
                ("installment_months", models.SmallIntegerField(null=True)),
                ("pending", models.BooleanField(default=False)),
                ("time", models.TimeField(null=True)),
                ("excluded", models.BooleanField(db_default=False)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("MANUAL", "Manual"),
                            ("NOTIFICATION", "Notification"),
                            ("RECURRING", "Recurring"),
                            ("IMPORT", "Import"),
                            ("BILL", "Bill"),
                            ("ADJUSTMENT", "Adjustment"),
                        ],
                        db_default="MANUAL",
                        editable=False,
                        max_length=12,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
                (
                    "notification_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), size=None
                    ),
                ),
                (
                    "category",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.category",
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.entry",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "merged entries",
                "db_table": "account_merged_entry",
                "ordering": ["entry_id", "type"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("category__isnull", False)),
                        fields=["member", "category"],
                        name="account_merged_entry_category",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("type__in", ["income", "expense"])),
                        name="account_merged_entry_type_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("installment_months", None),
                            models.Q(
                                ("installment_months__range", (2, 24)),
                                ("type", "expense"),
                            ),
                            _connector="OR",
                        ),
                        name="account_merged_entry_installments",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "category_type", "category"),
                        name="account_merged_entry_category_owned",
                        to="ledger.Category",
                        to_fields=("member", "type", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "entry"),
                        name="account_merged_entry_entry_owned",
                        on_delete="CASCADE",
                        to="ledger.Entry",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Notification",
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
                ("notif_key", models.CharField(max_length=64)),
                ("kind", models.CharField(max_length=12)),
                ("is_partial", models.BooleanField(default=False)),
                ("card_company", models.CharField(max_length=100, null=True)),
                ("card_hint", models.CharField(max_length=100, null=True)),
                ("currency", models.CharField(max_length=3, null=True)),
                ("value", models.DecimalField(decimal_places=4, max_digits=18)),
                ("merchant", models.CharField(blank=True, default="", max_length=500)),
                ("running_total", models.BigIntegerField(null=True)),
                ("balance", models.BigIntegerField(null=True)),
                ("happened_at", models.DateTimeField()),
                ("is_timed", models.BooleanField()),
                ("is_cancelled", models.BooleanField(default=False)),
                ("entry_id", models.BigIntegerField(null=True)),
                ("channel", models.CharField(max_length=10, null=True)),
                ("is_cut", models.BooleanField(default=False)),
                ("is_preliminary", models.BooleanField(default=False)),
                ("payment_id", models.BigIntegerField(null=True)),
                ("wallet_id", models.BigIntegerField(null=True)),
                ("is_own_move", models.BooleanField(default=False)),
                ("awaits_counterpart", models.BooleanField(default=False)),
                ("original_date", models.DateField(null=True)),
                ("text", models.CharField(max_length=4000, null=True)),
                ("sender", models.CharField(max_length=200, null=True)),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "account_notification",
                "ordering": ["-happened_at", "-id"],
                "indexes": [
                    models.Index(
                        fields=["member", "value", "-happened_at"],
                        name="account_notification_by_value",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("is_cancelled", False), ("is_preliminary", True)
                        ),
                        fields=["member", "-happened_at"],
                        name="account_notification_reserved",
                    ),
                    models.Index(
                        condition=models.Q(("text__isnull", False)),
                        fields=["member", "entry_id"],
                        name="account_notification_with_text",
                    ),
                ],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="account_notification_pkey"
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member",),
                        name="account_notification_in_ledger",
                        to="ledger.Ledger",
                        to_fields=("member",),
                    ),
                    models.UniqueConstraint(
                        fields=("member", "notif_key"), name="account_notification_key"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                ("approval", "cancellation", "deposit", "withdrawal"),
                            )
                        ),
                        name="account_notification_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("value__gt", 0)),
                        name="account_notification_value_positive",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NotificationCount",
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
                ("day", models.DateField()),
                ("is_recognized", models.BooleanField()),
                ("shard", models.SmallIntegerField()),
                ("count", models.BigIntegerField()),
            ],
            options={
                "db_table": "notification_count",
                "ordering": ["day", "is_recognized", "shard"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("day", "is_recognized", "shard"),
                        name="notification_count_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="QuickEntry",
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
                ("name", models.CharField(max_length=100)),
                (
                    "type",
                    models.CharField(
                        choices=[
                            ("income", "Income"),
                            ("expense", "Expense"),
                            ("transfer", "Transfer"),
                        ],
                        max_length=8,
                    ),
                ),
                ("is_reversal", models.BooleanField(db_default=False, editable=False)),
                (
                    "category_type",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                models.Q(
                                    models.Q(
                                        ("type", "income"), ("is_reversal", False)
                                    ),
                                    models.Q(
                                        models.Q(("type", "income"), _negated=True),
                                        ("is_reversal", True),
                                    ),
                                    _connector="OR",
                                ),
                                then=models.Value("income"),
                            ),
                            default=models.Value("expense"),
                            output_field=models.CharField(max_length=7),
                        ),
                        output_field=models.CharField(max_length=7),
                    ),
                ),
                ("amount", models.BigIntegerField(null=True)),
                ("memo", models.CharField(blank=True, default="", max_length=500)),
                ("sort_order", models.IntegerField(default=0)),
                (
                    "category",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.category",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "to_wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.wallet",
                    ),
                ),
                (
                    "wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.wallet",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "quick entries",
                "db_table": "account_quick_entry",
                "ordering": ["sort_order", "id"],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="account_quick_entry_pkey"
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member",),
                        name="account_quick_entry_in_ledger",
                        to="ledger.Ledger",
                        to_fields=("member",),
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("type__in", ["income", "expense", "transfer"])
                        ),
                        name="account_quick_entry_type_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("amount", None), ("amount__gt", 0), _connector="OR"
                        ),
                        name="account_quick_entry_amount_positive",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "category_type", "category"),
                        name="account_quick_entry_category_owned",
                        to="ledger.Category",
                        to_fields=("member", "type", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "wallet"),
                        name="account_quick_entry_wallet_owned",
                        to="ledger.Wallet",
                        to_fields=("member", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "to_wallet"),
                        name="account_quick_entry_to_wallet_owned",
                        to="ledger.Wallet",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RecurringRule",
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
                ("name", models.CharField(max_length=100)),
                (
                    "type",
                    models.CharField(
                        choices=[
                            ("income", "Income"),
                            ("expense", "Expense"),
                            ("transfer", "Transfer"),
                        ],
                        max_length=8,
                    ),
                ),
                ("is_reversal", models.BooleanField(db_default=False, editable=False)),
                (
                    "category_type",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                models.Q(
                                    models.Q(
                                        ("type", "income"), ("is_reversal", False)
                                    ),
                                    models.Q(
                                        models.Q(("type", "income"), _negated=True),
                                        ("is_reversal", True),
                                    ),
                                    _connector="OR",
                                ),
                                then=models.Value("income"),
                            ),
                            default=models.Value("expense"),
                            output_field=models.CharField(max_length=7),
                        ),
                        output_field=models.CharField(max_length=7),
                    ),
                ),
                ("amount", models.BigIntegerField()),
                ("memo", models.CharField(blank=True, default="", max_length=500)),
                (
                    "frequency",
                    models.CharField(
                        choices=[
                            ("DAILY", "DAILY"),
                            ("WEEKLY", "WEEKLY"),
                            ("MONTHLY", "MONTHLY"),
                            ("YEARLY", "YEARLY"),
                        ],
                        max_length=7,
                    ),
                ),
                ("interval", models.SmallIntegerField(default=1)),
                ("anchor_date", models.DateField()),
                ("end_date", models.DateField(blank=True, null=True)),
                ("next_date", models.DateField(blank=True, null=True)),
                ("active", models.BooleanField(default=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now()
                    ),
                ),
                (
                    "category",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.category",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "to_wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.wallet",
                    ),
                ),
                (
                    "wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.wallet",
                    ),
                ),
            ],
            options={
                "db_table": "account_recurring",
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(
                            ("active", True), ("next_date__isnull", False)
                        ),
                        fields=["member", "next_date"],
                        name="account_recurring_due",
                    )
                ],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="account_recurring_pkey"
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member",),
                        name="account_recurring_in_ledger",
                        to="ledger.Ledger",
                        to_fields=("member",),
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("type__in", ["income", "expense", "transfer"])
                        ),
                        name="account_recurring_type_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gt", 0)),
                        name="account_recurring_amount_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("interval__range", (1, 1000))),
                        name="account_recurring_interval",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "category_type", "category"),
                        name="account_recurring_category_owned",
                        to="ledger.Category",
                        to_fields=("member", "type", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "wallet"),
                        name="account_recurring_wallet_owned",
                        to="ledger.Wallet",
                        to_fields=("member", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "to_wallet"),
                        name="account_recurring_to_wallet_owned",
                        to="ledger.Wallet",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Occurrence",
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
                ("due_date", models.DateField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("BOOKED", "Booked"),
                            ("SKIPPED", "Skipped"),
                            ("MISSED", "Missed"),
                        ],
                        max_length=7,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.entry",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "rule",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.recurringrule",
                    ),
                ),
            ],
            options={
                "db_table": "account_recurring_occurrence",
                "ordering": ["-due_date", "-id"],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"),
                        name="account_recurring_occurrence_pkey",
                    ),
                    models.UniqueConstraint(
                        fields=("member", "rule", "due_date"),
                        name="account_recurring_occurrence_once",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "rule"),
                        name="account_recurring_occurrence_rule_owned",
                        on_delete="CASCADE",
                        to="ledger.RecurringRule",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Stock",
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
                ("code", models.CharField(max_length=20)),
                ("name", models.CharField(max_length=100)),
                ("market", models.CharField(blank=True, default="", max_length=20)),
                ("current_price", models.BigIntegerField(null=True)),
                ("price_at", models.DateTimeField(null=True)),
                ("sort_order", models.IntegerField(default=0)),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "invest_stock",
                "ordering": ["sort_order", "id"],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="invest_stock_pkey"
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member",),
                        name="invest_stock_in_ledger",
                        to="ledger.Ledger",
                        to_fields=("member",),
                    ),
                    models.UniqueConstraint(
                        fields=("member", "code"), name="invest_stock_code_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("current_price", None),
                            ("current_price__gte", 0),
                            _connector="OR",
                        ),
                        name="invest_stock_price_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Position",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "stock_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("quantity", models.DecimalField(decimal_places=6, max_digits=30)),
                ("trade_count", models.IntegerField()),
                ("version", models.BigIntegerField()),
                (
                    "cost",
                    models.DecimalField(decimal_places=0, max_digits=80, null=True),
                ),
                (
                    "realized",
                    models.DecimalField(decimal_places=0, max_digits=80, null=True),
                ),
                ("replayed_version", models.BigIntegerField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "stock",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.stock",
                    ),
                ),
            ],
            options={
                "db_table": "invest_position",
                "ordering": ["stock_id"],
                "constraints": [
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "stock"),
                        name="invest_position_stock_owned",
                        on_delete="CASCADE",
                        to="ledger.Stock",
                        to_fields=("member", "id"),
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="StockQuote",
            fields=[
                (
                    "code",
                    models.CharField(max_length=20, primary_key=True, serialize=False),
                ),
                (
                    "price",
                    models.DecimalField(decimal_places=6, max_digits=20, null=True),
                ),
                ("currency", models.CharField(max_length=3, null=True)),
                ("home_price", models.BigIntegerField(null=True)),
                ("quoted_at", models.DateTimeField(null=True)),
                ("fetched_at", models.DateTimeField(null=True)),
                ("next_refresh_at", models.DateTimeField()),
                ("is_claimed", models.BooleanField(default=False)),
                ("has_failed", models.BooleanField(db_default=False)),
            ],
            options={
                "db_table": "stock_quote",
                "ordering": ["code"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("home_price", None),
                            ("home_price__gte", 0),
                            _connector="OR",
                        ),
                        name="stock_quote_price_not_negative",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Tag",
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
                ("name", models.CharField(max_length=100)),
                ("sort_order", models.IntegerField(default=0)),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "account_tag",
                "ordering": ["sort_order", "id"],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="account_tag_pkey"
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member",),
                        name="account_tag_in_ledger",
                        to="ledger.Ledger",
                        to_fields=("member",),
                    ),
                    models.UniqueConstraint(
                        fields=("member", "name"), name="account_tag_name_unique"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RecurringTag",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "rule_id",
                        "tag_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("position", models.SmallIntegerField()),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "rule",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.recurringrule",
                    ),
                ),
                (
                    "tag",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.tag",
                    ),
                ),
            ],
            options={
                "db_table": "account_recurring_tag",
                "ordering": ["rule_id", "position"],
                "constraints": [
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "rule"),
                        name="account_recurring_tag_rule_owned",
                        on_delete="CASCADE",
                        to="ledger.RecurringRule",
                        to_fields=("member", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "tag"),
                        name="account_recurring_tag_tag_owned",
                        on_delete="CASCADE",
                        to="ledger.Tag",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="QuickEntryTag",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "quick_entry_id",
                        "tag_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("position", models.SmallIntegerField()),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "quick_entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.quickentry",
                    ),
                ),
                (
                    "tag",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.tag",
                    ),
                ),
            ],
            options={
                "db_table": "account_quick_entry_tag",
                "ordering": ["quick_entry_id", "position"],
                "constraints": [
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "quick_entry"),
                        name="account_quick_entry_tag_quick_entry_owned",
                        on_delete="CASCADE",
                        to="ledger.QuickEntry",
                        to_fields=("member", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "tag"),
                        name="account_quick_entry_tag_tag_owned",
                        on_delete="CASCADE",
                        to="ledger.Tag",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="EntryTag",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "entry_id",
                        "tag_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("position", models.SmallIntegerField()),
                (
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="tag_links",
                        to="ledger.entry",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "tag",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.tag",
                    ),
                ),
            ],
            options={
                "db_table": "account_entry_tag",
                "ordering": ["entry_id", "position"],
                "indexes": [
                    models.Index(
                        fields=["member", "tag"], name="account_entry_tag_by_tag"
                    )
                ],
                "constraints": [
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "entry"),
                        name="account_entry_tag_entry_owned",
                        on_delete="RESTRICT",
                        to="ledger.Entry",
                        to_fields=("member", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "tag"),
                        name="account_entry_tag_tag_owned",
                        on_delete="CASCADE",
                        to="ledger.Tag",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TagRollup",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "month",
                        "type",
                        "tag_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("month", models.DateField()),
                (
                    "type",
                    models.CharField(
                        choices=[("income", "Income"), ("expense", "Expense")],
                        max_length=7,
                    ),
                ),
                ("tag_id", models.BigIntegerField()),
                ("amount", models.BigIntegerField()),
                ("refunded", models.BigIntegerField(db_default=0)),
                ("entry_count", models.IntegerField()),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "account_tag_total",
                "ordering": ["month", "type", "tag_id"],
            },
        ),
        migrations.CreateModel(
            name="TaughtLayout",
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
                ("sender", models.CharField(blank=True, default="", max_length=200)),
                ("template", models.CharField(max_length=1000)),
                ("template_digest", models.CharField(max_length=64)),
                ("wallet_id", models.BigIntegerField(null=True)),
                ("card_hint", models.CharField(max_length=100, null=True)),
                ("uses", models.IntegerField(default=0)),
                ("created_at", models.DateTimeField()),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "account_notification_layout",
                "ordering": ["-id"],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="account_notification_layout_pkey"
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member",),
                        name="account_notification_layout_in_ledger",
                        to="ledger.Ledger",
                        to_fields=("member",),
                    ),
                    models.UniqueConstraint(
                        fields=("member", "sender", "template_digest"),
                        name="account_notification_layout_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Trade",
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
                    "side",
                    models.CharField(
                        choices=[("BUY", "Buy"), ("SELL", "Sell")], max_length=4
                    ),
                ),
                ("date", models.DateField()),
                ("quantity", models.DecimalField(decimal_places=6, max_digits=18)),
                ("price", models.BigIntegerField()),
                ("fee", models.BigIntegerField(default=0)),
                ("tax", models.BigIntegerField(default=0)),
                ("memo", models.CharField(blank=True, default="", max_length=500)),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "stock",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.stock",
                    ),
                ),
            ],
            options={
                "db_table": "invest_trade",
                "ordering": ["-date", "-id"],
                "indexes": [
                    models.Index(
                        fields=["member", "stock", "date", "side", "id"],
                        name="invest_trade_replay",
                    ),
                    models.Index(
                        fields=["member", "-date", "-id"], name="invest_trade_list"
                    ),
                ],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="invest_trade_pkey"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("quantity__gt", 0)),
                        name="invest_trade_quantity_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("fee__gte", 0), ("price__gte", 0), ("tax__gte", 0)
                        ),
                        name="invest_trade_money_not_negative",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("side__in", ["BUY", "SELL"])),
                        name="invest_trade_side_known",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "stock"),
                        name="invest_trade_stock_owned",
                        on_delete="CASCADE",
                        to="ledger.Stock",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Valuation",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "wallet_id",
                        "date",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("date", models.DateField()),
                ("value", models.BigIntegerField()),
                ("written_at", models.DateTimeField()),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="valuations",
                        to="ledger.wallet",
                    ),
                ),
            ],
            options={
                "db_table": "account_valuation",
                "ordering": ["wallet_id", "date"],
                "constraints": [
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "wallet"),
                        name="account_valuation_wallet_owned",
                        on_delete="CASCADE",
                        to="ledger.Wallet",
                        to_fields=("member", "id"),
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RecurringLine",
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
                ("position", models.SmallIntegerField()),
                ("amount", models.BigIntegerField()),
                (
                    "category_type",
                    models.CharField(
                        choices=[("income", "Income"), ("expense", "Expense")],
                        max_length=7,
                    ),
                ),
                ("memo", models.CharField(blank=True, default="", max_length=500)),
                (
                    "category",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.category",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "rule",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="lines",
                        to="ledger.recurringrule",
                    ),
                ),
                (
                    "wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.wallet",
                    ),
                ),
            ],
            options={
                "db_table": "account_recurring_line",
                "ordering": ["rule_id", "position"],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "rule", "id"),
                        name="account_recurring_line_pkey",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("amount", 0), _negated=True),
                            ("amount__range", (-999999999999, 999999999999)),
                        ),
                        name="account_recurring_line_amount",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("category", None), ("wallet", None), _connector="OR"
                        ),
                        name="account_recurring_line_one_target",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("category_type__in", ["income", "expense"])
                        ),
                        name="account_recurring_line_type_known",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "category_type", "category"),
                        name="account_recurring_line_category_owned",
                        to="ledger.Category",
                        to_fields=("member", "type", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "wallet"),
                        name="account_recurring_line_wallet_owned",
                        to="ledger.Wallet",
                        to_fields=("member", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "rule"),
                        name="account_recurring_line_rule_owned",
                        on_delete="CASCADE",
                        to="ledger.RecurringRule",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="QuickEntryLine",
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
                ("position", models.SmallIntegerField()),
                ("amount", models.BigIntegerField()),
                (
                    "category_type",
                    models.CharField(
                        choices=[("income", "Income"), ("expense", "Expense")],
                        max_length=7,
                    ),
                ),
                ("memo", models.CharField(blank=True, default="", max_length=500)),
                (
                    "category",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.category",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "quick_entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="lines",
                        to="ledger.quickentry",
                    ),
                ),
                (
                    "wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.wallet",
                    ),
                ),
            ],
            options={
                "db_table": "account_quick_entry_line",
                "ordering": ["quick_entry_id", "position"],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "quick_entry", "id"),
                        name="account_quick_entry_line_pkey",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("amount", 0), _negated=True),
                            ("amount__range", (-999999999999, 999999999999)),
                        ),
                        name="account_quick_entry_line_amount",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("category", None), ("wallet", None), _connector="OR"
                        ),
                        name="account_quick_entry_line_one_target",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("category_type__in", ["income", "expense"])
                        ),
                        name="account_quick_entry_line_type_known",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "category_type", "category"),
                        name="account_quick_entry_line_category_owned",
                        to="ledger.Category",
                        to_fields=("member", "type", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "wallet"),
                        name="account_quick_entry_line_wallet_owned",
                        to="ledger.Wallet",
                        to_fields=("member", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "quick_entry"),
                        name="account_quick_entry_line_quick_entry_owned",
                        on_delete="CASCADE",
                        to="ledger.QuickEntry",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="EntryLine",
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
                ("position", models.SmallIntegerField()),
                ("amount", models.BigIntegerField()),
                (
                    "category_type",
                    models.CharField(
                        choices=[("income", "Income"), ("expense", "Expense")],
                        max_length=7,
                    ),
                ),
                ("memo", models.CharField(blank=True, default="", max_length=500)),
                (
                    "category",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.category",
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="lines",
                        to="ledger.entry",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.wallet",
                    ),
                ),
            ],
            options={
                "db_table": "account_entry_line",
                "ordering": ["entry_id", "position"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("category__isnull", False)),
                        fields=["member", "category"],
                        name="account_entry_line_by_category",
                    ),
                    models.Index(
                        condition=models.Q(("wallet__isnull", False)),
                        fields=["member", "wallet"],
                        name="account_entry_line_by_wallet",
                    ),
                ],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "entry", "id"), name="account_entry_line_pkey"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("amount", 0), _negated=True),
                            ("amount__range", (-999999999999, 999999999999)),
                        ),
                        name="account_entry_line_amount",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("category", None), ("wallet", None), _connector="OR"
                        ),
                        name="account_entry_line_one_target",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("category_type__in", ["income", "expense"])
                        ),
                        name="account_entry_line_type_known",
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "category_type", "category"),
                        name="account_entry_line_category_owned",
                        to="ledger.Category",
                        to_fields=("member", "type", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "wallet"),
                        name="account_entry_line_wallet_owned",
                        to="ledger.Wallet",
                        to_fields=("member", "id"),
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member", "entry"),
                        name="account_entry_line_entry_owned",
                        on_delete="RESTRICT",
                        to="ledger.Entry",
                        to_fields=("member", "id"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="WalletMonthRollup",
            fields=[
                ("income", models.BigIntegerField()),
                ("expense", models.BigIntegerField()),
                ("refunded", models.BigIntegerField(db_default=0)),
                ("excluded_income", models.BigIntegerField(db_default=0)),
                ("excluded_expense", models.BigIntegerField(db_default=0)),
                ("flow_count", models.IntegerField(db_default=0)),
                ("excluded_count", models.IntegerField(db_default=0)),
                ("transferring_count", models.IntegerField(db_default=0)),
                ("income_count", models.IntegerField()),
                ("expense_count", models.IntegerField()),
                ("transfer_count", models.IntegerField(db_default=0)),
                ("pending_income_count", models.IntegerField()),
                ("pending_expense_count", models.IntegerField()),
                ("pending_transfer_count", models.IntegerField(db_default=0)),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "month",
                        "wallet_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("month", models.DateField()),
                ("wallet_id", models.BigIntegerField()),
                ("wallet_change", models.BigIntegerField(db_default=0)),
                ("transfer_in", models.BigIntegerField(db_default=0)),
                ("transfer_out", models.BigIntegerField(db_default=0)),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "account_wallet_month_total",
                "ordering": ["month", "wallet_id"],
            },
        ),
        migrations.CreateModel(
            name="WalletRollup",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "member_id",
                        "wallet_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("wallet_id", models.BigIntegerField()),
                ("balance", models.BigIntegerField()),
                ("entry_count", models.IntegerField()),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "account_wallet_total",
                "ordering": ["wallet_id"],
            },
        ),
        migrations.CreateModel(
            name="BudgetIncome",
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
                ("year", models.SmallIntegerField()),
                ("month", models.SmallIntegerField()),
                ("amount", models.BigIntegerField()),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "account_budget_income",
                "ordering": ["year", "month", "id"],
                "constraints": [
                    core.db.constraints.TablePrimaryKey(
                        fields=("member", "id"), name="account_budget_income_pkey"
                    ),
                    core.db.constraints.CompositeForeignKey(
                        fields=("member",),
                        name="account_budget_income_in_ledger",
                        to="ledger.Ledger",
                        to_fields=("member",),
                    ),
                    models.UniqueConstraint(
                        fields=("member", "year", "month"),
                        name="account_budget_income_unique",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("month__range", (1, 12)), ("year__range", (1900, 2200))
                        ),
                        name="account_budget_income_month",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gte", 0)),
                        name="account_budget_income_not_negative",
                    ),
                ],
            },
        ),
        # Functions, triggers and first rows.
        sql_file("ledger", "ledgers", "0001"),
        sql_file("ledger", "entry_totals", "0001"),
        sql_file("ledger", "tag_totals", "0001"),
        sql_file("ledger", "positions", "0001"),
        sql_file("ledger", "create_entry", "0001"),
        sql_file("ledger", "suggest_category", "0001"),
        migrations.RunPython(insert_default_categories, migrations.RunPython.noop),
    ]
