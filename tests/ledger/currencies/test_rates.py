"""Exchange rates: looked up once a day, carried over weekends, never made up."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction

from core import http_client
from core.errors import ProviderUnavailableError
from ledger.currencies import rates
from ledger.currencies.rates import Rate, get_rate
from ledger.models import FxRate
from tests.support.clients import JSONClient
from tests.support.fakes import FakeRates
from tests.support.problems import assert_invalid, assert_problem

PATH = "/api/fx/rate"
SATURDAY = date(2026, 11, 21)
FRIDAY = SATURDAY - timedelta(1)
USD_KRW = "/v2/rate/USD/KRW"


@pytest.fixture(autouse=True)
def _db(db: None) -> None: ...


@pytest.fixture
def client(free_member: Any) -> JSONClient:
    return JSONClient(free_member)


def store(base: str, quote: str, day: date, rate: str, rate_date: Any = None) -> None:
    FxRate.objects.create(
        base=base,
        quote=quote,
        day=day,
        rate=Decimal(rate),
        rate_date=rate_date or day,
        source="test",
    )


def test_rate_is_asked_for_once_and_kept(fx_source: FakeRates) -> None:
    fx_source.quote("USD", "KRW", "1380.12345678", "2026-11-20")
    for _ in range(3):
        rate = get_rate("USD", "KRW", SATURDAY)
        assert rate == Rate(Decimal("1380.12345678"), FRIDAY)
    assert fx_source.calls == [USD_KRW]
    row = FxRate.objects.get()
    assert (row.day, row.rate_date, row.source) == (SATURDAY, FRIDAY, "frankfurter")


def test_each_pair_and_day_is_asked_for(fx_source: FakeRates) -> None:
    fx_source.quote("USD", "KRW", "1380.5", "2026-11-19")
    fx_source.quote("KRW", "USD", "0.00072438", "2026-11-19")
    for base, quote in (("USD", "KRW"), ("KRW", "USD")):
        for day in (FRIDAY, SATURDAY):
            get_rate(base, quote, day)
    assert len(fx_source.calls) == FxRate.objects.count() == 4


def test_currency_in_itself_is_one_without_a_call(fx_source: FakeRates) -> None:
    assert get_rate("KRW", "KRW", FRIDAY) == Rate(Decimal(1), FRIDAY)
    assert get_rate("USD", "USD", date(2040, 1, 1)).rate_date == SATURDAY
    assert fx_source.calls == []


@pytest.mark.parametrize("day", [SATURDAY + timedelta(1), date.max])
def test_day_to_come_counts_as_today(fx_source: FakeRates, day: date) -> None:
    store("USD", "KRW", SATURDAY, "1380.5", FRIDAY)
    assert get_rate("USD", "KRW", day) == Rate(Decimal("1380.5"), FRIDAY)
    assert fx_source.calls == []


@pytest.mark.parametrize(("days", "serves"), [(0, True), (7, True), (8, False)])
def test_rate_is_carried_seven_days_at_most(
    fx_source: FakeRates, days: int, serves: bool
) -> None:
    rate_date = SATURDAY - timedelta(days)
    fx_source.quote("USD", "KRW", "1380.5", rate_date.isoformat())
    if serves:
        assert get_rate("USD", "KRW", SATURDAY).rate_date == rate_date
    else:
        with pytest.raises(ProviderUnavailableError):
            get_rate("USD", "KRW", SATURDAY)
    assert FxRate.objects.count() == int(serves)


@pytest.mark.parametrize(("days", "serves"), [(1, True), (7, True), (8, False)])
def test_last_known_rate_serves_while_the_sources_fail(days: int, serves: bool) -> None:
    rate_date = SATURDAY - timedelta(days)
    store("USD", "KRW", rate_date - timedelta(1), "1300", rate_date - timedelta(1))
    store("USD", "KRW", rate_date, "1390")
    if serves:
        assert get_rate("USD", "KRW", SATURDAY) == Rate(Decimal(1390), rate_date)
    else:
        with pytest.raises(ProviderUnavailableError):
            get_rate("USD", "KRW", SATURDAY)
    assert FxRate.objects.count() == 2


def test_pair_turned_around_serves_while_the_sources_fail() -> None:
    store("USD", "KRW", FRIDAY, "1600")
    assert get_rate("KRW", "USD", SATURDAY) == Rate(Decimal("0.000625"), FRIDAY)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        # A rate of a later day never serves, nor one that turns around to nothing.
        (("USD", "KRW", SATURDAY, "1390"), ("USD", "KRW", FRIDAY)),
        (("USD", "KRW", FRIDAY, "999999999"), ("KRW", "USD", SATURDAY)),
        (("USD", "KRW", FRIDAY, "1390"), ("USD", "KRW", date.min)),
    ],
)
def test_stored_rate_that_does_not_serve(stored: Any, asked: Any) -> None:
    store(*stored)
    with pytest.raises(ProviderUnavailableError):
        get_rate(*asked)


def test_failure_that_took_long_is_remembered_for_a_while(
    fx_source: FakeRates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates.circuit_breaker, "slow_failure_seconds", 0)
    monkeypatch.setattr(http_client.circuit_breaker, "slow_failure_seconds", 0)
    fx_source.answer(USD_KRW, "{}", status=404)
    for _ in range(3):
        with pytest.raises(ProviderUnavailableError):
            get_rate("USD", "KRW", FRIDAY)
    assert fx_source.calls == [USD_KRW]


def test_source_that_refuses_again_and_again_is_left_alone(
    fx_source: FakeRates,
) -> None:
    fx_source.answer(USD_KRW, "{}", status=429)
    for _ in range(30):
        with pytest.raises(ProviderUnavailableError):
            get_rate("USD", "KRW", FRIDAY)
    assert len(fx_source.calls) == http_client.FAST_FAILURE_THRESHOLD


@pytest.mark.parametrize("status", [404, 429, 500, 503])
def test_quick_failure_may_be_over_with_the_next_call(
    fx_source: FakeRates, status: int
) -> None:
    fx_source.answer(USD_KRW, "{}", status=status)
    with pytest.raises(ProviderUnavailableError):
        get_rate("USD", "KRW", FRIDAY)
    fx_source.clear()
    for base, rate in (("USD", "1380.5"), ("EUR", "1500")):
        fx_source.quote(base, "KRW", rate, "2026-11-20")
        assert get_rate(base, "KRW", FRIDAY).rate == Decimal(rate)


def test_source_that_fails_slowly_costs_one_pair_only(
    fx_source: FakeRates, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other pairs do not wait for a source that was silent a moment ago.
    monkeypatch.setattr(rates.circuit_breaker, "slow_failure_seconds", 0)
    monkeypatch.setattr(http_client.circuit_breaker, "slow_failure_seconds", 0)
    fx_source.answer(USD_KRW, "down", status=503)
    for base in ("USD", "EUR", "JPY"):
        with pytest.raises(ProviderUnavailableError):
            get_rate(base, "KRW", FRIDAY)
    assert fx_source.calls == [USD_KRW]


@pytest.mark.django_db(transaction=True)
def test_sources_are_not_asked_inside_a_transaction(fx_source: FakeRates) -> None:
    fx_source.quote("USD", "KRW", "1380.5", "2026-11-20")
    with pytest.raises(RuntimeError), transaction.atomic():
        get_rate("USD", "KRW", SATURDAY)


def test_answer_has_the_pair_the_rate_and_its_date(
    client: JSONClient, fx_source: FakeRates
) -> None:
    fx_source.quote("USD", "KRW", "1380.50000001", "2026-11-20")
    response = client.send("GET", f"{PATH}?from=USD&to=KRW")
    assert response.status_code == 200
    assert response.content == (
        b'{"from":"USD","to":"KRW","rate":1380.50000001,"date":"2026-11-20"}'
    )
    asked, _ = fx_source.log[0]
    assert asked.args.to_dict() == {"date": "2026-11-21"}


def test_currencies_are_written_in_any_letter_case(client: JSONClient) -> None:
    answer = client.get_json(PATH, **{"from": "krw", "to": "Krw"})
    assert answer == {"from": "KRW", "to": "KRW", "rate": 1, "date": "2026-11-21"}


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("", ["from", "to"]),
        ("?from=USD", ["to"]),
        *(
            (f"?from={base}&to=USD", ["from"])
            for base in ("", "XXX", "../USD", "U%00D")
        ),
        *((f"?from=USD&to={quote}", ["to"]) for quote in ("DOGE", "KR%2F")),
    ],
)
def test_unknown_or_missing_currency_is_refused(
    client: JSONClient, fx_source: FakeRates, query: str, fields: list[str]
) -> None:
    assert_invalid(client.send("GET", PATH + query), *fields)
    assert fx_source.calls == []


def test_last_known_rate_is_shown_however_old_but_books_nothing(
    client: JSONClient, anonymous: JSONClient
) -> None:
    query = f"{PATH}?from=USD&to=KRW"
    assert_problem(client.send("GET", query), 502, "PROVIDER_UNAVAILABLE")
    assert_problem(anonymous.send("GET", query), 401, "AUTHENTICATION_REQUIRED")
    store("USD", "KRW", date(2020, 2, 1), "1111.5")
    body = client.get_json(query)
    assert (body["rate"], body["date"]) == (Decimal("1111.5"), "2020-02-01")
    with pytest.raises(ProviderUnavailableError):
        get_rate("USD", "KRW", SATURDAY)
