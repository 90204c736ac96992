"""Stocks, trades and the portfolio."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.fields import read_body, read_query
from core.api.openapi import page_of
from core.api.ordering import ReorderBody
from core.api.pagination import PageQuery, page_body, read_page
from core.api.permissions import IsPremium
from ledger.investments import trading
from ledger.investments.portfolio import read_portfolio
from ledger.investments.prices import read_prices, refresh_prices
from ledger.investments.trade_list import read_page_of_trades
from ledger.models import Stock, Trade
from ledger.ownership import OwnedViewSet, find_owned
from ledger.serializers.investments import (
    PortfolioBody,
    StockBody,
    TradeBody,
    TradeQuery,
    describe_portfolio,
    describe_stock,
    describe_trade,
)


class StockViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(responses=StockBody(many=True))
    def list(self, request: Request) -> Response:
        """In their order, at the prices that are stored."""
        stocks = list(trading.list_stocks(self.member))
        prices = read_prices(stocks)
        return Response([describe_stock(stock, prices[stock.pk]) for stock in stocks])

    @extend_schema(request=StockBody, responses={201: StockBody})
    def create(self, request: Request) -> Response:
        """A new stock goes last."""
        stock = trading.create_stock(self.member, read_body(StockBody, request))
        return Response(self._describe(stock), status=status.HTTP_201_CREATED)

    @extend_schema(responses=StockBody)
    def retrieve(self, request: Request, stock_id: int) -> Response:
        return Response(self._describe(self._find(stock_id)))

    @extend_schema(request=StockBody, responses=StockBody)
    def update(self, request: Request, stock_id: int) -> Response:
        return self._change(request, stock_id, partial=False)

    @extend_schema(request=StockBody, responses=StockBody)
    def partial_update(self, request: Request, stock_id: int) -> Response:
        return self._change(request, stock_id, partial=True)

    def _change(self, request: Request, stock_id: int, *, partial: bool) -> Response:
        self._find(stock_id)
        body = read_body(StockBody, request, partial=partial)
        stock = trading.change_stock(self.member, stock_id, body)
        return Response(self._describe(stock))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, stock_id: int) -> Response:
        """409 while it has trades."""
        trading.delete_stock(self.member, stock_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=ReorderBody, responses=StockBody(many=True))
    def reorder(self, request: Request) -> Response:
        ids = read_body(ReorderBody, request)["ids"]
        trading.reorder_stocks(self.member, ids)
        return self.list(request)

    def _find(self, stock_id: int) -> Stock:
        found: Stock = find_owned(Stock.objects.all(), self.member, stock_id)
        return found

    def _describe(self, stock: Stock) -> dict[str, Any]:
        return describe_stock(stock, read_prices([stock])[stock.pk])


class TradeViewSet(OwnedViewSet):
    """Refused with NEGATIVE_HOLDINGS when more than is held would be sold.

    On one day buys come before sells, then by id.
    """

    permission_classes = [IsPremium]

    @extend_schema(parameters=[TradeQuery, PageQuery], responses=page_of(TradeBody))
    def list(self, request: Request) -> Response:
        """Newest first: by date, then by id."""
        page = read_page(request)
        query = read_query(TradeQuery, request)
        count, rows = read_page_of_trades(self.member, query, page)
        results = [describe_trade(trade) for trade in rows]
        return Response(page_body(request, page, count, results))

    @extend_schema(request=TradeBody, responses={201: TradeBody})
    def create(self, request: Request) -> Response:
        """400 NEGATIVE_HOLDINGS when holdings would be negative at any point of time.

        `detail` and `errors` name the first bad day. On one day buys come before sells.
        """
        trade = trading.create_trade(self.member, read_body(TradeBody, request))
        return Response(describe_trade(trade), status=status.HTTP_201_CREATED)

    @extend_schema(responses=TradeBody)
    def retrieve(self, request: Request, trade_id: int) -> Response:
        return Response(describe_trade(self._find(trade_id)))

    @extend_schema(request=TradeBody, responses=TradeBody)
    def update(self, request: Request, trade_id: int) -> Response:
        """Also to another stock; 400 NEGATIVE_HOLDINGS as for a new trade."""
        return self._change(request, trade_id, partial=False)

    @extend_schema(request=TradeBody, responses=TradeBody)
    def partial_update(self, request: Request, trade_id: int) -> Response:
        """Also to another stock; 400 NEGATIVE_HOLDINGS as for a new trade."""
        return self._change(request, trade_id, partial=True)

    def _change(self, request: Request, trade_id: int, *, partial: bool) -> Response:
        self._find(trade_id)
        body = read_body(TradeBody, request, partial=partial)
        trade = trading.change_trade(self.member, trade_id, body)
        return Response(describe_trade(trade))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, trade_id: int) -> Response:
        """400 NEGATIVE_HOLDINGS when a later sell needs what it bought."""
        trading.delete_trade(self.member, trade_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _find(self, trade_id: int) -> Trade:
        found: Trade = find_owned(Trade.objects.all(), self.member, trade_id)
        return found


class PortfolioViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(responses=PortfolioBody)
    def retrieve(self, request: Request) -> Response:
        """What is held, at moving-average cost and current prices.

        Prices older than a setting are looked up first, for all stocks together and
        within two seconds; where that fails, the last one stays, with `priceStale`.
        Sold-out stocks stay listed, last. Totals are rounded from the exact sums; in
        them a holding without a price counts at its cost.
        """
        refresh_prices(self.member)
        return Response(describe_portfolio(read_portfolio(self.member)))
