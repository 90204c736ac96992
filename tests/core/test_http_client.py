"""Outside services that hang: few threads wait, the others are answered at once."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from accounts.login.identity_provider import identity_provider
from billing.stores.google_play import google_accounts, google_play
from core import http_client
from core.errors import ProviderBusyError, ProviderUnavailableError
from core.http_client import MAX_CALLS, OutsideService
from ledger.currencies.provider import frankfurter, open_er_api
from ledger.receipts.provider import google_vision

SERVICES = [
    *(identity_provider, google_play, google_accounts, google_vision),
    *(frankfurter, open_er_api),
]
CALLERS = 8


class HangingServer:
    """A server that answers no request until `release`."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("/")
        self.calls = 0
        self._over = threading.Event()
        server.expect_request("/").respond_with_handler(self._hang)

    def _hang(self, request: Request) -> Response:
        self.calls += 1
        self._over.wait(20)
        return Response("{}", 500)

    def release(self) -> None:
        self._over.set()


@pytest.fixture
def hanging() -> Iterator[HangingServer]:
    with HTTPServer(threaded=True) as server:
        fake = HangingServer(server)
        yield fake
        fake.release()


def call(url: str, service: OutsideService, seconds: float = 10.0) -> str:
    try:
        http_client.get(url, {}, service=service, seconds=seconds)
    except ProviderUnavailableError as error:
        return type(error).__name__
    return "answered"


@contextmanager
def all_slots_of(service: OutsideService) -> Iterator[None]:
    with ExitStack() as stack:
        for _ in range(MAX_CALLS):
            assert stack.enter_context(service.bulkhead.slot())
        yield


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_of_many_callers_of_a_hanging_service_two_wait(
    hanging: HangingServer, service: OutsideService
) -> None:
    with ThreadPoolExecutor(CALLERS) as pool:
        calls = [pool.submit(call, hanging.url, service) for _ in range(CALLERS)]
        # All others have their answer while two are still waiting.
        answers = as_completed(calls)
        others = [next(answers).result() for _ in range(CALLERS - MAX_CALLS)]
        hanging.release()
    assert others == ["ProviderBusyError"] * len(others)
    waited = sorted(each.result() for each in calls)[-MAX_CALLS:]
    assert waited == ["ProviderUnavailableError"] * MAX_CALLS
    assert hanging.calls == MAX_CALLS


def test_service_that_timed_out_is_not_called_for_a_while(
    hanging: HangingServer,
) -> None:
    service = OutsideService("a service")
    assert call(hanging.url, service, seconds=0.8) == "ProviderUnavailableError"
    for _ in range(5):
        assert call(hanging.url, service) == "ProviderUnavailableError"
    assert hanging.calls == 1
    assert call(hanging.url, OutsideService("another"), 0.1) != "answered"
    assert hanging.calls == 2


def test_slots_are_free_again_after_answers_and_failures(
    httpserver: HTTPServer,
) -> None:
    service = OutsideService("a service")
    httpserver.expect_request("/good").respond_with_data("{}")
    httpserver.expect_request("/bad").respond_with_data("{}", status=500)
    for path in ["/good", "/bad"] * MAX_CALLS + ["/good"]:
        call(httpserver.url_for(path), service)
    with all_slots_of(service):
        assert call(httpserver.url_for("/good"), service) == "ProviderBusyError"
    assert call(httpserver.url_for("/good"), service) == "answered"


def test_error_of_a_busy_service_is_503_with_retry_after() -> None:
    error: Any = ProviderBusyError()
    assert (error.status, error.code) == (503, "SERVICE_UNAVAILABLE")
    assert int(error.headers["Retry-After"]) > 0
