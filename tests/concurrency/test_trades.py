"""Trades under concurrent requests: never more sold than is held."""

from typing import Any

import pytest
from django.db.models import Sum

from accounts.models import Member
from ledger.base import ledger_write
from ledger.models import Position, Stock, Trade
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_stock, make_trade
from tests.support.races import Turn, caller, race, run_concurrently, sorted_statuses
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

TRADES = "/api/account/trades"
STOCKS = "/api/account/stocks"
ROUNDS = scaled(12, 100)


@pytest.fixture
def member() -> Member:
    return make_member(plan="PREMIUM")


def sell(
    client: JSONClient, stock: Stock, quantity: int = 6, day: str = "2026-11-05"
) -> Any:
    body = {"stockId": stock.pk, "side": "SELL", "date": day, "price": 1}
    return caller(client, "POST", TRADES, body | {"quantity": quantity})


def held(stock: Stock) -> int:
    sums = {
        side: Trade.objects.filter(stock=stock, side=side).aggregate(
            sum=Sum("quantity")
        )["sum"]
        or 0
        for side in ("BUY", "SELL")
    }
    found = sums["BUY"] - sums["SELL"]
    assert Position.objects.get(stock=stock).quantity == found
    return int(found)


def test_racing_sells_never_oversell(client: JSONClient, member: Any) -> None:
    def turn(_: int) -> Turn:
        stock = make_trade(member, quantity=10).stock
        answers = yield [sell(client, stock)] * 3
        refused = [r.data["code"] for r in answers if r.status_code == 400]
        assert refused == ["NEGATIVE_HOLDINGS"] * 2
        assert held(stock) == 4

    race(turn, rounds=ROUNDS, in_any_order=(201, 400, 400))


def test_without_the_lock_they_would(
    client: JSONClient, member: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The race is real: this is what the lock is for.
    monkeypatch.setattr(ledger_write, "advisory_xact_lock", lambda *_: None)
    for _ in range(100):
        stock = make_trade(member, quantity=10).stock
        if sorted_statuses(run_concurrently([sell(client, stock)] * 3)) != [
            201,
            400,
            400,
        ]:
            return
    pytest.fail("no two sells met")


def test_sell_racing_edit_and_delete_of_the_buys_never_oversells(
    client: JSONClient, member: Any
) -> None:
    def turn(_: int) -> Turn:
        first = make_trade(member, quantity=6)
        stock = first.stock
        second = make_trade(member, stock=stock, quantity=4)
        sold, _, _ = yield [
            sell(client, stock),
            caller(client, "PATCH", f"{TRADES}/{first.pk}", {"quantity": 1}),
            caller(client, "DELETE", f"{TRADES}/{second.pk}"),
        ]
        assert held(stock) == (0 if sold.status_code == 201 else 1)

    # In any order the deletion leaves enough, and the sale (6 of 10) and the smaller
    # purchase (1 for 6) exclude each other.
    race(turn, rounds=ROUNDS, allowed={(201, 400, 204), (400, 200, 204)})


def test_trades_that_move_between_two_stocks_never_deadlock(
    client: JSONClient, member: Any
) -> None:
    for _ in range(ROUNDS // 4):
        one, two = make_stock(member), make_stock(member)
        there = make_trade(member, stock=one, quantity=6)
        back = make_trade(member, stock=two, quantity=6)
        responses = run_concurrently(
            [
                caller(client, "PATCH", f"{TRADES}/{there.pk}", {"stockId": two.pk}),
                caller(client, "PATCH", f"{TRADES}/{back.pk}", {"stockId": one.pk}),
                sell(client, one),
                sell(client, two),
            ]
        )
        assert {r.status_code for r in responses} <= {200, 201, 400}
        assert held(one) >= 0
        assert held(two) >= 0


def test_reorder_and_portfolio_racing_writers_never_deadlock(
    client: JSONClient, member: Any, settings: Any
) -> None:
    settings.PRICE_PROVIDER = f"{__name__}.NoPrices"
    stocks = [make_stock(member) for _ in range(6)]
    for stock in stocks:
        make_trade(member, stock=stock, quantity=100)
    ids = [stock.pk for stock in stocks]

    def turn(_: int) -> Turn:
        ids.reverse()
        yield [
            caller(client, "PUT", f"{STOCKS}/reorder", {"ids": ids}),
            caller(client, "GET", "/api/account/portfolio"),
            caller(client, "GET", "/api/account/portfolio"),
            *(sell(client, stock, 1) for stock in stocks[:3]),
        ]

    race(turn, rounds=ROUNDS // 4, allowed={(200, 200, 200, 201, 201, 201)})
    assert [held(stock) for stock in stocks[3:]] == [100] * 3


class NoPrices:
    def quote(self, codes: Any) -> dict[str, Any]:
        return {}


def test_delete_of_a_stock_racing_its_first_trade(
    client: JSONClient, member: Any
) -> None:
    def turn(_: int) -> Turn:
        stock = make_stock(member)
        body = {"stockId": stock.pk, "side": "BUY", "date": "2026-11-05"}
        yield [
            caller(client, "DELETE", f"{STOCKS}/{stock.pk}"),
            caller(client, "POST", TRADES, body | {"quantity": 1, "price": 1}),
        ]
        left = Stock.objects.filter(pk=stock.pk).exists()
        assert left == Trade.objects.filter(stock_id=stock.pk).exists()

    race(turn, rounds=ROUNDS // 4, allowed={(204, 400), (409, 201)})
