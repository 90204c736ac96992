"""Exchange rates asked for by many at once: one outside call."""

import threading
import time
from contextlib import nullcontext
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone
from werkzeug import Request, Response

from core.errors import ProviderUnavailableError
from core.leases.holding import lease
from core.leases.models import Lease
from ledger.currencies import rates
from ledger.currencies.rates import Rate, get_rate
from ledger.models import FxRate
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.fakes import FakeRates
from tests.support.races import run_concurrently, sorted_statuses

pytestmark = pytest.mark.django_db(transaction=True)

CALLERS = 64
TIMEOUT_SECONDS = 20
DAY = date(2026, 11, 20)
PATH = "/v2/rate/USD/KRW"
LEASE = rates.RateKey("USD", "KRW", DAY).lease_name


def look_up() -> Any:
    try:
        return get_rate("USD", "KRW", DAY)
    except ProviderUnavailableError:
        return None


def answer_after(seconds: float, status: int = 200) -> Any:
    def answer(request: Request) -> Response:
        time.sleep(seconds)
        return Response(
            '{"date":"2026-11-20","base":"USD","quote":"KRW","rate":1380.5}',
            status=status,
        )

    return answer


def test_64_first_look_ups_are_one_outside_call(
    slow_fx_source: FakeRates, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a slow machine 64 threads need more than the short wait to take turns.
    monkeypatch.setattr(rates, "SHORT_LEADER_WAIT_TIMEOUT_SECONDS", TIMEOUT_SECONDS)
    slow_fx_source.answer(PATH, answer_after(0.5))
    found = run_concurrently([look_up] * CALLERS)
    assert found == [Rate(Decimal("1380.5"), DAY)] * CALLERS
    assert slow_fx_source.calls == [PATH]
    assert FxRate.objects.count() == 1


def test_without_the_lock_they_would_be_many(
    slow_fx_source: FakeRates, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The race that the lock ends is real.
    monkeypatch.setattr(rates, "lease", lambda name: nullcontext(name))
    slow_fx_source.answer(PATH, answer_after(0.3))
    run_concurrently([look_up] * 6)
    assert len(slow_fx_source.calls) > 1
    assert FxRate.objects.count() == 1


def test_source_that_fails_is_asked_once_by_all(slow_fx_source: FakeRates) -> None:
    slow_fx_source.answer(PATH, answer_after(0.5, status=503))
    assert run_concurrently([look_up] * CALLERS) == [None] * CALLERS
    assert slow_fx_source.calls == [PATH]


def test_other_process_that_asks_is_waited_for(
    slow_fx_source: FakeRates, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The lease lies in the database: any holder counts as asking.
    is_held = threading.Event()

    def hold() -> None:
        with lease(LEASE):
            is_held.set()
            time.sleep(0.4)
            FxRate.objects.create(
                base="USD",
                quote="KRW",
                day=DAY,
                rate=Decimal("1390"),
                rate_date=DAY,
                source="another",
            )

    def ask() -> Any:
        is_held.wait(TIMEOUT_SECONDS)
        return look_up()

    _, found = run_concurrently([hold, ask])
    assert found == Rate(Decimal(1390), DAY)
    assert slow_fx_source.calls == []


def test_wait_for_another_is_bounded(
    slow_fx_source: FakeRates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "LEADER_WAIT_TIMEOUT_SECONDS", 0.3)

    is_held, has_asked = threading.Event(), threading.Event()

    def hold() -> bool:
        with lease(LEASE):
            is_held.set()
            return has_asked.wait(TIMEOUT_SECONDS)

    def ask() -> Any:
        is_held.wait(TIMEOUT_SECONDS)
        found = look_up()
        has_asked.set()
        return found

    # The lease was still held when the answer came.
    assert run_concurrently([hold, ask]) == [True, None]


def test_no_lease_is_left_behind(slow_fx_source: FakeRates) -> None:
    slow_fx_source.answer(PATH, answer_after(0.1))
    run_concurrently([look_up] * 8)
    assert not Lease.objects.exists()


def test_entries_written_at_once_ask_once_and_hold_no_transaction_meanwhile(
    slow_fx_source: FakeRates,
) -> None:
    client = JSONClient(make_member())
    body = {"type": "expense", "currency": "USD", "originalAmount": 10}
    body |= {"date": timezone.localdate(timezone.now()).isoformat()}
    seen = []

    def answer(request: Request) -> Response:
        # Others may be in the middle of a short transaction of their own.
        time.sleep(0.4)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND state = 'idle in transaction'"
                " AND xact_start < clock_timestamp() - interval '0.3 seconds'"
            )
            seen.append(cursor.fetchone()[0])
        connections.close_all()
        return Response(
            f'{{"date":"{body["date"]}","base":"USD","quote":"KRW","rate":1380.5}}'
        )

    slow_fx_source.answer(PATH, answer)
    write = [lambda: client.send("POST", "/api/account/entries", body)] * 4
    responses = run_concurrently(write)
    assert sorted_statuses(responses) == [201] * 4
    assert {response.data["amount"] for response in responses} == {13_805}
    assert seen == [0]
