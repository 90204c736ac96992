"""Stocks, trades and the portfolio."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from core.api.openapi import page_serializer
from core.api.operations import extend_schema
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.permissions import IsPremium
from core.api.serializers import validate_query
from core.api.token_scopes import LEDGER
from core.api.viewsets import ReorderMixin
from core.errors import DuplicateError, InUseError, LimitReachedError
from ledger.base.ownership import OwnedModelViewSet, OwnedView
from ledger.errors import NegativeHoldingsError
from ledger.investments import trading
from ledger.investments.portfolio import get_portfolio
from ledger.investments.prices import refresh_prices
from ledger.investments.serializers import (
    PortfolioSerializer,
    StockSerializer,
    TradeQuerySerializer,
    TradeSerializer,
    portfolio_payload,
)
from ledger.investments.trade_list import list_trades_page
from ledger.models import Stock, Trade

SCHEMA_TAG = "Investments"


@extend_schema_view(
    list=extend_schema(description="With stored prices; none are fetched."),
    create=extend_schema(
        description="Added last. Codes are unique: 409 `DUPLICATE` if it exists."
    ),
    destroy=extend_schema(description="A stock with trades is 409 `IN_USE`."),
)
class StockViewSet(ReorderMixin, OwnedModelViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = SCHEMA_TAG
    raises = {
        "create": [DuplicateError, LimitReachedError],
        "update": [DuplicateError],
        "destroy": [InUseError],
    }
    queryset = Stock.objects.all()
    serializer_class = StockSerializer
    lookup_url_kwarg = "stock_id"

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = trading.create_stock(
            self.member, serializer.validated_data
        )

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = trading.update_stock(
            self.member, self.object_id, serializer.validated_data
        )

    def perform_destroy(self, object_id: int) -> None:
        trading.delete_stock(self.member, object_id)

    def perform_reorder(self, ids: list[int]) -> None:
        trading.reorder_stocks(self.member, ids)


@extend_schema_view(
    create=extend_schema(
        description="400 `NEGATIVE_HOLDINGS` if more would be sold than is held at any "
        "time; `detail` and `errors` name the first such day. On one day, buys come "
        "before sells."
    ),
    update=extend_schema(
        description="The stock may change. 400 `NEGATIVE_HOLDINGS` as in creation."
    ),
    partial_update=extend_schema(
        description="The stock may change. 400 `NEGATIVE_HOLDINGS` as in creation."
    ),
    destroy=extend_schema(
        description="400 `NEGATIVE_HOLDINGS` if later sells depend on the trade."
    ),
)
class TradeViewSet(OwnedModelViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = SCHEMA_TAG
    raises = {
        "create": [NegativeHoldingsError],
        "update": [NegativeHoldingsError],
        "destroy": [NegativeHoldingsError],
    }
    queryset = Trade.objects.all()
    serializer_class = TradeSerializer
    lookup_url_kwarg = "trade_id"

    @extend_schema(
        parameters=[TradeQuerySerializer, PageQuerySerializer],
        responses=page_serializer(TradeSerializer),
    )
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List trades.

        Newest first: by date, then by id.
        """
        page = get_page_request(request)
        query = validate_query(TradeQuerySerializer, request)
        count, trades = list_trades_page(self.member, query, page)
        body = self.get_serializer(trades, many=True).data
        return Response(page_payload(request, page, count, body))

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = trading.create_trade(
            self.member, serializer.validated_data
        )

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = trading.update_trade(
            self.member, self.object_id, serializer.validated_data
        )

    def perform_destroy(self, object_id: int) -> None:
        trading.delete_trade(self.member, object_id)


class PortfolioView(OwnedView):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = SCHEMA_TAG

    @extend_schema(responses=PortfolioSerializer)
    def get(self, request: Request) -> Response:
        """Get the portfolio.

        Holdings at moving-average cost and current prices. Outdated prices are fetched
        first, for all stocks together, within two seconds; if that fails, the previous
        price is kept and `priceStale` is true. Sold-out stocks are listed last. Totals
        are rounded from exact sums; a holding without a price counts at its cost.
        """
        refresh_prices(self.member)
        return Response(portfolio_payload(get_portfolio(self.member)))
