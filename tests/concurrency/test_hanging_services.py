"""Hanging outside services leave threads of the web server to everybody else."""

import http.client
import json
import socket
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from core.bulkhead import Bulkhead
from core.errors import ProviderUnavailableError
from core.http_client import MAX_CALLS
from devstack.stores.data_dir import LOOPBACK
from ledger.currencies import rates
from ledger.currencies.provider import frankfurter
from ledger.investments import price_providers
from ledger.models import Entry, FxRate
from ledger.receipts.provider import google_vision
from tests.support.alert_texts import FOREIGN, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_stock, make_trade
from tests.support.fault_injection import run_service
from tests.support.images import draw
from tests.support.problems import assert_problem
from tests.support.races import run_concurrently

CALLERS = 8
# Each holds a connection of the pool of eight, as threads of other tests may.
WAITERS = 5


def test_hanging_identity_provider_does_not_keep_others_waiting() -> None:
    # Eight anonymous callers of one address, more than one process has threads.
    with (
        tempfile.TemporaryDirectory(prefix="household-ledger-hang-") as name,
        socket.create_server((LOOPBACK, 0)) as provider,
        run_service(
            Path(name),
            WEB_CONCURRENCY="1",
            TRUSTED_PROXY_COUNT="1",
            IDP_CLIENT_ID="client-id",
            IDP_TOKENINFO_URL=f"http://{LOOPBACK}:{provider.getsockname()[1]}/",
        ) as service,
        ThreadPoolExecutor(CALLERS) as pool,
    ):
        body = {"idToken": "a.b.c"}
        calls = [
            pool.submit(service.ask, "/api/auth/idp", body=body, address="198.51.100.1")
            for _ in range(CALLERS)
        ]
        # Two callers wait for the provider, the others for them.
        hanging = [provider.accept()[0] for _ in range(MAX_CALLS)]
        for path in ("/api/auth/signup-enabled", "/api/health/live", "/"):
            assert service.ask(path, address="192.0.2.1")[0] == http.client.OK
        assert not any(call.done() for call in calls)
        answers = [call.result() for call in calls]
        for connection in hanging:
            connection.close()
    statuses = Counter(status for status, _, _ in answers)
    assert statuses[502] >= MAX_CALLS
    # The circuit is open by now, or they have waited too long.
    assert statuses.keys() <= {502, 503, 429}
    for status, headers, content in answers:
        if status != 502:
            assert int(headers["Retry-After"]) > 0
            assert json.loads(content)["code"] in {
                "SERVICE_UNAVAILABLE",
                "RATE_LIMITED",
            }


@contextmanager
def full(bulkhead: Bulkhead) -> Iterator[None]:
    """Hold all slots, as two other threads do that wait for the service."""
    with ExitStack() as stack:
        while stack.enter_context(bulkhead.slot()):
            pass
        yield


@pytest.mark.django_db(transaction=True)
def test_third_receipt_is_503(settings: Any) -> None:
    settings.OCR_API_KEY = "key"
    client = JSONClient(make_member(plan="PREMIUM"))
    image = SimpleUploadedFile("receipt.png", draw("png"))
    with full(google_vision.bulkhead):
        response: Any = client.post("/api/account/ocr/receipt", {"image": image})
    response.data = json.loads(response.content)
    assert_busy(response)


@pytest.mark.django_db(transaction=True)
def test_third_look_up_of_a_rate_reads_the_last_one_and_writes_nothing() -> None:
    client, today = JSONClient(make_member()), timezone.localdate()
    body = {"type": "expense", "currency": "USD", "originalAmount": 10}
    with full(frankfurter.bulkhead):
        assert_busy(client.send("GET", "/api/fx/rate?from=USD&to=KRW"))
        yesterday = today - timedelta(days=1)
        FxRate.objects.create(
            base="USD",
            quote="KRW",
            day=yesterday,
            rate=1390,
            rate_date=yesterday,
            source="frankfurter",
        )
        found = client.get_json("/api/fx/rate?from=USD&to=KRW")
        assert (found["rate"], found["date"]) == (1390, yesterday.isoformat())
        body["date"] = today.isoformat()
        assert_busy(client.send("POST", "/api/account/entries", body))
        assert not Entry.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_foreign_payment_is_kept_while_look_ups_of_rates_are_busy() -> None:
    # The phone may not send its notification again.
    client = JSONClient(make_member(plan="PREMIUM"))
    with full(frankfurter.bulkhead):
        response: Any = client.send("POST", NOTIFICATION, {"text": FOREIGN})
    assert response.status_code == 201, response.data
    entry = Entry.objects.get()
    assert (entry.pending, entry.amount, entry.currency) == (True, 0, "USD")


@pytest.mark.django_db(transaction=True)
def test_those_who_wait_for_anothers_look_up_of_a_rate_wait_briefly_or_are_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    together = threading.Barrier(WAITERS)

    def wait(name: str, *, timeout_seconds: float) -> None:
        waits.append(timeout_seconds)
        together.wait(20)

    def look_up() -> str:
        try:
            rates.get_rate("USD", "KRW", timezone.localdate())
        except ProviderUnavailableError as error:
            return type(error).__name__
        return ""

    # Another process has the lease and never gets the rate.
    monkeypatch.setattr(rates, "lease", lambda name: nullcontext(None))
    monkeypatch.setattr(rates, "wait_until_released", wait)
    outcomes = run_concurrently([look_up] * WAITERS)
    assert sorted(waits) == [1.0] * (WAITERS - 2) + [7.0] * 2
    assert sorted(outcomes) == (
        ["ProviderBusyError"] * (WAITERS - 2) + ["ProviderUnavailableError"] * 2
    )


@pytest.mark.django_db(transaction=True)
def test_third_look_up_of_prices_keeps_the_last_ones() -> None:
    member = make_member(plan="PREMIUM")
    make_trade(member, stock=make_stock(member, code="005930"))
    with full(price_providers.lookups):
        portfolio = JSONClient(member).get_json("/api/account/portfolio")
    assert [row["priceStale"] for row in portfolio["holdings"]] == [True]


def assert_busy(response: Any) -> None:
    assert_problem(response, 503, "SERVICE_UNAVAILABLE")
    assert int(response.headers["Retry-After"]) > 0
