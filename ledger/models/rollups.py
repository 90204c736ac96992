"""Totals that the database keeps beside the entries.

Statement triggers on `account_entry` and `account_entry_tag` (see the migrations)
change them with every write, whichever way it comes, so that balances, counts and
statistics cost the same for a thousand entries and for a million. Nothing else writes
these tables. A write takes the member's `LedgerTotal` first, so that no two writes of
one member wait for each other's totals crosswise.
"""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models

from accounts.models import Member
from ledger.models.base import MAX_MEMO_LENGTH, EntryType, OwnedQuerySet
from ledger.models.wallets import Wallet


class LedgerTotal(models.Model):
    """How many entries the member has, and how many of them are pending."""

    member = models.OneToOneField(
        Member, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    entries = models.IntegerField()
    pending = models.IntegerField()

    objects = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "account_ledger_total"
        ordering = ["member_id"]

    def __str__(self) -> str:
        return f"member {self.member_id}: {self.entries}"


class Total(models.Model):
    """The entries of one group: how many, and the sum of their amounts."""

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    type = models.CharField(max_length=7, choices=EntryType.choices)
    amount = models.BigIntegerField()
    entries = models.IntegerField()

    objects = OwnedQuerySet.as_manager()

    class Meta:
        abstract = True


class MonthTotal(Total):
    """By month, type and pending."""

    month = models.DateField()
    """The first day of the month."""
    pending = models.BooleanField()

    class Meta:
        db_table = "account_month_total"
        ordering = ["month", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["member", "month", "type", "pending"],
                include=["amount", "entries"],
                name="account_month_total_key",
            )
        ]

    def __str__(self) -> str:
        return f"{self.month} {self.type} {self.amount}"


class EntryTotal(Total):
    """By month, type, pending, category and wallet."""

    month = models.DateField()
    """The first day of the month."""
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
            )
        ]

    def __str__(self) -> str:
        return f"{self.month} {self.type} {self.amount}"


class DayTotal(Total):
    """By day, type, pending and wallet."""

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
            )
        ]

    def __str__(self) -> str:
        return f"{self.date} {self.type} {self.amount}"


class TagTotal(Total):
    """Confirmed entries by month, tag and type."""

    month = models.DateField()
    """The first day of the month."""
    tag_id = models.BigIntegerField()

    class Meta:
        db_table = "account_tag_total"
        ordering = ["month", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["member", "month", "tag_id", "type"],
                name="account_tag_total_key",
            )
        ]

    def __str__(self) -> str:
        return f"{self.month} tag {self.tag_id} {self.amount}"


class MemoTotal(models.Model):
    """How many confirmed entries of a memo have a category.

    Categories are learned from it: a member has far fewer memos than entries.
    """

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    type = models.CharField(max_length=7, choices=EntryType.choices)
    memo = models.CharField(max_length=MAX_MEMO_LENGTH)
    """In lower case, without blanks."""
    category_id = models.BigIntegerField()
    entries = models.IntegerField()

    objects = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "account_memo_total"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["member", "type", "memo", "category_id"],
                name="account_memo_total_key",
            )
        ]
        indexes = [
            GinIndex(
                OpClass("member_id", name="int8_ops"),
                OpClass("memo", name="gin_trgm_ops"),
                name="account_memo_total_memo",
            )
        ]

    def __str__(self) -> str:
        return f"{self.memo}: {self.entries}"


class WalletTotal(models.Model):
    """What flowed through a wallet: income minus expense of confirmed entries."""

    wallet = models.OneToOneField(
        Wallet, on_delete=models.CASCADE, primary_key=True, related_name="total"
    )
    member_id = models.BigIntegerField()
    balance = models.BigIntegerField()
    entries = models.IntegerField()
    """Entries of the wallet, pending ones included."""

    class Meta:
        db_table = "account_wallet_total"
        ordering = ["wallet_id"]

    def __str__(self) -> str:
        return f"wallet {self.wallet_id}: {self.balance}"
