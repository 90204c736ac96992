"""Trades: what is written, what is refused, how the list is read."""

from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from accounts.models import Member
from ledger.investments import cost_basis
from ledger.investments.trading import QuantityChange, find_first_negative_day
from ledger.models import Position, Stock, Trade
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_stock, make_trade
from tests.support.problems import assert_invalid

TRADES = "/api/account/trades"
MAX = 999_999_999_999


@pytest.fixture
def stock(premium_member: Member) -> Stock:
    return make_stock(premium_member)


def body_of(stock: Stock, side: Any, day: Any, quantity: Any, **fields: Any) -> Any:
    return {
        "stockId": stock.pk,
        "side": side,
        "date": f"2026-11-{day:02}",
        "quantity": quantity,
        "price": 100,
    } | fields


def send(client: JSONClient, *values: Any, **fields: Any) -> Any:
    return client.send("POST", TRADES, body_of(*values, **fields))


def assert_negative(response: Any, day: str) -> None:
    assert response.status_code == 400, response.content
    assert response.data["code"] == "NEGATIVE_HOLDINGS"
    assert day in response.data["detail"]
    (error,) = response.data["errors"]
    assert error["field"] == "date"
    assert day in error["detail"]


def test_trade_is_answered_as_it_was_written(client: JSONClient, stock: Stock) -> None:
    response = send(client, stock, "BUY", 2, "1.5", fee=3, tax=4, memo="first")
    assert response.status_code == 201
    assert response.data == {
        "id": Trade.objects.get().pk,
        "stockId": stock.pk,
        "side": "BUY",
        "date": "2026-11-02",
        "quantity": Decimal("1.5"),
        "price": 100,
        "fee": 3,
        "tax": 4,
        "memo": "first",
        "version": Trade.objects.get().version,
    }
    path = f"{TRADES}/{response.data['id']}"
    assert client.get_json(path) == response.data
    # The answer is a valid request; PUT clears what is left out.
    again = client.send("PUT", path, response.data | {"quantity": "1.5"})
    assert again.data == response.data
    data = client.send("PUT", path, body_of(stock, "BUY", 2, 1)).data
    assert (data["fee"], data["tax"], data["memo"]) == (0, 0, "")


MONEY = [-1, MAX + 1, 1.5, "100", True]
WRONG: dict[str, list[Any]] = {
    "quantity": [
        *(0, -1, "0.0000001", "1.1234567", "1000000000000"),
        *("NaN", "1e400", True, None, ""),
    ],
    **dict.fromkeys(("fee", "tax"), MONEY),
    "price": [*MONEY, None],
    "side": ["buy", "HOLD", "", None, 1],
}


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field, values in WRONG.items() for value in values],
)
def test_wrong_field_is_refused(
    client: JSONClient, stock: Stock, field: str, value: Any
) -> None:
    body = body_of(stock, "BUY", 2, 1, price=0, fee=MAX, tax=MAX)
    assert client.send("POST", TRADES, body).status_code == 201
    assert_invalid(client.send("POST", TRADES, body | {field: value}), field)


@pytest.mark.parametrize(
    "quantity", [1, 0.000001, "0.5", "999999999999.999999", 123456789012.123456]
)
def test_quantity_has_12_digits_and_6_decimals(
    client: JSONClient, stock: Stock, quantity: float | int | str
) -> None:
    response = send(client, stock, "BUY", 2, quantity)
    assert response.status_code == 201
    assert Trade.objects.get().quantity == Decimal(str(quantity))


