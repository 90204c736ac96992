"""Entries: incomes and expenses."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from core.db.constraints import CompositeForeignKey
from ledger.models.base import (
    MAX_MEMO_LENGTH,
    EntryType,
    OwnedForeignKey,
    OwnedModel,
    category_type_field,
    owned_constraints,
)
from ledger.models.categories import Category
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


class Entry(OwnedModel):
    """One entry (spec 3.4).

    `amount` is in whole home-currency units and the one that all statistics use; it is
    0 only for a pending entry without a rate. `currency`, `original_amount` and
    `exchange_rate` are set for foreign entries only.
    """

    date = models.DateField()
    type = models.CharField(max_length=7, choices=EntryType.choices)
    # Booked on a category of the other type.
    is_reversal = models.BooleanField(db_default=False, editable=False)
    category_type = category_type_field()
    amount = models.BigIntegerField()
    category = OwnedForeignKey(Category, null=True)
    wallet = OwnedForeignKey(Wallet, null=True)
    memo = models.CharField(max_length=MAX_MEMO_LENGTH, blank=True, default="")
    currency = models.CharField(max_length=3, null=True)
    original_amount = models.DecimalField(max_digits=16, decimal_places=4, null=True)
    exchange_rate = models.DecimalField(max_digits=20, decimal_places=8, null=True)
    installment_months = models.SmallIntegerField(null=True)
    pending = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        db_table = "account_entry"
        verbose_name_plural = "entries"
        ordering = ["-date", "-id"]
        constraints = [
            *owned_constraints("account_entry"),
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
        ]
        # None for words of the memo: such an index has lists of all members' entries,
        # and to read those of one member takes 0.5 µs an entry.
        indexes = [
            # Without the id, by which the few entries of a day are sorted when they are
            # read: the index keeps the key of a day once, at a third of the size.
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
            # Whether a wallet has any decides on its kind.
            models.Index(
                fields=["member", "wallet"],
                condition=Q(installment_months__isnull=False),
                name="account_entry_by_installments",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.date} {self.type} {self.amount}"


class EntryTag(OwnedModel):
    """A tag of an entry; `position` is its place in the order given by the member."""

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
                # One look-up for each entry that is deleted, and not two: without it,
                # PostgreSQL also looks for another entry that took the place of it.
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
