"""Sources of prices: what they answer, and how they fail."""

import time
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from werkzeug import Request, Response

from core import http_client
from ledger.investments.price_providers import CompositePriceProvider, PriceQuote
from tests.support.fake_market import (
    AT,
    EPOCH,
    FAILURES,
    NAVER,
    YAHOO,
    FakeMarket,
    as_json,
    write_chart,
)
from tests.support.stores import find_closed_port


def test_korean_codes_are_asked_together(market: FakeMarket) -> None:
    market.prices = {"005930": "71,000", "0193W0": "12,345"}
    at = datetime.fromisoformat(AT)
    assert CompositePriceProvider().quote(["005930", "0193W0"]) == {
        "005930": PriceQuote(Decimal(71_000), "KRW", at),
        "0193W0": PriceQuote(Decimal(12_345), "KRW", at),
    }
    assert market.calls == [f"{NAVER}005930,0193W0"]


def test_korean_codes_that_stay_without_an_answer_are_asked_one_by_one(
    market: FakeMarket,
) -> None:
    market.prices, market.several = {"005930": "71,000", "000660": "9"}, False
    found = CompositePriceProvider().quote(["005930", "000660", "999999"])
    assert {code: quote.price for code, quote in found.items()} == {
        "005930": 71_000,
        "000660": 9,
    }
    assert len(market.calls) == 4


def test_tickers_are_asked_one_by_one(market: FakeMarket) -> None:
    market.prices = {"AAPL": 271.49, "BRK-B": 500}
    found = CompositePriceProvider().quote(["AAPL", "BRK-B", "GONE"])
    assert found["AAPL"].price == Decimal("271.49")
    assert found["AAPL"].currency == "USD"
    assert int(found["AAPL"].at.timestamp()) == EPOCH
    assert set(found) == {"AAPL", "BRK-B"}
    assert sorted(market.calls) == [f"{YAHOO}{c}" for c in ("AAPL", "BRK-B", "GONE")]


@pytest.mark.parametrize(
    "code",
    ["../etc", "A/B", "..", ".", "-", "A..B", "A?x=1", "A#", "삼성", "a b", "A%2E"],
)
def test_code_that_is_none_gets_into_no_address(market: FakeMarket, code: str) -> None:
    assert CompositePriceProvider().quote([code]) == {}
    assert market.calls == []


@pytest.mark.parametrize(
    "price",
    ["", "-", "0", "-5", "NaN", "Infinity", "1e400", None, "9" * 13, [], "7..1"],
)
def test_price_of_naver_that_is_no_price_is_none(
    market: FakeMarket, price: Any
) -> None:
    market.prices = {"005930": price}
    assert CompositePriceProvider().quote(["005930"]) == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"regularMarketPrice": "271"},
        {"regularMarketPrice": True},
        {"regularMarketPrice": None},
        {"regularMarketPrice": 0},
        {"regularMarketPrice": 1e300},
        {"currency": "GBp"},
        {"currency": None},
        {"symbol": "MSFT"},
        {"regularMarketTime": "now"},
        {"regularMarketTime": 10**20},
    ],
    ids=str,
)
def test_chart_that_is_no_price_is_none(
    market: FakeMarket, fields: dict[str, Any]
) -> None:
    market.answer = lambda request: as_json(write_chart("AAPL", **fields))
    assert CompositePriceProvider().quote(["AAPL"]) == {}


def test_one_ticker_without_a_price_does_not_stop_the_others(
    market: FakeMarket,
) -> None:
    market.prices = {"AAPL": "broken", "MSFT": 1}
    assert set(CompositePriceProvider().quote(["AAPL", "MSFT"])) == {"MSFT"}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("code", ["005930", "AAPL"])
def test_source_that_fails_gives_no_price_in_time(
    market: FakeMarket, failure: str, code: str
) -> None:
    market.answer = FAILURES[failure]
    started = time.monotonic()
    assert CompositePriceProvider().quote([code]) == {}
    assert time.monotonic() - started < 2


def test_source_that_is_silent_is_left_alone_for_a_while(
    market: FakeMarket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client.circuit_breaker, "slow_failure_seconds", 0)
    market.answer = FAILURES["500"]
    for _ in range(5):
        CompositePriceProvider().quote(["005930", "000660"])
    assert len(market.calls) == 1


def test_source_that_is_not_there(settings: Any) -> None:
    settings.PRICE_BASE_URL = f"http://127.0.0.1:{find_closed_port()}"
    http_client.circuit_breaker.reset()
    assert CompositePriceProvider().quote(["005930", "AAPL"]) == {}
    http_client.circuit_breaker.reset()


def test_many_slow_tickers_take_two_seconds_together(market: FakeMarket) -> None:
    def answer(request: Request) -> Response:
        time.sleep(0.3)
        return as_json(write_chart(request.path.removeprefix(YAHOO)))

    market.answer = answer
    started = time.monotonic()
    found = CompositePriceProvider().quote([f"T{number}" for number in range(200)])
    assert time.monotonic() - started < 2
    assert 8 <= len(found) < 200