@pytest.mark.parametrize(
    ("trades", "refused", "day"),
    [
        ([], ("SELL", 1, 1), 1),
        ([("BUY", 2, 10)], ("SELL", 1, 1), 1),
        ([("BUY", 2, "1.5")], ("SELL", 3, "1.500001"), 3),
        ([("BUY", 2, "1.5"), ("SELL", 3, "1.5")], ("SELL", 3, "0.000001"), 3),
        # Too little is left for a later sell, which is named.
        ([("BUY", 2, 10), ("SELL", 8, 7), ("BUY", 9, 10)], ("SELL", 5, 4), 8),
        # On one day buys come before sells, also if written later.
        ([("BUY", 2, 1), ("SELL", 2, 1)], ("SELL", 2, 1), 2),
        ([("BUY", 5, 3), ("SELL", 5, 3), ("BUY", 5, 4)], ("SELL", 5, 5), 5),
    ],
)
def test_sell_of_more_than_is_held_is_refused(
    client: JSONClient, stock: Stock, trades: list[Any], refused: Any, day: int
) -> None:
    for trade in trades:
        assert send(client, stock, *trade).status_code == 201
    assert_negative(send(client, stock, *refused), f"2026-11-{day:02}")


@pytest.mark.parametrize(
    ("sold", "number", "change", "day"),
    [
        (7, 0, {"quantity": 6}, 8),
        (7, 0, {"date": "2026-11-09"}, 8),
        (7, 0, {"side": "SELL"}, 2),
        (7, 1, {"date": "2026-11-01"}, 1),
        (7, 0, None, 8),
        (7, 0, {"quantity": 7}, None),
        (7, 0, {"date": "2026-11-08"}, None),
        (7, 1, None, None),
        # Fields that do not count.
        (10, 0, {"price": 7, "fee": 1, "tax": 2, "memo": "x"}, None),
    ],
)
def test_change_or_deletion_that_makes_holdings_negative_is_refused(
    client: JSONClient,
    stock: Stock,
    sold: int,
    number: int,
    change: dict[str, Any] | None,
    day: int | None,
) -> None:
    trades = (("BUY", 2, 10), ("SELL", 8, sold))
    rows = [send(client, stock, *trade).data for trade in trades]
    path = f"{TRADES}/{rows[number]['id']}"
    response = client.send("DELETE" if change is None else "PATCH", path, change)
    if day:
        assert_negative(response, f"2026-11-{day:02}")
        assert client.get_json(path) == rows[number]
    else:
        assert response.status_code == (204 if change is None else 200)


def test_put_can_move_a_trade_to_another_stock(
    client: JSONClient, stock: Stock, premium_member: Member
) -> None:
    other = make_stock(premium_member)
    buy = send(client, stock, "BUY", 2, 10).data
    path = f"{TRADES}/{buy['id']}"
    moved = client.send("PUT", path, body_of(other, "BUY", 2, 10))
    assert moved.data["stockId"] == other.pk
    sell = send(client, other, "SELL", 4, 10).data
    back = client.send("PUT", path, body_of(stock, "BUY", 2, 10))
    assert_negative(back, "2026-11-04")
    path = f"{TRADES}/{sell['id']}"
    assert_negative(
        client.send("PUT", path, body_of(stock, "SELL", 4, 10)), "2026-11-04"
    )


def test_each_stock_and_each_member_is_on_its_own(
    client: JSONClient, stock: Stock, premium_member: Member
) -> None:
    theirs = make_stock(make_member(), code=stock.code)
    make_trade(theirs.member, stock=theirs, quantity=100)
    make_trade(premium_member, quantity=100)
    assert_negative(send(client, stock, "SELL", 20, 1), "2026-11-20")


def test_check_agrees_with_the_replay(premium_member: Member, stock: Stock) -> None:
    # Random histories and changes; the replay from the beginning is right.
    random = Random(7)
    refused = 0
    for _ in range(150):
        Trade.objects.all().delete()
        rows = write_history(premium_member, stock, random)
        old = random.choice(rows) if rows and random.random() < 0.7 else None
        new = make_line(random) if old is None or random.random() < 0.6 else None
        changes = []
        if old is not None:
            changes.append(change_of(stock, old.side, old.date, -old.quantity))
        if new is not None:
            changes.append(change_of(stock, *new))
        expected = find_by_replay(rows, old, new)
        assert find_first_negative_day(premium_member, stock.pk, changes) == expected
        refused += expected is not None
    assert 20 < refused < 130


def make_line(random: Any) -> Any:
    side = random.choice(("BUY", "SELL"))
    day = date(2026, 11, 1) + timedelta(random.randrange(12))
    return side, day, Decimal(random.randrange(1, 90)) / 10


