"""Stocks, trades, positions and quotes."""

from django.db import models
from django.db.models import Q

from core.db.constraints import CompositeForeignKey
from ledger.models.base import (
    MAX_MEMO_LENGTH,
    MAX_NAME_LENGTH,
    OwnedForeignKey,
    OwnedModel,
    VersionedModel,
    owned_constraints,
    owned_key,
)

MAX_CODE_LENGTH = 20


class Stock(VersionedModel):
    """A security that a member trades (spec 3.14).

    The member entered `current_price`, in whole home-currency units, at `price_at`. A
    quote of the code takes precedence.
    """

    code = models.CharField(max_length=MAX_CODE_LENGTH)
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    market = models.CharField(max_length=MAX_CODE_LENGTH, blank=True, default="")
    current_price = models.BigIntegerField(null=True)
    price_at = models.DateTimeField(null=True)
    sort_order = models.IntegerField(default=0)

    class Meta:
        db_table = "invest_stock"
        ordering = ["sort_order", "id"]
        constraints = [
            *owned_constraints("invest_stock"),
            models.UniqueConstraint(
                fields=["member", "code"], name="invest_stock_code_unique"
            ),
            models.CheckConstraint(
                condition=Q(current_price=None) | Q(current_price__gte=0),
                name="invest_stock_price_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Trade(VersionedModel):
    """A buy or a sell (spec 3.14); money in whole home-currency units."""

    class Side(models.TextChoices):
        BUY = "BUY"
        SELL = "SELL"

    stock = OwnedForeignKey(Stock)
    side = models.CharField(max_length=4, choices=Side.choices)
    date = models.DateField()
    quantity = models.DecimalField(max_digits=18, decimal_places=6)
    price = models.BigIntegerField()
    fee = models.BigIntegerField(default=0)
    tax = models.BigIntegerField(default=0)
    memo = models.CharField(max_length=MAX_MEMO_LENGTH, blank=True, default="")

    class Meta:
        db_table = "invest_trade"
        ordering = ["-date", "-id"]
        constraints = [
            owned_key("invest_trade"),
            models.CheckConstraint(
                condition=Q(quantity__gt=0), name="invest_trade_quantity_positive"
            ),
            models.CheckConstraint(
                condition=Q(price__gte=0, fee__gte=0, tax__gte=0),
                name="invest_trade_money_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(side__in=["BUY", "SELL"]), name="invest_trade_side_known"
            ),
            CompositeForeignKey(
                name="invest_trade_stock_owned",
                fields=["member", "stock"],
                to="ledger.Stock",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "stock", "date", "side", "id"],
                name="invest_trade_replay",
            ),
            models.Index(fields=["member", "-date", "-id"], name="invest_trade_list"),
        ]

    def __str__(self) -> str:
        return f"{self.date} {self.side} {self.quantity}"


class Position(OwnedModel):
    """The position in a stock, derived from its trades.

    Triggers on `invest_trade` maintain quantity, number of trades and version. `cost`
    and `realized`, in units of 10⁻³⁰, are the result of the last replay and valid only
    while `replayed_version` equals `version`.
    """

    pk = models.CompositePrimaryKey("member_id", "stock_id")
    stock = OwnedForeignKey(Stock)
    quantity = models.DecimalField(max_digits=30, decimal_places=6)
    trade_count = models.IntegerField()
    version = models.BigIntegerField()
    cost = models.DecimalField(max_digits=80, decimal_places=0, null=True)
    realized = models.DecimalField(max_digits=80, decimal_places=0, null=True)
    replayed_version = models.BigIntegerField(null=True)

    class Meta:
        db_table = "invest_position"
        ordering = ["stock_id"]
        constraints = [
            CompositeForeignKey(
                name="invest_position_stock_owned",
                fields=["member", "stock"],
                to="ledger.Stock",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return f"stock {self.stock_id}: {self.quantity}"


class StockQuote(models.Model):
    """The last known price of a stock code, shared by all members.

    `home_price` is `price` in whole home-currency units, `quoted_at` the source's own
    time. The price may be fetched again from `next_refresh_at` on. `is_claimed` is set
    while a request fetches it, `has_failed` if the last fetch found no price.
    """

    code = models.CharField(max_length=MAX_CODE_LENGTH, primary_key=True)
    price = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    currency = models.CharField(max_length=3, null=True)
    home_price = models.BigIntegerField(null=True)
    quoted_at = models.DateTimeField(null=True)
    fetched_at = models.DateTimeField(null=True)
    next_refresh_at = models.DateTimeField()
    is_claimed = models.BooleanField(default=False)
    has_failed = models.BooleanField(db_default=False)

    class Meta:
        db_table = "stock_quote"
        ordering = ["code"]
        constraints = [
            models.CheckConstraint(
                condition=Q(home_price=None) | Q(home_price__gte=0),
                name="stock_quote_price_not_negative",
            )
        ]

    def __str__(self) -> str:
        return f"{self.code}: {self.price} {self.currency}"
