"""Serializers of investments."""

import functools
from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from core.api.field_texts import FieldText
from core.api.fields import (
    MAX_AMOUNT,
    AmountField,
    ClosedChoiceField,
    ExactDecimalField,
    IsoDateField,
    PositiveDecimalField,
    StrictCharField,
)
from core.api.serializers import QuerySerializer, Serializer
from ledger.base.fields import NameField, OptionalTextField, VersionField
from ledger.base.ownership import OwnedPrimaryKeyField
from ledger.investments.portfolio import Portfolio
from ledger.investments.prices import Price, get_prices_by_code
from ledger.models import Stock, Trade
from ledger.models.investments import MAX_CODE_LENGTH

NonNegativeMoneyField = functools.partial(AmountField, min_value=0)


class StockCodeField(StrictCharField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_CODE_LENGTH, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        return super().to_internal_value(data).upper()


class StockListSerializer(serializers.ListSerializer[Any]):
    """Prices are read in one query."""

    child: "StockSerializer"

    def to_representation(self, data: Any) -> list[Any]:
        stocks: list[Stock] = list(data)
        self.child.prices = get_prices_by_code(stocks)
        return super().to_representation(stocks)


class StockSerializer(Serializer):
    """A stock."""

    class Meta:
        list_serializer_class = StockListSerializer

    # Code -> price; set for lists.
    prices: Mapping[str, Price] | None = None

    id = serializers.IntegerField(read_only=True)
    code = StockCodeField(
        help_text=(
            "The code by which prices are looked up, stored in capital letters: 005930 "
            "for a Korean stock, AAPL for an American one. Unique per member."
        )
    )
    name = NameField()
    market = OptionalTextField(
        max_length=MAX_CODE_LENGTH,
        help_text=FieldText(
            "Name of the market, such as KOSPI; may be empty.",
            requests=f"At most {MAX_CODE_LENGTH} characters.",
        ),
    )
    current_price = NonNegativeMoneyField(
        required=False,
        allow_null=True,
        default=None,
        help_text=FieldText(
            "In whole home-currency units; null if none is known.",
            requests="It is used only for codes without any price found.",
        ),
    )
    price_at = serializers.DateTimeField(
        read_only=True,
        allow_null=True,
        help_text="The time of the price; null if none is known.",
    )
    sort_order = serializers.IntegerField(read_only=True)
    version = VersionField()

    def to_representation(self, instance: Stock) -> dict[str, Any]:
        prices = self.prices or get_prices_by_code([instance])
        price = prices[instance.code]
        body = super().to_representation(instance)
        return body | {"currentPrice": price.amount, "priceAt": price.at}


class TradeSerializer(Serializer):
    """A trade; a response is also a valid request."""

    id = serializers.IntegerField(read_only=True)
    stock_id = OwnedPrimaryKeyField(
        Stock, source="stock", help_text="Id of a stock of the caller."
    )
    side = ClosedChoiceField(choices=Trade.Side.choices, help_text="`BUY` or `SELL`.")
    date = IsoDateField(help_text="Day of the trade.")
    quantity = PositiveDecimalField(
        max_digits=18,
        decimal_places=6,
        help_text=FieldText(
            "Number of shares.",
            requests="More than 0, up to 12 digits before and 6 after the point.",
        ),
    )
    price = NonNegativeMoneyField(
        help_text=FieldText(
            "Per share, in whole home-currency units; 0 for bonus shares and the like.",
            requests=f"0 to {MAX_AMOUNT}.",
        )
    )
    fee = NonNegativeMoneyField(
        required=False,
        default=0,
        help_text=FieldText(
            "In whole home-currency units. Raises the cost of a buy, reduces the profit"
            " of a sell.",
            left_out="Left out: 0.",
        ),
    )
    tax = NonNegativeMoneyField(
        required=False,
        default=0,
        help_text=FieldText(
            "In whole home-currency units. Reduces the profit of a sell; ignored for a "
            "buy.",
            left_out="Left out: 0.",
        ),
    )
    memo = OptionalTextField()
    version = VersionField()

    def to_representation(self, instance: Trade) -> dict[str, Any]:
        # This is faster than DRF's loop over fields: pages have up to 100 trades.
        return {
            "id": instance.pk,
            "stockId": instance.stock_id,
            "side": instance.side,
            "date": instance.date,
            "quantity": instance.quantity,
            "price": instance.price,
            "fee": instance.fee,
            "tax": instance.tax,
            "memo": instance.memo,
            "version": instance.version,
        }


class TradeQuerySerializer(QuerySerializer):
    """The filters of the trade list, which are combined with AND."""

    stock_id = serializers.IntegerField(
        required=False, help_text="Only trades of this stock."
    )
    from_ = IsoDateField(
        required=False, source="from_", help_text="Only trades of this day and later."
    )
    to = IsoDateField(required=False, help_text="Only trades of this day and before.")
    side = ClosedChoiceField(
        choices=Trade.Side.choices, required=False, help_text="Only buys or only sells."
    )


class HoldingSerializer(Serializer):
    stock_id = serializers.IntegerField(help_text="Id of the stock.")
    code = serializers.CharField(help_text="Code of the stock.")
    name = serializers.CharField(help_text="Name of the stock.")
    market = serializers.CharField(help_text="Market of the stock; empty if not set.")
    quantity = ExactDecimalField(
        max_digits=30, decimal_places=6, help_text="0 if all shares were sold."
    )
    average_cost = ExactDecimalField(
        max_digits=30,
        decimal_places=2,
        allow_null=True,
        help_text="Per share, with 2 decimals; null if none is held.",
    )
    cost_basis = serializers.IntegerField(
        help_text="Cost of the shares held, with fees, in whole home-currency units."
    )
    current_price = serializers.IntegerField(
        allow_null=True,
        help_text=(
            "Latest price of a share, in whole home-currency units; null if none is"
            " known."
        ),
    )
    price_at = serializers.DateTimeField(
        allow_null=True, help_text="Time of that price; null if none is known."
    )
    price_stale = serializers.BooleanField(
        help_text=(
            "True if the price may be old: it was typed in, or the latest lookup "
            "failed."
        )
    )
    market_value = serializers.IntegerField(
        allow_null=True, help_text="Null if no price is known."
    )
    unrealized_profit = serializers.IntegerField(
        allow_null=True, help_text="marketValue - costBasis; null if no price is known."
    )
    unrealized_rate = ExactDecimalField(
        max_digits=30,
        decimal_places=4,
        allow_null=True,
        help_text="unrealizedProfit / costBasis with 4 decimals: 0.25 is 25 %.",
    )
    realized_profit = serializers.IntegerField(
        help_text="Profit of all sells, after fees and taxes."
    )


class PortfolioTotalsSerializer(Serializer):
    """Rounded from the exact sums; a holding without a price counts at its cost."""

    cost_basis = serializers.IntegerField(help_text="Cost of all shares held.")
    market_value = serializers.IntegerField(
        help_text="Market value of all shares held."
    )
    unrealized_profit = serializers.IntegerField(help_text="marketValue - costBasis.")
    unrealized_rate = ExactDecimalField(
        max_digits=30,
        decimal_places=4,
        allow_null=True,
        help_text="unrealizedProfit / costBasis with 4 decimals; null without cost.",
    )
    realized_profit = serializers.IntegerField(
        help_text="Profit of all sells, after fees and taxes."
    )


class PortfolioSerializer(Serializer):
    holdings = HoldingSerializer(
        many=True,
        help_text="Each stock ever traded, in its `sortOrder`; sold-out ones last.",
    )
    totals = PortfolioTotalsSerializer(help_text="Sums in whole home-currency units.")


def portfolio_payload(portfolio: Portfolio) -> dict[str, Any]:
    totals = portfolio.totals
    return {
        "holdings": [
            {
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
            for holding in portfolio.holdings
        ],
        "totals": {
            "costBasis": totals.cost_basis,
            "marketValue": totals.market_value,
            "unrealizedProfit": totals.unrealized_profit,
            "unrealizedRate": totals.unrealized_rate,
            "realizedProfit": totals.realized_profit,
        },
    }
