"""Bodies that come in chunks are read like others."""

import io
import socket
import time
from collections.abc import Iterable
from typing import Any

import pytest

from core import wsgi_request_body
from core.wsgi_request_body import (
    DRAIN_IDLE_TIMEOUT_SECONDS,
    MAX_BODY_BYTES,
    ChunkedRequestMiddleware,
    DrainRequestBodyMiddleware,
)
from tests.support.clients import JSONClient


class Echo:
    """A WSGI application that answers with the body it could read."""

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        self.announced = int(environ.get("CONTENT_LENGTH") or 0)
        body: bytes = environ["wsgi.input"].read(self.announced)
        start_response("200 OK", [])
        return io.BytesIO(body)


class Broken(io.BytesIO):
    """A body that breaks off after its first piece."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell():
            raise OSError("the client went away")
        return super().read(3)


def send(stream: io.BytesIO, encoding: str = "chunked") -> tuple[int, bytes]:
    echo = Echo()
    environ = {"wsgi.input": stream, "HTTP_TRANSFER_ENCODING": encoding}
    answer = ChunkedRequestMiddleware(echo)(environ, lambda *_: None)
    return echo.announced, b"".join(answer)


def test_chunked_body_is_given_on_with_its_length() -> None:
    assert send(io.BytesIO(b'{"amount": 777}')) == (15, b'{"amount": 777}')


def test_other_bodies_are_left_alone() -> None:
    assert send(io.BytesIO(b"body"), encoding="") == (0, b"")


def test_body_that_breaks_off_announces_more_than_it_has() -> None:
    assert send(Broken(b"abcdef")) == (4, b"abc")


def test_body_without_end_is_cut_above_every_limit() -> None:
    announced, _ = send(io.BytesIO(b"x" * (MAX_BODY_BYTES + 10**6)))
    assert MAX_BODY_BYTES < announced < MAX_BODY_BYTES + 10**6


def refuse(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """A WSGI application that answers without a look at the body."""
    start_response("404 Not Found", [])
    return [b"no"]


def answer_to(body: Any, length: int, connection: Any = None) -> list[bytes]:
    environ = {
        "wsgi.input": body,
        "CONTENT_LENGTH": str(length),
        "gunicorn.socket": connection,
    }
    return list(DrainRequestBodyMiddleware(refuse)(environ, lambda *_: None))


def test_body_that_nobody_read_is_read_to_its_end() -> None:
    body = io.BytesIO(b"x" * 10**6)
    assert answer_to(body, 10**6) == [b"no"]
    assert body.read() == b""


@pytest.mark.parametrize("length", ["", "0", "-5", "x", str(MAX_BODY_BYTES + 1)])
def test_body_that_is_none_or_above_every_limit_is_left(length: str) -> None:
    body = io.BytesIO(b"abc")
    environ = {"wsgi.input": body, "CONTENT_LENGTH": length}
    assert DrainRequestBodyMiddleware(refuse)(environ, lambda *_: None) == [b"no"]
    assert body.tell() == 0


def test_rest_that_breaks_off_changes_no_answer() -> None:
    assert answer_to(Broken(b"abcdef"), 6) == [b"no"]


def test_rest_that_does_not_come_is_waited_for_a_moment_only() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.send(b"abc")
        began = time.monotonic()
        assert answer_to(ours.makefile("rb"), 100_000, ours) == [b"no"]
        assert time.monotonic() - began < 2 * DRAIN_IDLE_TIMEOUT_SECONDS
        assert ours.gettimeout() is None


def test_rest_that_takes_long_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = io.BytesIO(b"x" * 10**6)
    monkeypatch.setattr(wsgi_request_body, "DRAIN_TIMEOUT_SECONDS", 0)
    answer_to(body, 10**6)
    assert body.tell() == 0


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["wallets", "entries", "categories", "quick-entries"])
def test_lone_surrogate_in_a_choice_is_a_validation_error(
    free_member: Any, path: str
) -> None:
    body = {"name": "x", "kind": "\ud800", "type": "\ud800", "date": "2026-11-21"}
    response = JSONClient(free_member).send("POST", f"/api/account/{path}", body)
    assert response.status_code == 400
    assert response.data["code"] == "VALIDATION_ERROR"
