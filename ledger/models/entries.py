"""Entries, lines and tag links."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from core.db.constraints import CompositeForeignKey
from core.db.indexes import index_by_writing_time
from ledger.models.base import (
    MAX_MEMO_LENGTH,
    CategoryType,
    EntryType,
    OwnedForeignKey,
    OwnedModel,
    VersionedModel,
    category_type_field,
    is_first_of_month,
    owned_constraints,
)
from ledger.models.categories import Category
from ledger.models.lines import Line, line_constraints, line_indexes
from ledger.models.tags import Tag
from ledger.models.wallets import Wallet

# A check constraint passes if its condition is NULL, so IS NOT NULL is explicit.
HAS_ORIGINAL_AMOUNT = Q(
    currency__isnull=False, original_amount__isnull=False, original_amount__gt=0
)
HAS_EXCHANGE_RATE = Q(exchange_rate__isnull=False, exchange_rate__gt=0)
IS_FOREIGN_CURRENCY = HAS_ORIGINAL_AMOUNT & (
    HAS_EXCHANGE_RATE | Q(exchange_rate=None, pending=True)
)
IS_HOME_CURRENCY = Q(currency=None, original_amount=None, exchange_rate=None)


class EntrySource(models.TextChoices):
    MANUAL = "MANUAL"
    NOTIFICATION = "NOTIFICATION"
    RECURRING = "RECURRING"
    IMPORT = "IMPORT"
    BILL = "BILL"
    ADJUSTMENT = "ADJUSTMENT"


class EntryDetails(OwnedModel):
    """Columns that a merge keeps of each entry (spec 3.20)."""

    date = models.DateField()
    # Booked on a category of the other type.
    is_reversal = models.BooleanField(db_default=False, editable=False)
    category_type = category_type_field()
    category = OwnedForeignKey(Category, null=True)
    # Counts in balances, and in no statistics.
    excluded = models.BooleanField(db_default=False)
    time = models.TimeField(null=True)
    source = models.CharField(
        max_length=12,
        choices=EntrySource.choices,
        db_default=EntrySource.MANUAL,
        editable=False,
    )
    memo = models.CharField(max_length=MAX_MEMO_LENGTH, blank=True, default="")
    installment_months = models.SmallIntegerField(null=True)
    # Amounts of the parts that a member typed in; null for equal parts (spec 3.30).
    installment_parts = ArrayField(models.BigIntegerField(), null=True)
    # The first day of the month of the bill that the entry is on, or pays.
    bill_month = models.DateField(null=True)
    pending = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True


class Entry(EntryDetails, VersionedModel):
    """One entry (spec 3.4).

    `amount` is in whole home-currency units; it is 0 only for a pending entry without a
    rate. `currency`, `original_amount` and `exchange_rate` are set for foreign entries
    only.

    A flat entry is booked on a category, or moves money to `to_wallet`. A split entry
    has `line_count` lines, which add up to `amount`. While they are written
    `line_count` is NULL, and the entry counts nowhere.
    """

    Source = EntrySource

    type = models.CharField(max_length=8, choices=EntryType.choices)
    amount = models.BigIntegerField()
    wallet = OwnedForeignKey(Wallet, null=True)
    to_wallet = OwnedForeignKey(Wallet, null=True)
    line_count = models.SmallIntegerField(db_default=0, null=True, editable=False)
    # The expense that comes back; null once it is deleted.
    refund_of = OwnedForeignKey("self", null=True)
    currency = models.CharField(max_length=3, null=True)
    original_amount = models.DecimalField(max_digits=16, decimal_places=4, null=True)
    exchange_rate = models.DecimalField(max_digits=20, decimal_places=8, null=True)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    # Given by the client that made it; unique in the ledger for ever (spec 3.25).
    client_id = models.UUIDField(null=True, editable=False)

    class Meta:
        db_table = "account_entry"
        verbose_name_plural = "entries"
        ordering = ["-date", "-id"]
        constraints = [
            *owned_constraints("account_entry"),
            models.UniqueConstraint(
                fields=["member", "client_id"],
                condition=Q(client_id__isnull=False),
                name="account_entry_client_id_unique",
            ),
            models.CheckConstraint(
                condition=Q(type__in=EntryType.values), name="account_entry_type_known"
            ),
            models.CheckConstraint(
                condition=Q(amount__gt=0) | Q(amount=0, pending=True),
                name="account_entry_amount_positive",
            ),
            models.CheckConstraint(
                condition=IS_FOREIGN_CURRENCY | IS_HOME_CURRENCY,
                name="account_entry_currency_whole",
            ),
            models.CheckConstraint(
                condition=Q(installment_months=None)
                | Q(installment_months__range=(2, 24), type=EntryType.EXPENSE),
                name="account_entry_installments",
            ),
            models.CheckConstraint(
                condition=Q(installment_parts=None)
                | Q(installment_parts__len=F("installment_months")),
                name="account_entry_parts_whole",
            ),
            models.CheckConstraint(
                condition=is_first_of_month("bill_month"),
                name="account_entry_bill_month",
            ),
            models.CheckConstraint(
                condition=~Q(type=EntryType.TRANSFER)
                | Q(wallet__isnull=False, category=None, currency=None),
                name="account_entry_transfer_whole",
            ),
            models.CheckConstraint(
                condition=Q(
                    type=EntryType.TRANSFER, line_count=0, to_wallet__isnull=False
                )
                | (Q(to_wallet=None) & ~Q(type=EntryType.TRANSFER, line_count=0))
                | Q(to_wallet=None, line_count=None),
                name="account_entry_to_wallet_given",
            ),
            models.CheckConstraint(
                condition=Q(to_wallet=None) | ~Q(to_wallet=F("wallet")),
                name="account_entry_two_wallets",
            ),
            models.CheckConstraint(
                condition=Q(line_count=0) | Q(category=None, line_count__gt=0),
                name="account_entry_split_whole",
            ),
            models.CheckConstraint(
                condition=Q(refund_of=None) | Q(type=EntryType.INCOME),
                name="account_entry_refund_is_income",
            ),
            CompositeForeignKey(
                name="account_entry_category_owned",
                fields=["member", "category_type", "category"],
                to="ledger.Category",
                to_fields=["member", "type", "id"],
            ),
            CompositeForeignKey(
                name="account_entry_wallet_owned",
                fields=["member", "wallet"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
            ),
            CompositeForeignKey(
                name="account_entry_to_wallet_owned",
                fields=["member", "to_wallet"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
            ),
            CompositeForeignKey(
                name="account_entry_refund_of_owned",
                fields=["member", "refund_of"],
                to="self",
                to_fields=["member", "id"],
            ),
        ]
        # No index for words of the memo: its lists would span all members. A search
        # looks into the member's rollup by memo first.
        indexes = [
            # Finds the entries that have changed since a revision, in order.
            models.Index(
                fields=["member", "version", "id"], name="account_entry_changed"
            ),
            # For the figures of staff.
            index_by_writing_time("account_entry_written"),
            # The index has no id, which sorts the few entries of a day as they are
            # read: it keeps the key of a day once, at a third of the size.
            models.Index(fields=["member", "-date"], name="account_entry_list"),
            models.Index(
                fields=["member", "category", "-date"],
                name="account_entry_by_category",
            ),
            models.Index(
                fields=["member", "wallet", "-date"], name="account_entry_by_wallet"
            ),
            models.Index(
                fields=["member", "-date"],
                condition=Q(pending=True),
                name="account_entry_pending",
            ),
            # Shows if a wallet has installments, which decides on its kind.
            models.Index(
                fields=["member", "wallet"],
                condition=Q(installment_months__isnull=False),
                name="account_entry_by_installments",
            ),
            models.Index(
                fields=["member", "bill_month"],
                condition=Q(bill_month__isnull=False),
                name="account_entry_by_bill",
            ),
            models.Index(
                fields=["member", "to_wallet", "-date"],
                condition=Q(to_wallet__isnull=False),
                name="account_entry_by_to_wallet",
            ),
            models.Index(
                fields=["member", "refund_of"],
                condition=Q(refund_of__isnull=False),
                name="account_entry_refunds",
            ),
            models.Index(
                fields=["member", "category"],
                condition=Q(is_reversal=True),
                name="account_entry_reversals",
            ),
            # A search by keyword reads these, which the rollup by memo leaves out.
            models.Index(
                fields=["member", "-date"],
                condition=Q(excluded=True),
                name="account_entry_excluded",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.date} {self.type} {self.amount}"


class EntryLine(Line):
    entry = OwnedForeignKey(Entry, related_name="lines")
    # The expense that this line brings back, unless the whole entry has one.
    refund_of = OwnedForeignKey(Entry, null=True)

    class Meta:
        db_table = "account_entry_line"
        ordering = ["entry_id", "position"]
        constraints = [
            *line_constraints("account_entry_line", "entry"),
            models.CheckConstraint(
                condition=Q(refund_of=None)
                | Q(amount__gt=0, wallet=None, category_type=CategoryType.EXPENSE),
                name="account_entry_line_refund",
            ),
            CompositeForeignKey(
                name="account_entry_line_refund_of_owned",
                fields=["member", "refund_of"],
                to="ledger.Entry",
                to_fields=["member", "id"],
            ),
            CompositeForeignKey(
                name="account_entry_line_entry_owned",
                fields=["member", "entry"],
                to="ledger.Entry",
                to_fields=["member", "id"],
                on_delete="RESTRICT",
            ),
        ]
        indexes = [
            *line_indexes("account_entry_line"),
            models.Index(
                fields=["member", "refund_of"],
                condition=Q(refund_of__isnull=False),
                name="account_entry_line_refunds",
            ),
        ]

    def __str__(self) -> str:
        return f"line of {self.amount} of entry {self.entry_id}"


class EntryTag(OwnedModel):
    pk = models.CompositePrimaryKey("member_id", "entry_id", "tag_id")
    entry = OwnedForeignKey(Entry, related_name="tag_links")
    tag = OwnedForeignKey(Tag)
    position = models.SmallIntegerField()

    class Meta:
        db_table = "account_entry_tag"
        ordering = ["entry_id", "position"]
        constraints = [
            CompositeForeignKey(
                name="account_entry_tag_entry_owned",
                fields=["member", "entry"],
                to="ledger.Entry",
                to_fields=["member", "id"],
                # One look-up for each deleted entry, and not two: without it,
                # PostgreSQL also looks for another entry that took its place.
                on_delete="RESTRICT",
            ),
            CompositeForeignKey(
                name="account_entry_tag_tag_owned",
                fields=["member", "tag"],
                to="ledger.Tag",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]
        indexes = [
            models.Index(fields=["member", "tag"], name="account_entry_tag_by_tag")
        ]

    def __str__(self) -> str:
        return f"tag {self.tag_id} on entry {self.entry_id}"
