"""Stocks, trades and the portfolio."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.openapi import page_serializer
from core.api.ordering import ReorderRequestSerializer
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.permissions import IsPremium
from core.api.serializers import validate_body, validate_query
from ledger.investments import trading
from ledger.investments.portfolio import get_portfolio
from ledger.investments.prices import get_prices_by_stock, refresh_prices
from ledger.investments.trade_list import list_trades_page
from ledger.models import Stock, Trade
from ledger.ownership import OwnedViewSet, get_owned_or_404
from ledger.serializers.investments import (
    PortfolioSerializer,
    StockSerializer,
    TradeQuerySerializer,
    TradeSerializer,
    portfolio_payload,
    stock_payload,
    trade_payload,
)


class StockViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(responses=StockSerializer(many=True))
    def list(self, request: Request) -> Response:
        """In their order, at the prices that are stored."""
        stocks = list(trading.list_stocks(self.member))
        prices = get_prices_by_stock(stocks)
        return Response([stock_payload(stock, prices[stock.pk]) for stock in stocks])

    @extend_schema(request=StockSerializer, responses={201: StockSerializer})
    def create(self, request: Request) -> Response:
        """A new stock goes last."""
        stock = trading.create_stock(
            self.member, validate_body(StockSerializer, request)
        )
        return Response(self._describe(stock), status=status.HTTP_201_CREATED)

    @extend_schema(responses=StockSerializer)
    def retrieve(self, request: Request, stock_id: int) -> Response:
        return Response(self._describe(self._find(stock_id)))

    @extend_schema(request=StockSerializer, responses=StockSerializer)
    def update(self, request: Request, stock_id: int) -> Response:
        return self._change(request, stock_id, partial=False)

    @extend_schema(request=StockSerializer, responses=StockSerializer)
    def partial_update(self, request: Request, stock_id: int) -> Response:
        return self._change(request, stock_id, partial=True)

    def _change(self, request: Request, stock_id: int, *, partial: bool) -> Response:
        self._find(stock_id)
        body = validate_body(StockSerializer, request, partial=partial)
        stock = trading.update_stock(self.member, stock_id, body)
        return Response(self._describe(stock))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, stock_id: int) -> Response:
        """409 while it has trades."""
        trading.delete_stock(self.member, stock_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        request=ReorderRequestSerializer, responses=StockSerializer(many=True)
    )
    def reorder(self, request: Request) -> Response:
        ids = validate_body(ReorderRequestSerializer, request)["ids"]
        trading.reorder_stocks(self.member, ids)
        return self.list(request)

    def _find(self, stock_id: int) -> Stock:
        found: Stock = get_owned_or_404(Stock.objects.all(), self.member, stock_id)
        return found

    def _describe(self, stock: Stock) -> dict[str, Any]:
        return stock_payload(stock, get_prices_by_stock([stock])[stock.pk])


class TradeViewSet(OwnedViewSet):
    """Refused with NEGATIVE_HOLDINGS when more than is held would be sold.

    On one day buys come before sells, then by id.
    """

    permission_classes = [IsPremium]

    @extend_schema(
        parameters=[TradeQuerySerializer, PageQuerySerializer],
        responses=page_serializer(TradeSerializer),
    )
    def list(self, request: Request) -> Response:
        """Newest first: by date, then by id."""
        page = get_page_request(request)
        query = validate_query(TradeQuerySerializer, request)
        count, rows = list_trades_page(self.member, query, page)
        results = [trade_payload(trade) for trade in rows]
        return Response(page_payload(request, page, count, results))

    @extend_schema(request=TradeSerializer, responses={201: TradeSerializer})
    def create(self, request: Request) -> Response:
        """400 NEGATIVE_HOLDINGS when holdings would be negative at any point of time.

        `detail` and `errors` name the first bad day. On one day buys come before sells.
        """
        trade = trading.create_trade(
            self.member, validate_body(TradeSerializer, request)
        )
        return Response(trade_payload(trade), status=status.HTTP_201_CREATED)

    @extend_schema(responses=TradeSerializer)
    def retrieve(self, request: Request, trade_id: int) -> Response:
        return Response(trade_payload(self._find(trade_id)))

    @extend_schema(request=TradeSerializer, responses=TradeSerializer)
    def update(self, request: Request, trade_id: int) -> Response:
        """Also to another stock; 400 NEGATIVE_HOLDINGS as for a new trade."""
        return self._change(request, trade_id, partial=False)

    @extend_schema(request=TradeSerializer, responses=TradeSerializer)
    def partial_update(self, request: Request, trade_id: int) -> Response:
        """Also to another stock; 400 NEGATIVE_HOLDINGS as for a new trade."""
        return self._change(request, trade_id, partial=True)

    def _change(self, request: Request, trade_id: int, *, partial: bool) -> Response:
        self._find(trade_id)
        body = validate_body(TradeSerializer, request, partial=partial)
        trade = trading.update_trade(self.member, trade_id, body)
        return Response(trade_payload(trade))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, trade_id: int) -> Response:
        """400 NEGATIVE_HOLDINGS when a later sell needs what it bought."""
        trading.delete_trade(self.member, trade_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _find(self, trade_id: int) -> Trade:
        found: Trade = get_owned_or_404(Trade.objects.all(), self.member, trade_id)
        return found


class PortfolioViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(responses=PortfolioSerializer)
    def retrieve(self, request: Request) -> Response:
        """What is held, at moving-average cost and current prices.

        Prices older than a setting are looked up first, for all stocks together and
        within two seconds; where that fails, the last one stays, with `priceStale`.
        Sold-out stocks stay listed, last. Totals are rounded from the exact sums; in
        them a holding without a price counts at its cost.
        """
        refresh_prices(self.member)
        return Response(portfolio_payload(get_portfolio(self.member)))
