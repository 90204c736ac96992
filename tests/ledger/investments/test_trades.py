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


def assert_refused(response: Any, day: Any) -> None:
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
    }
    assert client.get_json(f"{TRADES}/{response.data['id']}") == response.data


def test_what_was_read_can_be_sent_back(client: JSONClient, stock: Stock) -> None:
    read = send(client, stock, "BUY", 2, "0.000001").data
    again = client.send(
        "PUT", f"{TRADES}/{read['id']}", read | {"quantity": "0.000001"}
    )
    assert again.data == read


def test_fee_tax_and_memo_may_be_left_out(client: JSONClient, stock: Stock) -> None:
    data = send(client, stock, "BUY", 2, 1).data
    assert (data["fee"], data["tax"], data["memo"]) == (0, 0, "")


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
    "quantity",
    [0, -1, "0.0000001", "1.1234567", "1000000000000", "NaN", "1e400", True, None, ""],
)
def test_quantity_beyond_that_is_refused_not_rounded(
    client: JSONClient, stock: Stock, quantity: bool | int | str | None
) -> None:
    response = send(client, stock, "BUY", 2, quantity)
    assert response.status_code == 400
    assert response.data["errors"][0]["field"] == "quantity"


@pytest.mark.parametrize("name", ["price", "fee", "tax"])
def test_money_is_whole_units_from_zero(
    client: JSONClient, stock: Stock, name: str
) -> None:
    for value in (0, MAX):
        assert send(client, stock, "BUY", 2, 1, **{name: value}).status_code == 201
    for wrong in (-1, MAX + 1, 1.5, "100", None, True):
        response = send(client, stock, "BUY", 2, 1, **{name: wrong})
        assert response.status_code == 400, wrong
        assert response.data["errors"][0]["field"] == name


@pytest.mark.parametrize("side", ["buy", "HOLD", "", None, 1])
def test_side_is_buy_or_sell(
    client: JSONClient, stock: Stock, side: int | str | None
) -> None:
    assert send(client, stock, side, 2, 1).data["errors"][0]["field"] == "side"


# --- Holdings are never negative ---------------------------------------------------


def test_sell_of_more_than_is_held_is_refused(client: JSONClient, stock: Stock) -> None:
    send(client, stock, "BUY", 2, "1.5")
    assert_refused(send(client, stock, "SELL", 3, "1.500001"), "2026-11-03")
    assert send(client, stock, "SELL", 3, "1.5").status_code == 201
    assert_refused(send(client, stock, "SELL", 3, "0.000001"), "2026-11-03")


def test_sell_before_the_buy_is_refused(client: JSONClient, stock: Stock) -> None:
    send(client, stock, "BUY", 2, 10)
    assert_refused(send(client, stock, "SELL", 1, 1), "2026-11-01")


def test_on_one_day_buys_come_before_sells(client: JSONClient, stock: Stock) -> None:
    send(client, stock, "BUY", 2, 1)
    assert send(client, stock, "SELL", 2, 1).status_code == 201
    send(client, stock, "BUY", 5, 3)
    send(client, stock, "SELL", 5, 3)
    assert send(client, stock, "BUY", 5, 4).status_code == 201
    assert send(client, stock, "SELL", 5, 4).status_code == 201
    assert_refused(send(client, stock, "SELL", 5, 1), "2026-11-05")


def test_sell_that_leaves_too_little_for_a_later_one_names_that_day(
    client: JSONClient, stock: Stock
) -> None:
    send(client, stock, "BUY", 2, 10)
    send(client, stock, "SELL", 8, 7)
    send(client, stock, "BUY", 9, 10)
    assert_refused(send(client, stock, "SELL", 5, 4), "2026-11-08")


def test_edit_that_makes_holdings_negative_is_refused(
    client: JSONClient, stock: Stock
) -> None:
    buy = send(client, stock, "BUY", 2, 10).data
    sell = send(client, stock, "SELL", 8, 7).data
    path = f"{TRADES}/{buy['id']}"
    changes = (
        ({"quantity": 6}, "2026-11-08"),
        ({"date": "2026-11-09"}, "2026-11-08"),
        ({"side": "SELL"}, "2026-11-02"),
    )
    for change, day in changes:
        assert_refused(client.send("PATCH", path, change), day)
        assert client.get_json(path) == buy
    late = client.send("PATCH", f"{TRADES}/{sell['id']}", {"date": "2026-11-01"})
    assert_refused(late, "2026-11-01")
    assert client.send("PATCH", path, {"quantity": 7}).status_code == 200
    assert client.send("PATCH", path, {"date": "2026-11-08"}).status_code == 200


def test_edit_of_what_does_not_count_is_never_refused(
    client: JSONClient, stock: Stock
) -> None:
    buy = send(client, stock, "BUY", 2, 10).data
    send(client, stock, "SELL", 8, 10)
    path = f"{TRADES}/{buy['id']}"
    body = body_of(stock, "BUY", 2, 10, price=7, fee=1, tax=2, memo="x")
    assert client.send("PUT", path, body).data["price"] == 7


def test_put_clears_what_it_leaves_out(client: JSONClient, stock: Stock) -> None:
    buy = send(client, stock, "BUY", 2, 10, fee=5, memo="x").data
    body = body_of(stock, "BUY", 2, 10)
    changed = client.send("PUT", f"{TRADES}/{buy['id']}", body).data
    assert (changed["fee"], changed["memo"]) == (0, "")


def test_delete_of_a_buy_that_was_sold_is_refused(
    client: JSONClient, stock: Stock
) -> None:
    buy = send(client, stock, "BUY", 2, 10).data
    sell = send(client, stock, "SELL", 8, 1).data
    response = client.send("DELETE", f"{TRADES}/{buy['id']}")
    assert_refused(response, "2026-11-08")
    assert client.send("DELETE", f"{TRADES}/{sell['id']}").status_code == 204
    assert client.send("DELETE", f"{TRADES}/{buy['id']}").status_code == 204
    assert Position.objects.get().quantity == 0


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
    assert_refused(back, "2026-11-04")
    path = f"{TRADES}/{sell['id']}"
    assert_refused(
        client.send("PUT", path, body_of(stock, "SELL", 4, 10)), "2026-11-04"
    )


def test_each_stock_and_each_member_is_on_its_own(
    client: JSONClient, stock: Stock, premium_member: Member
) -> None:
    theirs = make_stock(make_member(), code=stock.code)
    make_trade(theirs.member, stock=theirs, quantity=100)
    make_trade(premium_member, quantity=100)
    assert_refused(send(client, stock, "SELL", 20, 1), "2026-11-20")


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


# --- The list -----------------------------------------------------------------------


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


def test_list_is_paged(
    client: JSONClient, stock: Stock, premium_member: Member
) -> None:
    for day in range(1, 6):
        make_trade(premium_member, stock=stock, date=date(2026, 11, day))
    page = client.get_json(TRADES, size=2, page=2)
    assert page["count"] == 5
    assert [row["date"] for row in page["results"]] == ["2026-11-03", "2026-11-02"]
    assert client.get(TRADES, {"page": 9}).status_code == 404


@pytest.mark.parametrize("query", ["side=buy", "from=1.1.2026", "stockId=x"])
def test_filter_that_makes_no_sense_is_400(client: JSONClient, query: str) -> None:
    assert client.get(f"{TRADES}?{query}").status_code == 400


# --- Kept positions -----------------------------------------------------------------


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
