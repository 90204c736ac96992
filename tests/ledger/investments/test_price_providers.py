"""Sources of prices: what they answer, how they fail, how often they are asked."""

import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from core import http_client
from core.errors import ProviderUnavailableError
from ledger.investments import prices
from ledger.investments.price_providers import CompositePriceProvider, PriceQuote
from ledger.models import StockQuote
from ledger.rates import Rate
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_stock, make_trade
from tests.support.races import run_concurrently
from tests.support.stores import find_closed_port

NAVER, YAHOO = "/api/realtime/domestic/stock/", "/v8/finance/chart/"
PORTFOLIO = "/api/account/portfolio"
SOURCES = re.compile(r"/(api/realtime|v8/finance)/.*")
AT = "2025-11-20T15:30:00+09:00"
EPOCH = 1_763_762_400  # 2025-11-21T22:00:00Z

Handler = Callable[[Request], Response]


def write_row(code: str, price: Any = "71,000") -> dict[str, Any]:
    return {"itemCode": code, "closePrice": price, "localTradedAt": AT}


def write_chart(symbol: str, price: Any = 271.49, **fields: Any) -> dict[str, Any]:
    meta = {
        "symbol": symbol,
        "currency": "USD",
        "regularMarketPrice": price,
        "regularMarketTime": EPOCH,
    } | fields
    return {"chart": {"result": [{"meta": meta}], "error": None}}


def as_json(body: Any, status: int = 200) -> Response:
    return Response(json.dumps(body), status, mimetype="application/json")


class FakeMarket:
    """Naver and Yahoo at one address; `calls` are the paths they were asked."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.prices: dict[str, Any] = {}
        self.several = True
        self.answer: Handler | None = None

    def __call__(self, request: Request) -> Response:
        self.calls.append(request.path)
        if self.answer is not None:
            return self.answer(request)
        if request.path.startswith(NAVER):
            codes = request.path.removeprefix(NAVER).split(",")
            known = [code for code in codes if code in self.prices]
            if len(codes) > 1 and not self.several:
                known = []
            rows = [write_row(code, self.prices[code]) for code in known]
            return as_json({"datas": rows})
        code = request.path.removeprefix(YAHOO)
        if code not in self.prices:
            error = {"code": "Not Found"}
            return as_json({"chart": {"result": None, "error": error}}, 404)
        return as_json(write_chart(code, self.prices[code]))


@pytest.fixture
def market(settings: Any) -> Iterator[FakeMarket]:
    """Yield a server of this test alone: slow requests must not meet the next test."""
    fake = FakeMarket()
    with HTTPServer(threaded=True) as server:
        server.expect_request("/moved").respond_with_json({"datas": []})
        server.expect_request(SOURCES).respond_with_handler(fake)
        settings.PRICE_BASE_URL = server.url_for("").rstrip("/")
        http_client.circuit_breaker.reset()
        yield fake
    http_client.circuit_breaker.reset()


@pytest.fixture
def dollars(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the rate of the dollar to 1,400 won."""

    def look_up(base: str, quote: str, day: Any) -> Rate:
        assert (base, quote) == ("USD", "KRW")
        return Rate(Decimal(1_400), day)

    monkeypatch.setattr(prices, "get_rate", look_up)


def expire() -> None:
    """Make all prices so old that they are looked up again."""
    past = timezone.now() - timedelta(days=1)
    StockQuote.objects.update(next_refresh_at=past)
    StockQuote.objects.exclude(fetched_at=None).update(fetched_at=past)


# --- What they answer ------------------------------------------------------------------


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


# --- How they fail ----------------------------------------------------------------------


def redirect(request: Request) -> Response:
    return Response(status=302, headers={"Location": "/moved"})


def sleep(request: Request) -> Response:
    time.sleep(2.2)
    return as_json({"datas": [write_row("005930")]})


def trickle(request: Request) -> Response:
    def drops() -> Iterator[bytes]:
        for _ in range(22):
            time.sleep(0.1)
            yield b" "

    return Response(drops(), mimetype="application/json")


FAILURES: dict[str, Handler] = {
    "500": lambda request: Response("{}", status=500),
    "429": lambda request: Response("Too Many Requests", status=429),
    "403": lambda request: Response("<html>", status=403, mimetype="text/html"),
    "html with 200": lambda request: Response("<html>", mimetype="text/html"),
    "empty": lambda request: Response(""),
    "list": lambda request: as_json([]),
    "deep": lambda request: Response("[" * 100_000),
    "without datas": lambda request: as_json({}),
    "datas null": lambda request: as_json({"datas": None}),
    "rows of text": lambda request: as_json({"datas": ["005930"]}),
    "another code": lambda request: as_json({"datas": [write_row("000660")]}),
    "huge": lambda request: as_json({"datas": [], "x": "x" * 2**21}),
    "huge number": lambda request: Response('{"datas": ' + "9" * 5000 + "}"),
    "redirect": redirect,
    "slow": sleep,
    "trickle": trickle,
}


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


# --- Opening the portfolio ----------------------------------------------------------------


@pytest.fixture
def client(premium_member: Any) -> JSONClient:
    return JSONClient(premium_member)


def read_holdings(client: JSONClient) -> dict[str, Any]:
    return {row["code"]: row for row in client.get_json(PORTFOLIO)["holdings"]}


