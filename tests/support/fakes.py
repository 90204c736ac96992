"""Fixtures that stand in for stores and outside services: loopback servers, a folder."""

from collections.abc import Callable, Iterator
from pathlib import Path
from socketserver import BaseServer
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response
from werkzeug.serving import BaseWSGIServer

from core import http_client
from ledger.currencies import rates
from tests.support.object_store import FakeObjectStore, run_object_store
from tests.support.stores import ValkeyServer, run_valkey

POLL_INTERVAL_SECONDS = 0.02
Handler = Callable[[Request], Response]


@pytest.fixture
def own_valkey() -> Iterator[ValkeyServer]:
    """Run a Valkey of its own, which the test may stop, hang or fill."""
    with run_valkey() as server:
        yield server


class FakeRates:
    """Frankfurter and open.er-api at one address; `calls` are the paths asked for."""

    def __init__(self, server: HTTPServer) -> None:
        self._server = server

    @property
    def log(self) -> list[tuple[Request, Response]]:
        return self._server.log

    @property
    def calls(self) -> list[str]:
        return [request.path for request, _ in self.log]

    def quote(self, base: str, quote: str, rate: str, day: str) -> None:
        """Let Frankfurter have this rate, of this day, for every day from now on."""
        body = f'{{"date":"{day}","base":"{base}","quote":"{quote}","rate":{rate}}}'
        self.answer(f"/v2/rate/{base}/{quote}", body)

    def answer(self, path: str, body: str | Handler, status: int = 200) -> None:
        matcher = self._server.expect_request(path)
        if isinstance(body, str):
            matcher.respond_with_data(
                body, status=status, content_type="application/json"
            )
        else:
            matcher.respond_with_handler(body)

    def clear(self) -> None:
        """Remove all answers that were set before."""
        self._server.clear()

    def forget(self) -> None:
        """Remove all answers, and let sources be asked at once again."""
        self.clear()
        reset_breakers()


@pytest.fixture(scope="session", autouse=True)
def prompt_servers() -> Iterator[None]:
    """Let servers of tests stop at once; by default they look for that twice a second."""
    with pytest.MonkeyPatch.context() as patch:
        for server in (BaseServer, BaseWSGIServer):
            patch.setattr(
                server.serve_forever, "__defaults__", (POLL_INTERVAL_SECONDS,)
            )
        yield


def reset_breakers() -> None:
    rates.circuit_breaker.reset()
    http_client.circuit_breaker.reset()


@pytest.fixture
def mail_folder(settings: Any, tmp_path: Path) -> Path:
    """Return the folder that mails are written to in place of a server."""
    settings.MAIL_SERVER = {"folder": tmp_path}
    return tmp_path


@pytest.fixture
def fx_source(settings: Any, httpserver: HTTPServer) -> Iterator[FakeRates]:
    """Yield the sources of exchange rates, without rates yet."""
    yield from fake_rates_at(settings, httpserver)


@pytest.fixture
def slow_fx_source(settings: Any) -> Iterator[FakeRates]:
    """Yield the same for answers that take long, on a server of this test alone."""
    with HTTPServer(threaded=True) as server:
        yield from fake_rates_at(settings, server)


def fake_rates_at(settings: Any, server: HTTPServer) -> Iterator[FakeRates]:
    settings.FX_BASE_URL = server.url_for("").rstrip("/")
    reset_breakers()
    yield FakeRates(server)
    reset_breakers()


@pytest.fixture(scope="session")
def object_store_port() -> Iterator[int]:
    with run_object_store() as port:
        yield port


@pytest.fixture
def image_store(object_store_port: int, settings: Any) -> Iterator[FakeObjectStore]:
    """Yield an empty S3-compatible store, to which new images go."""
    store = FakeObjectStore(object_store_port, settings)
    settings.IMAGE_STORE = "S3"
    yield store
    store.start()
    store.empty()
