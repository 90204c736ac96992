"""The portfolio and its part of the net worth, at prices that are stored."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from ledger.investments import portfolio
from ledger.investments.portfolio import get_holdings_value, get_portfolio
from ledger.models import Position, Stock, StockQuote, Trade
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_stock, make_trade, make_wallet

PORTFOLIO = "/api/account/portfolio"
TRADES = "/api/account/trades"
NETWORTH = "/api/account/networth"
AT = datetime.fromisoformat("2026-11-20T15:30:00+09:00")
MAX = 999_999_999_999


def make_quote(code: str, price: int | None) -> StockQuote:
    """Store a fresh price, so that nothing is looked up; None is a code without one."""
    now = timezone.now()
    return StockQuote.objects.create(
        code=code,
        home_price=price,
        quoted_at=AT if price is not None else None,
        fetched_at=now if price is not None else None,
        next_refresh_at=now + timedelta(hours=1),
    )


def make_priced_stock(member: Member, price: Any, **fields: Any) -> Stock:
    stock = make_stock(member, **fields)
    make_quote(stock.code, price)
    return stock


def trade(
    stock: Stock, side: Any, day: Any, quantity: Any, price: Any, **fields: Any
) -> Trade:
    return make_trade(
        stock.member,
        stock=stock,
        side=side,
        date=f"2026-11-{day:02}",
        quantity=Decimal(str(quantity)),
        price=price,
        **fields,
    )


def test_holding_with_all_its_figures(
    client: JSONClient, premium_member: Member
) -> None:
    empty = client.get_json(PORTFOLIO)
    assert empty["holdings"] == []
    assert {*empty["totals"].values()} == {0, None}
    stock = make_priced_stock(
        premium_member, 1_300, code="005930", name="삼성전자", market="KOSPI"
    )
    trade(stock, "BUY", 2, 10, 1_000, fee=50)
    trade(stock, "SELL", 3, 4, 1_200, fee=10, tax=20)
    body = client.get_json(PORTFOLIO)
    (holding,) = body["holdings"]
    assert datetime.fromisoformat(holding.pop("priceAt")) == AT
    assert holding == {
        "stockId": stock.pk,
        "code": "005930",
        "name": "삼성전자",
        "market": "KOSPI",
        "quantity": 6,
        "averageCost": 1_005,
        "costBasis": 6_030,
        "currentPrice": 1_300,
        "priceStale": False,
        "marketValue": 7_800,
        "unrealizedProfit": 1_770,
        "unrealizedRate": Decimal("0.2935"),
        "realizedProfit": 4 * 1_200 - 30 - 4 * 1_005,
    }
    assert body["totals"] == {
        "costBasis": 6_030,
        "marketValue": 7_800,
        "unrealizedProfit": 1_770,
        "unrealizedRate": Decimal("0.2935"),
        "realizedProfit": 750,
    }


def test_totals_are_rounded_half_up_once_from_the_exact_sums(
    client: JSONClient, premium_member: Member
) -> None:
    for _ in range(3):
        trade(make_priced_stock(premium_member, 1), "BUY", 2, "0.4", 1)
    body = client.get_json(PORTFOLIO)
    assert [row["costBasis"] for row in body["holdings"]] == [0, 0, 0]
    assert body["totals"]["costBasis"] == 1
    assert body["totals"]["marketValue"] == 1
    trade(make_priced_stock(premium_member, 1), "BUY", 2, "0.3", 1)
    assert get_holdings_value(premium_member) == 2


@pytest.mark.parametrize(
    ("price", "cost", "value", "rate"),
    [
        (75, 100, 75, "-0.25"),
        (75, 0, 75, None),
        # A price of zero is a price.
        (0, 5, 0, "-1"),
        # The typed price counts where there is no other.
        (None, 5, 7, "0.4"),
    ],
)
def test_value_and_rate_of_a_holding(
    client: JSONClient,
    premium_member: Member,
    price: int | None,
    cost: int,
    value: int,
    rate: str | None,
) -> None:
    fields = {"current_price": 7, "price_at": AT - timedelta(3)}
    trade(make_priced_stock(premium_member, price, **fields), "BUY", 2, 1, cost)
    (holding,) = client.get_json(PORTFOLIO)["holdings"]
    assert (holding["currentPrice"], holding["marketValue"]) == (value, value)
    assert holding["priceStale"] is (price is None)
    expected = None if rate is None else Decimal(rate)
    assert holding["unrealizedRate"] == expected
    assert get_holdings_value(premium_member) == value


def test_sold_out_stocks_stay_last_and_untraded_ones_are_not_listed(
    client: JSONClient, premium_member: Member
) -> None:
    sold, second, first, untraded = (
        make_priced_stock(premium_member, 10, sort_order=order) for order in range(4)
    )
    first.sort_order, second.sort_order = 1, 2
    first.save()
    second.save()
    for stock in (sold, second, first):
        trade(stock, "BUY", 2, 3, 10)
    trade(sold, "SELL", 4, 3, 15)
    rows = client.get_json(PORTFOLIO)["holdings"]
    assert [row["stockId"] for row in rows] == [first.pk, second.pk, sold.pk]
    assert untraded.pk not in {row["stockId"] for row in rows}
    gone = rows[-1]
    assert (gone["quantity"], gone["costBasis"], gone["marketValue"]) == (0, 0, 0)
    assert (gone["averageCost"], gone["unrealizedRate"]) == (None, None)
    assert (gone["unrealizedProfit"], gone["realizedProfit"]) == (0, 15)


def test_holding_without_a_price_has_no_value_and_counts_at_its_cost(
    client: JSONClient, premium_member: Member
) -> None:
    unknown = make_priced_stock(premium_member, None)
    known = make_priced_stock(premium_member, 30)
    trade(unknown, "BUY", 2, 2, 100, fee=1)
    trade(known, "BUY", 2, 1, 20)
    body = client.get_json(PORTFOLIO)
    (holding,) = [row for row in body["holdings"] if row["stockId"] == unknown.pk]
    nulls = ("currentPrice", "priceAt", "marketValue", "unrealizedProfit")
    assert [holding[name] for name in nulls] == [None] * 4
    assert holding["unrealizedRate"] is None
    assert holding["priceStale"] is True
    assert body["totals"]["marketValue"] == 201 + 30
    assert body["totals"]["unrealizedProfit"] == 10
    assert get_holdings_value(premium_member) == 231
    assert client.get_json(NETWORTH)["investments"] == 231


def test_every_change_of_a_trade_shows_at_once(
    client: JSONClient, premium_member: Member
) -> None:
    # The result of a replay is stored and valid until the next write.
    stock = make_priced_stock(premium_member, 1)
    row = trade(stock, "BUY", 2, 10, 100)
    client.get_json(PORTFOLIO)
    kept = Position.objects.get()
    assert kept.replayed_version == kept.version
    assert kept.cost == 1_000 * 10**30

    def read_cost() -> Any:
        return client.get_json(PORTFOLIO)["totals"]["costBasis"]

    client.send("PATCH", f"{TRADES}/{row.pk}", {"price": 200})
    assert read_cost() == 2_000
    Trade.objects.filter(pk=row.pk).update(fee=5)
    assert read_cost() == 2_005
    trade(stock, "BUY", 1, 1, 7)
    assert read_cost() == 2_012
    Trade.objects.filter(pk=row.pk).delete()
    assert read_cost() == 7


def test_result_of_an_older_replay_is_not_kept(
    premium_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:

    stock = make_priced_stock(premium_member, None)
    trade(stock, "BUY", 2, 10, 100)
    read_trades = portfolio._fetch_trades

    def read_and_be_overtaken(*arguments: Any) -> list[Any]:
        found = [(key, list(lines)) for key, lines in read_trades(*arguments)]
        trade(stock, "BUY", 3, 1, 1)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(portfolio, "_fetch_trades", read_and_be_overtaken)
        assert get_holdings_value(premium_member) == 1_000
    assert Position.objects.get().replayed_version is None
    assert get_holdings_value(premium_member) == 1_001


def test_the_largest_values_are_written_out(
    client: JSONClient, premium_member: Member
) -> None:
    stock = make_priced_stock(premium_member, MAX)
    for _ in range(3):
        trade(stock, "BUY", 2, "999999999999.999999", MAX, fee=MAX)
    exact = 3 * 999_999_999_999_999_999 * MAX
    value = (exact + 500_000) // 10**6
    cost = (exact + 3 * MAX * 10**6 + 500_000) // 10**6
    (holding,) = client.get_json(PORTFOLIO)["holdings"]
    assert holding["quantity"] == Decimal("2999999999999.999997")
    assert (holding["marketValue"], holding["costBasis"]) == (value, cost)
    worth = client.get_json(NETWORTH)
    assert worth["investments"] == worth["total"] == value
    assert client.send("GET", "/api/account/networth/trend").status_code == 200


def test_trades_that_changed_are_read_with_one_statement_and_kept_with_one(
    django_assert_num_queries: Any, premium_member: Member
) -> None:
    for _ in range(20):
        trade(make_priced_stock(premium_member, 5), "BUY", 2, 1, 1)
    # The positions, their trades, the results, the prices.
    with django_assert_num_queries(4):
        get_portfolio(premium_member)
    with django_assert_num_queries(2):
        get_portfolio(premium_member)


def test_holdings_are_investments_and_assets_of_the_net_worth(
    free_member: Member, django_assert_num_queries: Any
) -> None:
    make_wallet(free_member, opening_balance=100)
    make_wallet(free_member, opening_balance=-30)
    with django_assert_num_queries(1):
        assert get_holdings_value(free_member) == 0
    stock = make_priced_stock(free_member, 11)
    trade(stock, "BUY", 2, "1.5", 10)
    trade(stock, "SELL", 3, "0.5", 10)
    trade(make_priced_stock(make_member(), 99), "BUY", 2, 1, 10)
    with django_assert_num_queries(1):
        assert get_holdings_value(free_member) == 11
    # The net worth needs no plan.
    client = JSONClient(free_member)
    body = client.get_json(NETWORTH)
    assert (body["investments"], body["assets"], body["liabilities"]) == (11, 111, 30)
    assert body["total"] == 81
    assert client.send("GET", PORTFOLIO).data["code"] == "PREMIUM_REQUIRED"