def hold(member: Any, *codes: str) -> None:
    for code in codes:
        make_trade(member, stock=make_stock(member, code=code))


def test_opening_looks_up_prices_of_all_stocks(
    market: FakeMarket, dollars: None, client: JSONClient, premium_member: Any
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
    market: FakeMarket, client: JSONClient, premium_member: Any
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
    market: FakeMarket, client: JSONClient, premium_member: Any, settings: Any
) -> None:
    settings.PRICE_MAX_AGE_SECONDS = 0
    hold(premium_member, "005930")
    for price in ("1", "2", "3"):
        market.prices = {"005930": price}
        holding = read_holdings(client)["005930"]
        assert (holding["currentPrice"], holding["priceStale"]) == (int(price), False)


def test_failure_leaves_the_old_price_with_its_time(
    market: FakeMarket, client: JSONClient, premium_member: Any
) -> None:
    market.prices = {"005930": "71,000"}
    hold(premium_member, "005930")
    before = read_holdings(client)["005930"]
    market.answer = FAILURES["html with 200"]
    expire()
    after = read_holdings(client)["005930"]
    assert after == before | {"priceStale": True}
    assert client.get_json("/api/account/stocks")[0]["currentPrice"] == 71_000


def test_price_is_stale_as_soon_as_a_look_up_has_failed(
    market: FakeMarket, client: JSONClient, premium_member: Any, settings: Any
) -> None:
    settings.PRICE_MAX_AGE_SECONDS = 0
    market.prices = {"005930": "71,000"}
    hold(premium_member, "005930")
    assert read_holdings(client)["005930"]["priceStale"] is False
    fresh, market.answer = market.answer, FAILURES["500"]
    assert read_holdings(client)["005930"]["priceStale"] is True
    StockQuote.objects.update(next_refresh_at=timezone.now())
    market.answer = fresh
    assert read_holdings(client)["005930"]["priceStale"] is False


def test_failure_is_followed_by_a_pause_and_then_by_the_price(
    market: FakeMarket, client: JSONClient, premium_member: Any
) -> None:
    hold(premium_member, "005930")
    market.answer = FAILURES["slow"]
    started = time.monotonic()
    assert read_holdings(client)["005930"]["currentPrice"] is None
    assert time.monotonic() - started < 2.5
    started = time.monotonic()
    for _ in range(5):
        assert read_holdings(client)["005930"]["priceStale"] is True
    assert time.monotonic() - started < 1
    assert len(market.calls) == 1
    market.answer, market.prices = None, {"005930": "5"}
    expire()
    http_client.circuit_breaker.reset()
    assert read_holdings(client)["005930"]["currentPrice"] == 5


def test_partial_answer_serves_those_it_has(
    market: FakeMarket, client: JSONClient, premium_member: Any
) -> None:
    market.prices = {"005930": "71,000"}
    hold(premium_member, "005930", "000660", "NONE")
    found = read_holdings(client)
    assert [row["currentPrice"] for row in found.values()] == [71_000, None, None]
    assert [row["priceStale"] for row in found.values()] == [False, True, True]


def test_without_an_exchange_rate_there_is_no_price(
    market: FakeMarket,
    client: JSONClient,
    premium_member: Any,
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
    premium_member: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prices, "get_rate", lambda *_: time.sleep(2.6))
    market.prices = {"AAPL": 271.49}
    hold(premium_member, "AAPL")
    started = time.monotonic()
    assert read_holdings(client)["AAPL"]["currentPrice"] is None
    assert time.monotonic() - started < 2.5


class BrokenPrices:
    def quote(self, codes: Any) -> Any:
        raise ProviderUnavailableError


def test_provider_is_replaceable(
    client: JSONClient, premium_member: Any, settings: Any
) -> None:
    settings.PRICE_PROVIDER = f"{__name__}.BrokenPrices"
    hold(premium_member, "005930")
    assert read_holdings(client)["005930"]["priceStale"] is True
    assert StockQuote.objects.get().is_claimed is False


def test_price_of_one_member_serves_the_others(
    market: FakeMarket, client: JSONClient, premium_member: Any, administrator: Any
) -> None:
    market.prices = {"005930": "71,000"}
    hold(premium_member, "005930")
    hold(administrator, "005930")
    read_holdings(client)
    found = read_holdings(JSONClient(administrator))
    assert found["005930"]["currentPrice"] == 71_000
    assert len(market.calls) == 1


def test_net_worth_asks_nobody(
    market: FakeMarket, client: JSONClient, premium_member: Any
) -> None:
    hold(premium_member, "005930")
    assert client.get_json("/api/account/networth")["investments"] == 1_000
    assert market.calls == []


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
    market: FakeMarket,
) -> None:
    member = make_member(role="ADMIN")
    hold(member, "005930")
    market.prices = {"005930": "5"}
    client = JSONClient(member)
    read_holdings(client)
    expire()
    market.answer = FAILURES["slow"]

    def open_it() -> float:
        own = JSONClient()
        own.use_token(client.token)
        started = time.monotonic()
        assert read_holdings(own)["005930"]["currentPrice"] == 5
        return time.monotonic() - started

    times = sorted(run_concurrently([open_it] * 6))
    assert times[-2] < 1
    assert len(market.calls) == 2