def write_history(member: Member, stock: Stock, random: Any) -> list[Any]:
    rows: list[Any] = []
    for side, day, quantity in sorted(make_line(random) for _ in range(12)):
        line = (side, day, quantity)
        if find_by_replay(rows, None, line) is None:
            fields = {"side": side, "date": day, "quantity": quantity}
            rows.append(make_trade(member, stock=stock, **fields))
    return rows


def find_by_replay(rows: Any, old: Any, new: Any) -> Any:
    lines = [(r.date, r.side, r.pk, r.quantity) for r in rows if r is not old]
    if new is not None:
        side, day, quantity = new
        lines.append((day, side, 10**18, quantity))
    trades = [
        cost_basis.TradeRow(day, side == "SELL", int(quantity * 10**6), 1, 0, 0)
        for day, side, _, quantity in sorted(lines)
    ]
    try:
        cost_basis.replay(trades)
    except cost_basis.OversoldError as found:
        return found.day
    return None


def change_of(stock: Stock, side: Any, day: Any, quantity: Any) -> Any:
    return QuantityChange(stock.pk, day, quantity if side == "BUY" else -quantity)


def test_list_is_newest_first_and_filtered(
    client: JSONClient, stock: Stock, premium_member: Member
) -> None:
    other = make_stock(premium_member)
    a = make_trade(premium_member, stock=stock, date="2026-11-02").pk
    b = make_trade(premium_member, stock=stock, date="2026-11-04", side="SELL").pk
    c = make_trade(premium_member, stock=other, date="2026-11-03").pk
    d = make_trade(premium_member, stock=other, date="2026-11-04").pk

    def ids(**query: Any) -> list[Any]:
        page = client.get_json(TRADES, **query)
        assert page["count"] == len(page["results"])
        return [row["id"] for row in page["results"]]

    assert ids() == [d, b, c, a]
    assert ids(stockId=stock.pk) == [b, a]
    assert ids(side="SELL") == [b]
    assert ids(**{"from": "2026-11-03"}) == [d, b, c]
    assert ids(to="2026-11-03") == [c, a]
    query = {"from": "2026-11-03", "to": "2026-11-03", "stockId": other.pk}
    assert ids(**query) == [c]
    assert ids(**(query | {"side": "SELL"})) == []
    page = client.get_json(TRADES, size=2, page=2)
    assert page["count"] == 4
    assert [row["id"] for row in page["results"]] == [c, a]
    assert client.get(TRADES, {"page": 9}).status_code == 404
    for wrong in ("side=buy", "from=1.1.2026", "stockId=x"):
        assert client.get(f"{TRADES}?{wrong}").status_code == 400


def test_positions_equal_the_trades_whatever_wrote_them(premium_member: Member) -> None:
    stocks = [make_stock(premium_member) for _ in range(3)]
    rows = Trade.objects.bulk_create(
        Trade(
            member=premium_member,
            stock=stocks[number % 2],
            side="BUY" if number % 3 else "SELL",
            date=date(2026, 11, 1),
            quantity=Decimal(number + 1) / 8,
            price=1,
        )
        for number in range(20)
    )
    assert_positions_are_right()
    Trade.objects.filter(pk__in=[row.pk for row in rows[::2]]).update(stock=stocks[2])
    assert_positions_are_right()
    Trade.objects.update(side="BUY", quantity=2)
    assert_positions_are_right()
    Trade.objects.filter(stock=stocks[2])._raw_delete("default")
    assert_positions_are_right()
    stocks[1].delete()
    assert_positions_are_right()


def assert_positions_are_right() -> None:
    found: dict[Any, Any] = {}
    for trade in Trade.objects.all():
        signed = trade.quantity if trade.side == "BUY" else -trade.quantity
        quantity, count = found.get(trade.stock_id, (0, 0))
        found[trade.stock_id] = (quantity + signed, count + 1)
    kept = Position.objects.exclude(trade_count=0)
    assert {row.stock_id: (row.quantity, row.trade_count) for row in kept} == found
    assert not Position.objects.filter(trade_count=0).exclude(quantity=0).exists()
