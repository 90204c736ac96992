"""The sources of exchange rates: what they answer, and how they fail."""

import json
import logging
import re
import threading
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings as present
from django.utils import timezone
from werkzeug import Request, Response

from core import http_client
from core.errors import ProviderUnavailableError
from core.logging import JSONFormatter
from ledger.currencies import provider as fx
from ledger.currencies.provider import (
    FallbackRateProvider,
    RateNotAvailableError,
    RateQuote,
)
from tests.support.fakes import FakeRates
from tests.support.waiting import MovedClock

FRANKFURTER, ER_API = "/v2/rate/USD/KRW", "/v6/latest/USD"
TODAY = date(2026, 11, 21)
YESTERDAY = TODAY - timedelta(1)
UPDATED_AT = 1_795_219_351  # 2026-11-21T00:02:31Z
GOOD = {"date": "2026-11-20", "base": "USD", "quote": "KRW", "rate": 1380.5}
LATEST = {
    "result": "success",
    "time_last_update_unix": UPDATED_AT,
    "base_code": "USD",
    "rates": {"USD": 1, "KRW": 1381.25},
}


def look_up(day: date = YESTERDAY) -> RateQuote:
    return FallbackRateProvider().fetch_rate("USD", "KRW", day)


def without(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


def test_first_source_is_frankfurter(fx_source: FakeRates) -> None:
    # All digits are kept.
    text = json.dumps(GOOD).replace("1380.5", "123456789.12345678")
    fx_source.answer(FRANKFURTER, text)
    rate = Decimal("123456789.12345678")
    assert look_up(TODAY) == RateQuote(rate, date(2026, 11, 20), "frankfurter")
    request, _ = fx_source.log[0]
    assert request.full_path == f"{FRANKFURTER}?date=2026-11-21"


# The first source is down, or does not know the pair.
@pytest.mark.parametrize("status", [503, 404])
def test_second_source_serves_todays_rate(fx_source: FakeRates, status: int) -> None:
    fx_source.answer(FRANKFURTER, "{}", status=status)
    fx_source.answer(ER_API, json.dumps(LATEST))
    assert look_up(TODAY) == RateQuote(Decimal("1381.25"), TODAY, "open.er-api")
    assert fx_source.calls == [FRANKFURTER, ER_API]


def test_second_source_is_not_asked_for_other_days(fx_source: FakeRates) -> None:
    fx_source.answer(FRANKFURTER, "{}", status=404)
    with pytest.raises(RateNotAvailableError):
        look_up(YESTERDAY)
    assert fx_source.calls == [FRANKFURTER]


def test_second_source_has_its_own_host_beside_the_default(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    asked = []

    def get(url: str, params: Any, **_: Any) -> Any:
        asked.append(url)
        raise ProviderUnavailableError

    settings.FX_BASE_URL = fx.FRANKFURTER_HOST
    monkeypatch.setattr(http_client, "get", get)
    with pytest.raises(ProviderUnavailableError):
        look_up(TODAY)
    assert asked == [
        "https://api.frankfurter.dev/v2/rate/USD/KRW",
        "https://open.er-api.com/v6/latest/USD",
    ]


def test_tests_do_not_reach_the_internet() -> None:
    assert present.FX_BASE_URL == "http://127.0.0.1:1"


RATES_REFUSED = [
    *("0", "-1380.5", "0.000000001", "1000000000000", "1e400", "1e999999999"),
    *("NaN", "Infinity", "-Infinity", "null", "true", '"1380.5"', "[1380.5]", "{}"),
    "9" * 5000,
]
FRANKFURTER_REFUSED: list[Any] = [
    GOOD | {"base": "EUR"},
    GOOD | {"quote": "JPY"},
    GOOD | {"base": "KRW", "quote": "USD"},
    *(GOOD | {"date": day} for day in ("2026-11-22", "yesterday", None, 20261120)),
    *(without(GOOD, name) for name in GOOD),
    *([], [GOOD], "text", None, {}),
]
ER_API_REFUSED: list[Any] = [
    LATEST | {"result": "error", "error-type": "quota-reached"},
    LATEST | {"base_code": "EUR"},
    *(LATEST | {"rates": wrong} for wrong in (None, "KRW")),
    LATEST | {"rates": []},
    *(LATEST | {"time_last_update_unix": at} for at in ("now", 10**30, None)),
    *(without(LATEST, name) for name in LATEST),
    *([], {}),
]


REFUSED = [
    *((FRANKFURTER, json.dumps(body)) for body in FRANKFURTER_REFUSED),
    *(
        (FRANKFURTER, json.dumps(GOOD).replace("1380.5", rate))
        for rate in RATES_REFUSED
    ),
    *((ER_API, json.dumps(body)) for body in ER_API_REFUSED),
    *((ER_API, json.dumps(LATEST).replace("1381.25", rate)) for rate in RATES_REFUSED),
]


@pytest.mark.parametrize(("path", "body"), REFUSED)
def test_answer_that_is_not_as_agreed_is_refused(
    fx_source: FakeRates, path: str, body: str
) -> None:
    if path == ER_API:
        fx_source.answer(FRANKFURTER, "{}", status=404)
    fx_source.answer(path, body)
    with pytest.raises(ProviderUnavailableError):
        look_up(YESTERDAY if path == FRANKFURTER else TODAY)


def test_currency_that_the_second_source_lacks_is_no_failure_of_it(
    fx_source: FakeRates,
) -> None:
    fx_source.answer(FRANKFURTER, "{}", status=404)
    fx_source.answer(ER_API, json.dumps(LATEST | {"rates": {"JPY": 150}}))
    with pytest.raises(RateNotAvailableError):
        look_up(TODAY)
    assert http_client.circuit_breaker.allows_request("open.er-api")


FAILURES: dict[str, Any] = {
    "500": lambda request: Response("{}", status=500),
    "503": lambda request: Response("down", status=503),
    "429": lambda request: Response("{}", status=429),
    "403": lambda request: Response("{}", status=403),
    "html": lambda request: Response("<html>Blocked</html>", mimetype="text/html"),
    "empty": lambda request: Response(""),
    "deep": lambda request: Response("[" * 100_000),
    "not utf-8": lambda request: Response(b'{"rate": "\xff\xfe"}'),
    "huge": lambda request: Response(" " * 2**21 + json.dumps(GOOD)),
    "redirect": lambda request: Response(status=302, headers={"Location": "/else"}),
    "odd redirect": lambda request: Response(json.dumps(GOOD), status=300),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_source_that_fails_is_refused_and_logged(
    fx_source: FakeRates, caplog: pytest.LogCaptureFixture, failure: str
) -> None:
    caplog.set_level(logging.DEBUG, "urllib3")
    fx_source.answer(FRANKFURTER, FAILURES[failure])
    fx_source.answer("/else", json.dumps(GOOD))
    with pytest.raises(ProviderUnavailableError):
        look_up()
    assert fx_source.calls == [FRANKFURTER]
    lines = [JSONFormatter().format(record) for record in caplog.records]
    told = re.compile("frankfurter (is unavailable|sent an invalid response)")
    assert len([line for line in lines if told.search(line)]) == 1


@pytest.mark.parametrize("waits", [1, 400], ids=["hangs", "trickles"])
def test_slow_source_is_given_up_in_time(
    slow_fx_source: FakeRates, monkeypatch: pytest.MonkeyPatch, waits: int
) -> None:
    is_over = threading.Event()

    def answer(request: Request) -> Response:
        def drops() -> Any:
            for _ in range(waits):
                is_over.wait(20 / waits)
                yield b" "
            yield json.dumps(GOOD).encode()

        return Response(drops(), mimetype="application/json")

    monkeypatch.setattr(fx, "FRANKFURTER_TIMEOUT_SECONDS", 0.3)
    slow_fx_source.answer(FRANKFURTER, answer)
    # At the end the answer would be good.
    with pytest.raises(ProviderUnavailableError):
        look_up()
    is_over.set()


def test_sources_take_no_longer_than_their_time_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = []
    clock = MovedClock()
    monkeypatch.setattr(fx, "time", clock)

    def fail_at_the_end(*_: Any, seconds: float, **__: Any) -> Any:
        given.append(seconds)
        clock.sleep(seconds)
        raise ProviderUnavailableError

    monkeypatch.setattr(http_client, "get", fail_at_the_end)
    with pytest.raises(ProviderUnavailableError):
        look_up(timezone.localdate())
    assert given == [4, 2]


def test_source_that_failed_slowly_is_left_alone_for_a_while(
    fx_source: FakeRates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client.circuit_breaker, "slow_failure_seconds", 0)
    fx_source.answer(FRANKFURTER, "down", status=503)
    for _ in range(3):
        with pytest.raises(ProviderUnavailableError):
            look_up()
    assert fx_source.calls == [FRANKFURTER]
