"""Rollup tables: counts and sums of entries, kept by triggers.

Rows of 0 entries mean the same as no rows, and may name deleted categories: there are
no foreign keys.
"""

from django.db import models

from ledger.models.base import (
    MAX_MEMO_LENGTH,
    CategoryType,
    OwnedModel,
)


class FlowRollup(OwnedModel):
    """Sums of confirmed entries, and numbers of all entries, by type.

    `expense` is net of `refunded`.
    """

    income = models.BigIntegerField()
    expense = models.BigIntegerField()
    refunded = models.BigIntegerField(db_default=0)
    excluded_income = models.BigIntegerField(db_default=0)
    excluded_expense = models.BigIntegerField(db_default=0)
    # Entries with an income or expense.
    flow_count = models.IntegerField(db_default=0)
    excluded_count = models.IntegerField(db_default=0)
    # Entries that move money between wallets.
    transferring_count = models.IntegerField(db_default=0)
    # Counts of the list of entries.
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

    `wallet_change` is the change of all balances, `transferred` the sum of transfers.
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

    `month` is its first day. Flows count for the entry's own wallet only: all wallets
    add up to the month. Other entries' transfers and lines count in the columns below.
    """

    pk = models.CompositePrimaryKey("member_id", "month", "wallet_id")
    month = models.DateField()
    # 0 for entries without a wallet.
    wallet_id = models.BigIntegerField()
    # Excluded entries count too.
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

    `amount` and `entry_count` leave out pending and excluded entries.
    """

    pk = models.CompositePrimaryKey("member_id", "month", "type", "category_id")
    month = models.DateField()
    type = models.CharField(max_length=7, choices=CategoryType.choices)
    # 0 for entries without a category.
    category_id = models.BigIntegerField()
    amount = models.BigIntegerField()
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
    """Confirmed entries by month, type and tag, without excluded ones.

    An entry with both types counts once, as an expense.
    """

    pk = models.CompositePrimaryKey("member_id", "month", "type", "tag_id")
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
    """Numbers of entries by type, memo and category, for category suggestions.

    Confirmed flat entries, neither excluded nor booked on the other type.
    """

    pk = models.CompositePrimaryKey("member_id", "type", "memo", "category_id")
    type = models.CharField(max_length=7, choices=CategoryType.choices)
    # The memo in lower case, without whitespace.
    memo = models.CharField(max_length=MAX_MEMO_LENGTH)
    category_id = models.BigIntegerField()
    entry_count = models.IntegerField()

    class Meta:
        db_table = "account_memo_total"
        ordering = ["type", "memo", "category_id"]

    def __str__(self) -> str:
        return f"{self.memo}: {self.entry_count}"


class WalletRollup(OwnedModel):
    """The entries of a wallet; `balance` is the sum of confirmed entries."""

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
