"""Opening the portfolio: which prices are looked up, and how often."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from werkzeug import Request, Response

from accounts.models import Member
from core import http_client
from core.errors import ProviderUnavailableError
from ledger.investments import price_providers, prices
from ledger.models import StockQuote
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_stock, make_trade
from tests.support.fake_market import (
    FAILURES,
    NAVER,
    FakeMarket,
    as_json,
    write_row,
)
from tests.support.races import run_concurrently

PORTFOLIO = "/api/account/portfolio"


@pytest.fixture
def enough_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine answer in time."""
    monkeypatch.setattr(price_providers, "TOTAL_TIMEOUT_SECONDS", 20)
    monkeypatch.setattr(prices, "REFRESH_TIMEOUT_SECONDS", 20)


def expire() -> None:
    """Make all prices so old that they are looked up again."""
    past = timezone.now() - timedelta(days=1)
    StockQuote.objects.update(next_refresh_at=past)
    StockQuote.objects.exclude(fetched_at=None).update(fetched_at=past)


def read_holdings(client: JSONClient) -> dict[str, Any]:
    return {row["code"]: row for row in client.get_json(PORTFOLIO)["holdings"]}


def hold(member: Member, *codes: str) -> None:
    for code in codes:
        make_trade(member, stock=make_stock(member, code=code))


@pytest.mark.usefixtures("enough_time")
def test_opening_looks_up_prices_of_all_stocks(
    market: FakeMarket, dollars: None, client: JSONClient, premium_member: Member
) -> None:
    market.prices = {"005930": "71,000", "AAPL": 271.4999}
    hold(premium_member, "005930", "AAPL")
    make_stock(premium_member, code="000660")
    found = read_holdings(client)
    assert found["005930"]["currentPrice"] == 71_000
    assert found["AAPL"]["currentPrice"] == 380_100
    assert {row["priceStale"] for row in found.values()} == {False}
    assert f"{NAVER}000660,005930" in market.calls


def test_young_price_is_not_looked_up_again(
    market: FakeMarket, client: JSONClient, premium_member: Member
) -> None:
    market.prices = {"005930": "71,000"}
    hold(premium_member, "005930")
    for _ in range(3):
        assert read_holdings(client)["005930"]["priceStale"] is False
    assert len(market.calls) == 1
    market.prices = {"005930": "72,000"}
    expire()
    assert read_holdings(client)["005930"]["currentPrice"] == 72_000


def test_with_an_age_of_zero_every_opening_looks(
    market: FakeMarket, client: JSONClient, premium_member: Member, settings: Any
) -> None:
    settings.PRICE_MAX_AGE_SECONDS = 0
    hold(premium_member, "005930")
    for price in ("1", "2", "3"):
        market.prices = {"005930": price}
        holding = read_holdings(client)["005930"]
        assert (holding["currentPrice"], holding["priceStale"]) == (int(price), False)
    fresh, market.answer = market.answer, FAILURES["500"]
    assert read_holdings(client)["005930"]["priceStale"] is True
    StockQuote.objects.update(next_refresh_at=timezone.now())
    market.answer = fresh
    assert read_holdings(client)["005930"]["priceStale"] is False


def test_failure_leaves_the_old_price_with_its_time(
    market: FakeMarket, client: JSONClient, premium_member: Member
) -> None:
    market.prices = {"005930": "71,000"}
    hold(premium_member, "005930")
    before = read_holdings(client)["005930"]
    market.answer = FAILURES["html with 200"]
    expire()
    after = read_holdings(client)["005930"]
    assert after == before | {"priceStale": True}
    assert client.get_json("/api/account/stocks")[0]["currentPrice"] == 71_000


def test_failure_is_followed_by_a_pause_and_then_by_the_price(
    market: FakeMarket, client: JSONClient, premium_member: Member
) -> None:
    hold(premium_member, "005930")
    market.answer = FAILURES["slow"]
    assert read_holdings(client)["005930"]["currentPrice"] is None
    for _ in range(5):
        assert read_holdings(client)["005930"]["priceStale"] is True
    assert len(market.calls) == 1
    market.answer, market.prices = None, {"005930": "5"}
    expire()
    http_client.circuit_breaker.reset()
    assert read_holdings(client)["005930"]["currentPrice"] == 5


