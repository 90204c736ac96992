"""Rollup tables: counts and sums of entries, maintained by triggers.

Triggers on `account_entry` and `account_entry_tag` update them with every write, so
that balances, counts and statistics cost the same for a thousand entries and for a
million. Nothing else writes these tables, except `ledger.rollups` after writes of many
rows. The triggers lock the member's `Ledger` first, so that concurrent writes of one
member cannot deadlock.

A rollup has few rows, compared with the entries: one for each day, one for each month
and category, and so on. Rows of 0 entries remain after deletions and mean the same as
none. Ids of what was deleted may remain likewise: rollups have no foreign keys.
"""

from django.db import models

from ledger.models.base import (
    MAX_MEMO_LENGTH,
    CategoryType,
    OwnedModel,
)


class FlowRollup(OwnedModel):
    """Sums of confirmed entries, and the numbers of all entries, by type.

    The sums leave out excluded entries, which have sums of their own. `refunded` is
    what was taken from the expense, which is net.
    """

    income = models.BigIntegerField()
    expense = models.BigIntegerField()
    refunded = models.BigIntegerField(db_default=0)
    excluded_income = models.BigIntegerField(db_default=0)
    excluded_expense = models.BigIntegerField(db_default=0)
    # Entries with an income or expense.
    flow_count = models.IntegerField(db_default=0)
    excluded_count = models.IntegerField(db_default=0)
    # Entries that move money between wallets, those with an expense included.
    transferring_count = models.IntegerField(db_default=0)
    # For the list of entries, by their type, confirmed or not.
    income_count = models.IntegerField()
    expense_count = models.IntegerField()
    transfer_count = models.IntegerField(db_default=0)
    pending_income_count = models.IntegerField()
    pending_expense_count = models.IntegerField()
    pending_transfer_count = models.IntegerField(db_default=0)

    class Meta:
        abstract = True


class DayRollup(FlowRollup):
    """Entries by day.

    `wallet_change` is what they add to the balances of all wallets, and `transferred`
    what they move between wallets.
    """

    pk = models.CompositePrimaryKey("member_id", "date")
    date = models.DateField()
    wallet_change = models.BigIntegerField()
    transferred = models.BigIntegerField(db_default=0)

    class Meta:
        db_table = "account_day_total"
        ordering = ["date"]

    def __str__(self) -> str:
        return f"{self.date}: +{self.income} -{self.expense}"


class WalletMonthRollup(FlowRollup):
    """Entries by month and wallet.

    Sums and counts are of the wallet's own entries, so that those of all wallets add up
    to the month. What touches other wallets, of transfers and lines, is `transfer_in`,
    `transfer_out`, `wallet_change`, and in the counts of the list.
    """

    pk = models.CompositePrimaryKey("member_id", "month", "wallet_id")
    # The first day of the month.
    month = models.DateField()
    # 0 for entries without a wallet.
    wallet_id = models.BigIntegerField()
    # What the entries add to the balance, excluded ones too.
    wallet_change = models.BigIntegerField(db_default=0)
    transfer_in = models.BigIntegerField(db_default=0)
    transfer_out = models.BigIntegerField(db_default=0)

    class Meta:
        db_table = "account_wallet_month_total"
        ordering = ["month", "wallet_id"]

    def __str__(self) -> str:
        return f"{self.month} wallet {self.wallet_id}: +{self.income} -{self.expense}"


class CategoryRollup(OwnedModel):
    """Entries by month, type of category and category.

    `amount` and `entry_count` are of confirmed entries that are not excluded.
    """

    pk = models.CompositePrimaryKey("member_id", "month", "type", "category_id")
    # The first day of the month.
    month = models.DateField()
    type = models.CharField(max_length=7, choices=CategoryType.choices)
    # 0 for entries without a category.
    category_id = models.BigIntegerField()
    amount = models.BigIntegerField()
    # What was taken from the amount of an expense.
    refunded = models.BigIntegerField(db_default=0)
    entry_count = models.IntegerField()
    pending_count = models.IntegerField()
    excluded_count = models.IntegerField(db_default=0)

    class Meta:
        db_table = "account_category_total"
        ordering = ["month", "type", "category_id"]

    def __str__(self) -> str:
        return f"{self.month} {self.type} {self.category_id}: {self.amount}"


class TagRollup(OwnedModel):
    """Confirmed entries by month, type of category and tag, without excluded ones.

    `entry_count` counts an entry with both types once, as an expense.
    """

    pk = models.CompositePrimaryKey("member_id", "month", "type", "tag_id")
    # The first day of the month.
    month = models.DateField()
    type = models.CharField(max_length=7, choices=CategoryType.choices)
    tag_id = models.BigIntegerField()
    amount = models.BigIntegerField()
    refunded = models.BigIntegerField(db_default=0)
    entry_count = models.IntegerField()

    class Meta:
        db_table = "account_tag_total"
        ordering = ["month", "type", "tag_id"]

    def __str__(self) -> str:
        return f"{self.month} tag {self.tag_id}: {self.amount}"


class MemoRollup(OwnedModel):
    """The number of confirmed entries by type, memo and category.

    Only flat entries that are neither excluded nor booked on the other type.

    Category suggestions use it: a member has far fewer memos than entries.
    """

    pk = models.CompositePrimaryKey("member_id", "type", "memo", "category_id")
    type = models.CharField(max_length=7, choices=CategoryType.choices)
    # In lower case, without whitespace.
    memo = models.CharField(max_length=MAX_MEMO_LENGTH)
    category_id = models.BigIntegerField()
    entry_count = models.IntegerField()

    class Meta:
        db_table = "account_memo_total"
        ordering = ["type", "memo", "category_id"]

    def __str__(self) -> str:
        return f"{self.memo}: {self.entry_count}"


class WalletRollup(OwnedModel):
    """The entries that touch a wallet; `balance` is what the confirmed ones add."""

    pk = models.CompositePrimaryKey("member_id", "wallet_id")
    wallet_id = models.BigIntegerField()
    balance = models.BigIntegerField()
    # Pending entries included.
    entry_count = models.IntegerField()

    class Meta:
        db_table = "account_wallet_total"
        ordering = ["wallet_id"]

    def __str__(self) -> str:
        return f"wallet {self.wallet_id}: {self.balance}"
