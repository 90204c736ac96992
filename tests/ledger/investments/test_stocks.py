"""Stocks: their fields, their order, their end."""

from datetime import datetime
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from ledger.models import Stock, StockQuote
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_stock, make_trade

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


def test_new_stock_goes_last(client: JSONClient) -> None:
    first = client.send("POST", STOCKS, SAMSUNG)
    second = client.send("POST", STOCKS, {"code": "AAPL", "name": "Apple"})
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.data == SAMSUNG | {
        "id": first.data["id"],
        "currentPrice": None,
        "priceAt": None,
        "sortOrder": 1,
    }
    assert second.data["market"] == ""
    assert client.get_json(STOCKS) == [first.data, second.data]


def test_code_is_kept_in_capital_letters_and_is_unique(client: JSONClient) -> None:
    assert client.send("POST", STOCKS, {"code": "aapl", "name": "A"}).data["code"] == (
        "AAPL"
    )
    again = client.send("POST", STOCKS, {"code": "AAPL", "name": "B"})
    assert (again.status_code, again.data["code"]) == (409, "DUPLICATE")
    other = client.send("POST", STOCKS, SAMSUNG).data
    change = client.send("PATCH", f"{STOCKS}/{other['id']}", {"code": "aapl"})
    assert (change.status_code, change.data["code"]) == (409, "DUPLICATE")


def test_another_member_may_have_the_same_code(client: JSONClient) -> None:
    make_stock(make_member(), code="005930")
    assert client.send("POST", STOCKS, SAMSUNG).status_code == 201


@pytest.mark.parametrize("code", ["", " ", "X" * 21, None, 5930, "A\u0000"])
def test_code_has_1_to_20_characters(
    client: JSONClient, code: int | str | None
) -> None:
    response = client.send("POST", STOCKS, SAMSUNG | {"code": code})
    assert response.status_code == 400
    assert response.data["errors"][0]["field"] == "code"


def test_stock_is_changed_whole_and_in_part(client: JSONClient) -> None:
    path = f"{STOCKS}/{client.send('POST', STOCKS, SAMSUNG).data['id']}"
    assert client.send("PATCH", path, {"name": "Samsung"}).data["market"] == "KOSPI"
    changed = client.send("PUT", path, {"code": "005935", "name": "Preferred"})
    assert (changed.data["code"], changed.data["market"]) == ("005935", "")
    assert client.get_json(path) == changed.data


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


@pytest.mark.parametrize("price", [-1, 10**12, 1.5, "5", True])
def test_typed_price_is_whole_units(client: JSONClient, price: Any) -> None:
    response = client.send("POST", STOCKS, SAMSUNG | {"currentPrice": price})
    assert response.data["errors"][0]["field"] == "currentPrice"


def test_stock_with_trades_is_in_use(
    client: JSONClient, premium_member: Member
) -> None:
    trade = make_trade(premium_member)
    path = f"{STOCKS}/{trade.stock_id}"
    response = client.send("DELETE", path)
    assert (response.status_code, response.data["code"]) == (409, "IN_USE")
    client.send("DELETE", f"/api/account/trades/{trade.pk}")
    assert client.send("DELETE", path).status_code == 204
    assert not Stock.objects.exists()


def test_stocks_are_reordered(client: JSONClient, premium_member: Member) -> None:
    ids = [make_stock(premium_member).pk for _ in range(3)][::-1]
    rows = client.send("PUT", f"{STOCKS}/reorder", {"ids": ids}).data
    assert [row["id"] for row in rows] == ids
    assert [row["sortOrder"] for row in client.get_json(STOCKS)] == [1, 2, 3]
    refused = client.send("PUT", f"{STOCKS}/reorder", {"ids": ids[:2]})
    assert refused.data["code"] == "INVALID_ORDER"
