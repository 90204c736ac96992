"""Sources of prices: what they answer, and how they fail."""

import threading
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from werkzeug import Request, Response

from core import http_client
from ledger.investments import price_providers
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
    market.prices = {"AAPL": 271.49, "BRK-B": 500, "MSFT": "broken"}
    found = CompositePriceProvider().quote(["AAPL", "BRK-B", "GONE", "MSFT"])
    assert found["AAPL"].price == Decimal("271.49")
    assert found["AAPL"].currency == "USD"
    assert int(found["AAPL"].at.timestamp()) == EPOCH
    assert set(found) == {"AAPL", "BRK-B"}
    codes = ("AAPL", "BRK-B", "GONE", "MSFT")
    assert sorted(market.calls) == [f"{YAHOO}{code}" for code in codes]


def test_other_texts_get_into_no_address(market: FakeMarket) -> None:
    codes = [
        "../etc",
        "A/B",
        "..",
        ".",
        "-",
        "A..B",
        "A?x=1",
        "A#",
        "삼성",
        "a b",
        "A%2E",
    ]
    assert CompositePriceProvider().quote(codes) == {}
    assert market.calls == []


def test_text_of_naver_that_is_no_price_is_none(market: FakeMarket) -> None:
    wrong: list[Any] = [
        "",
        "-",
        "0",
        "-5",
        "NaN",
        "Infinity",
        "1e400",
        None,
        "9" * 13,
        [],
        "7..1",
    ]
    for price in wrong:
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


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("code", ["005930", "AAPL"])
def test_source_that_fails_gives_no_price_in_time(
    market: FakeMarket, monkeypatch: pytest.MonkeyPatch, failure: str, code: str
) -> None:
    # Far below the time of those that are slow, whose answers would be good.
    monkeypatch.setattr(price_providers, "TOTAL_TIMEOUT_SECONDS", 0.3)
    market.answer = FAILURES[failure]
    assert CompositePriceProvider().quote([code]) == {}


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


def test_many_slow_tickers_have_one_time_limit_together(
    market: FakeMarket, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert price_providers.TOTAL_TIMEOUT_SECONDS < 2
    monkeypatch.setattr(price_providers, "TOTAL_TIMEOUT_SECONDS", 0.5)
    is_over = threading.Event()

    def answer(request: Request) -> Response:
        code = request.path.removeprefix(YAHOO)
        if code not in first:
            is_over.wait(20)
        return as_json(write_chart(code))

    market.answer = answer
    codes = [f"T{number}" for number in range(200)]
    first = set(codes[:8])
    found = CompositePriceProvider().quote(codes)
    is_over.set()
    assert found.keys() <= first
