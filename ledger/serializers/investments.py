"""Wire shapes of stocks, trades and the portfolio."""

import functools
from typing import Any

from rest_framework import serializers

from core.api.fields import (
    MAX_AMOUNT,
    AmountField,
    ExactDecimalField,
    IsoDateField,
    PositiveDecimalField,
    StrictCharField,
)
from core.api.serializers import QuerySerializer, Serializer
from ledger.investments.portfolio import Holding, Portfolio, PortfolioTotals
from ledger.investments.prices import Price
from ledger.models import Stock, Trade
from ledger.models.investments import MAX_CODE_LENGTH
from ledger.ownership import OwnedPrimaryKeyField
from ledger.serializers.fields import NameField, OptionalTextField

NonNegativeMoneyField = functools.partial(AmountField, min_value=0)


class StockCodeField(StrictCharField):
    """A stock's code in capital letters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=MAX_CODE_LENGTH, **options)

    def to_internal_value(self, data: Any) -> str:
        return super().to_internal_value(data).upper()


class StockSerializer(Serializer):
    """A stock (spec 3.14)."""

    id = serializers.IntegerField(read_only=True)
    code = StockCodeField(
        help_text=(
            "By which its price is looked up, kept in capital letters: 005930 for a "
            "Korean stock, AAPL for an American one. Unique for the member."
        )
    )
    name = NameField()
    market = OptionalTextField(max_length=MAX_CODE_LENGTH)
    current_price = NonNegativeMoneyField(
        required=False,
        allow_null=True,
        default=None,
        help_text=(
            "Whole home-currency units. Opening the portfolio looks it up; one that "
            "is typed in counts only for a code of which no price was ever found."
        ),
    )
    price_at = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="The time of the price."
    )
    sort_order = serializers.IntegerField(read_only=True)


class TradeSerializer(Serializer):
    """A trade (spec 3.14); what is read can be sent back as it is."""

    id = serializers.IntegerField(read_only=True)
    stock_id = OwnedPrimaryKeyField(Stock, source="stock")
    side = serializers.ChoiceField(choices=Trade.Side.choices)
    date = IsoDateField()
    quantity = PositiveDecimalField(
        max_digits=18,
        decimal_places=6,
        help_text="More than 0, up to 12 digits before and 6 after the point.",
    )
    price = NonNegativeMoneyField(
        help_text=(
            f"Of one share, whole home-currency units, 0 to {MAX_AMOUNT}; 0 for "
            "shares that were given, such as bonus shares."
        )
    )
    fee = NonNegativeMoneyField(required=False, default=0)
    tax = NonNegativeMoneyField(
        required=False, default=0, help_text="Lowers the profit of a sell only."
    )
    memo = OptionalTextField()


class TradeQuerySerializer(QuerySerializer):
    """The filters of the trade list; all that are given must hold."""

    stock_id = serializers.IntegerField(required=False)
    from_ = IsoDateField(required=False, source="from_")
    to = IsoDateField(required=False)
    side = serializers.ChoiceField(choices=Trade.Side.choices, required=False)


class HoldingSerializer(Serializer):
    stock_id = serializers.IntegerField()
    code = serializers.CharField()
    name = serializers.CharField()
    market = serializers.CharField()
    quantity = ExactDecimalField(
        max_digits=30, decimal_places=6, help_text="0 where all shares were sold."
    )
    average_cost = ExactDecimalField(
        max_digits=30,
        decimal_places=2,
        allow_null=True,
        help_text="Of one share, with 2 decimals; null where none is held.",
    )
    cost_basis = serializers.IntegerField()
    current_price = serializers.IntegerField(allow_null=True)
    price_at = serializers.DateTimeField(allow_null=True)
    price_stale = serializers.BooleanField(
        help_text="True where no price could be had lately; the last one is shown."
    )
    market_value = serializers.IntegerField(
        allow_null=True, help_text="Null where no price is known."
    )
    unrealized_profit = serializers.IntegerField(allow_null=True)
    unrealized_rate = ExactDecimalField(
        max_digits=30,
        decimal_places=4,
        allow_null=True,
        help_text="unrealizedProfit / costBasis with 4 decimals: 0.25 is 25 %.",
    )
    realized_profit = serializers.IntegerField()


class PortfolioTotalsSerializer(Serializer):
    """Rounded from the exact sums; a holding without a price counts at its cost."""

    cost_basis = serializers.IntegerField()
    market_value = serializers.IntegerField()
    unrealized_profit = serializers.IntegerField()
    unrealized_rate = ExactDecimalField(
        max_digits=30, decimal_places=4, allow_null=True
    )
    realized_profit = serializers.IntegerField()


class PortfolioSerializer(Serializer):
    holdings = HoldingSerializer(many=True)
    totals = PortfolioTotalsSerializer()


def stock_payload(stock: Stock, price: Price) -> dict[str, Any]:
    return {
        "id": stock.pk,
        "code": stock.code,
        "name": stock.name,
        "market": stock.market,
        "currentPrice": price.amount,
        "priceAt": price.at,
        "sortOrder": stock.sort_order,
    }


def trade_payload(trade: Trade) -> dict[str, Any]:
    return {
        "id": trade.pk,
        "stockId": trade.stock_id,
        "side": trade.side,
        "date": trade.date,
        "quantity": trade.quantity,
        "price": trade.price,
        "fee": trade.fee,
        "tax": trade.tax,
        "memo": trade.memo,
    }


def portfolio_payload(portfolio: Portfolio) -> dict[str, Any]:
    return {
        "holdings": [holding_payload(row) for row in portfolio.holdings],
        "totals": portfolio_totals_payload(portfolio.totals),
    }


def holding_payload(holding: Holding) -> dict[str, Any]:
    return {
        "stockId": holding.stock_id,
        "code": holding.code,
        "name": holding.name,
        "market": holding.market,
        "quantity": holding.quantity,
        "averageCost": holding.average_cost,
        "costBasis": holding.cost_basis,
        "currentPrice": holding.price.amount,
        "priceAt": holding.price.at,
        "priceStale": holding.price.is_stale,
        "marketValue": holding.market_value,
        "unrealizedProfit": holding.unrealized_profit,
        "unrealizedRate": holding.unrealized_rate,
        "realizedProfit": holding.realized_profit,
    }


def portfolio_totals_payload(totals: PortfolioTotals) -> dict[str, Any]:
    return {
        "costBasis": totals.cost_basis,
        "marketValue": totals.market_value,
        "unrealizedProfit": totals.unrealized_profit,
        "unrealizedRate": totals.unrealized_rate,
        "realizedProfit": totals.realized_profit,
    }
