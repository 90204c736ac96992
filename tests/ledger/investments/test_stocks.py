"""Stocks: their fields, their order, their end."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from accounts.models import Member
from ledger.models import Stock, StockQuote
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_stock, make_trade
from tests.support.problems import assert_problem

STOCKS = "/api/account/stocks"
SAMSUNG = {"code": "005930", "name": "삼성전자", "market": "KOSPI"}
NOW = datetime.fromisoformat("2026-11-20T15:30:00+09:00")


def make_quote(code: str, price: int, **fields: Any) -> StockQuote:
    now = timezone.now()
    defaults = {
        "home_price": price,
        "quoted_at": NOW,
        "fetched_at": now,
        "next_refresh_at": now,
    }
    return StockQuote.objects.create(code=code, **defaults | fields)


def test_code_is_kept_in_capital_letters_and_is_unique_of_a_member(
    client: JSONClient,
) -> None:
    make_stock(make_member(), code="005930")
    apple = client.send("POST", STOCKS, {"code": "aapl", "name": "A"})
    assert apple.data["code"] == "AAPL"
    other = client.create_json(STOCKS, SAMSUNG)
    for method, path, body in (
        ("POST", STOCKS, {"code": "AAPL", "name": "B"}),
        ("PATCH", f"{STOCKS}/{other['id']}", {"code": "aapl"}),
    ):
        assert_problem(client.send(method, path, body), 409, "DUPLICATE")


def test_quoted_price_goes_before_a_typed_one(client: JSONClient) -> None:
    stock = client.send("POST", STOCKS, SAMSUNG | {"currentPrice": 5}).data
    assert stock["currentPrice"] == 5
    assert stock["priceAt"] is not None
    make_quote("005930", 71_000)
    (row,) = client.get_json(STOCKS)
    assert row["currentPrice"] == 71_000
    assert datetime.fromisoformat(row["priceAt"]) == NOW


def test_typed_price_keeps_its_time_until_it_changes(client: JSONClient) -> None:
    stock = client.send("POST", STOCKS, SAMSUNG | {"currentPrice": 5}).data
    path = f"{STOCKS}/{stock['id']}"
    renamed = client.send("PATCH", path, {"name": "S"}).data
    assert renamed["priceAt"] == stock["priceAt"]
    assert (
        client.send("PATCH", path, {"currentPrice": 6}).data["priceAt"]
        > (stock["priceAt"])
    )
    cleared = client.send("PATCH", path, {"currentPrice": None}).data
    assert (cleared["currentPrice"], cleared["priceAt"]) == (None, None)


def test_stock_with_trades_is_in_use(
    client: JSONClient, premium_member: Member
) -> None:
    trade = make_trade(premium_member)
    path = f"{STOCKS}/{trade.stock_id}"
    assert_problem(client.send("DELETE", path), 409, "IN_USE")
    client.send("DELETE", f"/api/account/trades/{trade.pk}")
    assert client.send("DELETE", path).status_code == 204
    assert not Stock.objects.exists()