def test_partial_answer_serves_those_it_has(
    market: FakeMarket, client: JSONClient, premium_member: Member
) -> None:
    market.prices = {"005930": "71,000"}
    hold(premium_member, "005930", "000660", "NONE")
    found = read_holdings(client)
    assert [row["currentPrice"] for row in found.values()] == [71_000, None, None]
    assert [row["priceStale"] for row in found.values()] == [False, True, True]


def test_without_an_exchange_rate_there_is_no_price(
    market: FakeMarket,
    client: JSONClient,
    premium_member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any) -> Any:
        raise ProviderUnavailableError

    monkeypatch.setattr(prices, "get_rate", fail)
    market.prices = {"AAPL": 271.49, "005930": "5"}
    hold(premium_member, "AAPL", "005930")
    found = read_holdings(client)
    assert found["AAPL"]["currentPrice"] is None
    assert found["005930"]["currentPrice"] == 5


def test_slow_exchange_rate_does_not_hold_the_portfolio_up(
    market: FakeMarket,
    client: JSONClient,
    premium_member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_over, ended = threading.Event(), threading.Event()

    def get_rate(*_: Any) -> None:
        is_over.wait(20)
        ended.set()

    monkeypatch.setattr(prices, "get_rate", get_rate)
    market.prices = {"AAPL": 271.49}
    hold(premium_member, "AAPL")
    assert read_holdings(client)["AAPL"]["currentPrice"] is None
    # The rate was still being looked up.
    assert not ended.is_set()
    is_over.set()


class BrokenPrices:
    def quote(self, codes: Any) -> Any:
        raise ProviderUnavailableError


def test_provider_is_replaceable(
    client: JSONClient, premium_member: Member, settings: Any
) -> None:
    settings.PRICE_PROVIDER = f"{__name__}.BrokenPrices"
    hold(premium_member, "005930")
    assert read_holdings(client)["005930"]["priceStale"] is True
    assert StockQuote.objects.get().is_claimed is False


def test_price_of_one_member_serves_the_others(
    market: FakeMarket,
    client: JSONClient,
    premium_member: Member,
    administrator: Member,
) -> None:
    market.prices = {"005930": "71,000"}
    hold(premium_member, "005930")
    hold(administrator, "005930")
    # The net worth looks nothing up.
    assert client.get_json("/api/account/networth")["investments"] == 1_000
    assert market.calls == []
    read_holdings(client)
    found = read_holdings(JSONClient(administrator))
    assert found["005930"]["currentPrice"] == 71_000
    assert len(market.calls) == 1


@pytest.mark.django_db(transaction=True)
def test_64_openings_at_once_make_one_call(market: FakeMarket) -> None:
    def answer(request: Request) -> Response:
        time.sleep(0.3)
        return as_json({"datas": [write_row("005930")]})

    market.answer = answer
    clients = []
    for _ in range(8):
        member = make_member(role="ADMIN")
        hold(member, "005930")
        clients.append(JSONClient(member))
    for client in clients:
        client.get_json("/api/auth/session")

    def open_eight(token: str) -> Callable[[], list[Any]]:
        def run() -> list[Any]:
            client = JSONClient()
            client.use_token(token)
            return [read_holdings(client)["005930"]["currentPrice"] for _ in range(8)]

        return run

    found = run_concurrently([open_eight(client.token) for client in clients])
    assert found == [[71_000] * 8] * 8
    assert len(market.calls) == 1


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_a_look_up_where_there_is_an_old_price(
    market: FakeMarket, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((prices, "REFRESH"), (price_providers, "TOTAL")):
        monkeypatch.setattr(module, f"{name}_TIMEOUT_SECONDS", 60)
    member = make_member(role="ADMIN")
    hold(member, "005930")
    market.prices = {"005930": "5"}
    client = JSONClient(member)
    read_holdings(client)
    expire()
    others = threading.Semaphore(0)
    have_others_ended = []

    def answer(request: Request) -> Response:
        ended = [others.acquire(timeout=20) for _ in range(5)]
        have_others_ended.append(all(ended))
        return Response("", status=503)

    market.answer = answer

    def open_it() -> None:
        own = JSONClient()
        own.use_token(client.token)
        assert read_holdings(own)["005930"]["currentPrice"] == 5
        others.release()

    run_concurrently([open_it] * 6)
    assert have_others_ended == [True]
    assert len(market.calls) == 2
