"""Rollup tables: counts and sums of entries, maintained by triggers.

Statement triggers on `account_entry` and `account_entry_tag` update them with every
write, so that balances, counts and statistics cost the same for a thousand entries and
for a million. Nothing else writes these tables. The triggers lock the member's
`LedgerRollup` row first, so that concurrent writes of one member cannot deadlock.
"""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models

from accounts.models import Member
from core.db.constraints import CompositeForeignKey
from ledger.models.base import MAX_MEMO_LENGTH, EntryType, OwnedQuerySet
from ledger.models.wallets import Wallet


class LedgerRollup(models.Model):
    """The number of a member's entries, and how many of them are pending."""

    member = models.OneToOneField(
        Member, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    entry_count = models.IntegerField()
    pending_count = models.IntegerField()

    objects = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "account_ledger_total"
        ordering = ["member_id"]

    def __str__(self) -> str:
        return f"member {self.member_id}: {self.entry_count}"


class EntryRollup(models.Model):
    """The number of entries in a group, and the sum of their amounts."""

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    type = models.CharField(max_length=7, choices=EntryType.choices)
    amount = models.BigIntegerField()
    entry_count = models.IntegerField()

    objects = OwnedQuerySet.as_manager()

    class Meta:
        abstract = True


class MonthRollup(EntryRollup):
    """Entries by month, type and pending."""

    # The first day of the month.
    month = models.DateField()
    pending = models.BooleanField()

    class Meta:
        db_table = "account_month_total"
        ordering = ["month", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["member", "month", "type", "pending"],
                include=["amount", "entry_count"],
                name="account_month_total_key",
            )
        ]

    def __str__(self) -> str:
        return f"{self.month} {self.type} {self.amount}"


class CategoryWalletRollup(EntryRollup):
    """Entries by month, type, pending, category and wallet."""

    # The first day of the month.
    month = models.DateField()
    pending = models.BooleanField()
    category_id = models.BigIntegerField(null=True)
    wallet_id = models.BigIntegerField(null=True)

    class Meta:
        db_table = "account_entry_total"
        ordering = ["month", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "member",
                    "month",
                    "type",
                    "pending",
                    "category_id",
                    "wallet_id",
                ],
                nulls_distinct=False,
                name="account_entry_total_key",
            ),
            CompositeForeignKey(
                name="account_entry_total_category_owned",
                fields=["member", "type", "category_id"],
                to="ledger.Category",
                to_fields=["member", "type", "id"],
                on_delete="CASCADE",
            ),
            CompositeForeignKey(
                name="account_entry_total_wallet_owned",
                fields=["member", "wallet_id"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.month} {self.type} {self.amount}"


class DayRollup(EntryRollup):
    """Entries by day, type, pending and wallet."""

    date = models.DateField()
    pending = models.BooleanField()
    wallet_id = models.BigIntegerField(null=True)

    class Meta:
        db_table = "account_day_total"
        ordering = ["date", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["member", "date", "type", "pending", "wallet_id"],
                nulls_distinct=False,
                name="account_day_total_key",
            ),
            CompositeForeignKey(
                name="account_day_total_wallet_owned",
                fields=["member", "wallet_id"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.date} {self.type} {self.amount}"


class TagRollup(EntryRollup):
    """Confirmed entries by month, tag and type."""

    # The first day of the month.
    month = models.DateField()
    tag_id = models.BigIntegerField()

    class Meta:
        db_table = "account_tag_total"
        ordering = ["month", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["member", "month", "tag_id", "type"],
                name="account_tag_total_key",
            ),
            CompositeForeignKey(
                name="account_tag_total_tag_owned",
                fields=["member", "tag_id"],
                to="ledger.Tag",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.month} tag {self.tag_id} {self.amount}"


class MemoRollup(models.Model):
    """The number of confirmed entries by type, memo and category.

    Category suggestions use it: a member has far fewer memos than entries.
    """

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    type = models.CharField(max_length=7, choices=EntryType.choices)
    # In lower case, without whitespace.
    memo = models.CharField(max_length=MAX_MEMO_LENGTH)
    category_id = models.BigIntegerField()
    entry_count = models.IntegerField()

    objects = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "account_memo_total"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["member", "type", "memo", "category_id"],
                name="account_memo_total_key",
            ),
            CompositeForeignKey(
                name="account_memo_total_category_owned",
                fields=["member", "type", "category_id"],
                to="ledger.Category",
                to_fields=["member", "type", "id"],
                on_delete="CASCADE",
            ),
        ]
        indexes = [
            GinIndex(
                OpClass("member_id", name="int8_ops"),
                OpClass("memo", name="gin_trgm_ops"),
                name="account_memo_total_memo",
            )
        ]

    def __str__(self) -> str:
        return f"{self.memo}: {self.entry_count}"


class WalletRollup(models.Model):
    """The entries of a wallet; `balance` is income minus expense, if confirmed."""

    wallet = models.OneToOneField(
        Wallet,
        on_delete=models.CASCADE,
        db_constraint=False,
        primary_key=True,
        related_name="rollup",
    )
    member_id = models.BigIntegerField()
    balance = models.BigIntegerField()
    # Pending entries included.
    entry_count = models.IntegerField()

    class Meta:
        db_table = "account_wallet_total"
        ordering = ["wallet_id"]
        constraints = [
            CompositeForeignKey(
                name="account_wallet_total_wallet_owned",
                fields=["member_id", "wallet"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return f"wallet {self.wallet_id}: {self.balance}"
