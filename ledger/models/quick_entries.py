"""Quick entries."""

from django.db import models
from django.db.models import Q

from core.db.constraints import CompositeForeignKey
from ledger.models.base import (
    MAX_MEMO_LENGTH,
    MAX_NAME_LENGTH,
    EntryType,
    OwnedForeignKey,
    OwnedModel,
    VersionedModel,
    category_type_field,
    owned_constraints,
)
from ledger.models.categories import Category
from ledger.models.lines import Line, line_constraints
from ledger.models.tags import Tag
from ledger.models.wallets import Wallet


class QuickEntry(VersionedModel):
    """A template (spec 3.9); the client asks for the amount if it is None."""

    name = models.CharField(max_length=MAX_NAME_LENGTH)
    type = models.CharField(max_length=8, choices=EntryType.choices)
    is_reversal = models.BooleanField(db_default=False, editable=False)
    category_type = category_type_field()
    amount = models.BigIntegerField(null=True)
    category = OwnedForeignKey(Category, null=True)
    wallet = OwnedForeignKey(Wallet, null=True)
    to_wallet = OwnedForeignKey(Wallet, null=True)
    memo = models.CharField(max_length=MAX_MEMO_LENGTH, blank=True, default="")
    sort_order = models.IntegerField(default=0)

    class Meta:
        db_table = "account_quick_entry"
        verbose_name_plural = "quick entries"
        ordering = ["sort_order", "id"]
        constraints = [
            *owned_constraints("account_quick_entry"),
            models.CheckConstraint(
                condition=Q(type__in=EntryType.values),
                name="account_quick_entry_type_known",
            ),
            models.CheckConstraint(
                condition=Q(amount=None) | Q(amount__gt=0),
                name="account_quick_entry_amount_positive",
            ),
            CompositeForeignKey(
                name="account_quick_entry_category_owned",
                fields=["member", "category_type", "category"],
                to="ledger.Category",
                to_fields=["member", "type", "id"],
            ),
            CompositeForeignKey(
                name="account_quick_entry_wallet_owned",
                fields=["member", "wallet"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
            ),
            CompositeForeignKey(
                name="account_quick_entry_to_wallet_owned",
                fields=["member", "to_wallet"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
            ),
        ]

    def __str__(self) -> str:
        return self.name


class QuickEntryLine(Line):
    quick_entry = OwnedForeignKey(QuickEntry, related_name="lines")

    class Meta:
        db_table = "account_quick_entry_line"
        ordering = ["quick_entry_id", "position"]
        constraints = [
            *line_constraints("account_quick_entry_line", "quick_entry"),
            CompositeForeignKey(
                name="account_quick_entry_line_quick_entry_owned",
                fields=["member", "quick_entry"],
                to="ledger.QuickEntry",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return f"line of {self.amount} of quick entry {self.quick_entry_id}"


class QuickEntryTag(OwnedModel):
    pk = models.CompositePrimaryKey("member_id", "quick_entry_id", "tag_id")
    quick_entry = OwnedForeignKey(QuickEntry)
    tag = OwnedForeignKey(Tag)
    position = models.SmallIntegerField()

    class Meta:
        db_table = "account_quick_entry_tag"
        ordering = ["quick_entry_id", "position"]
        constraints = [
            CompositeForeignKey(
                name="account_quick_entry_tag_quick_entry_owned",
                fields=["member", "quick_entry"],
                to="ledger.QuickEntry",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
            CompositeForeignKey(
                name="account_quick_entry_tag_tag_owned",
                fields=["member", "tag"],
                to="ledger.Tag",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return f"tag {self.tag_id} on quick entry {self.quick_entry_id}"
