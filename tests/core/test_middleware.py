"""Around each request: its id, and more tries when a connection broke."""

import time
from typing import Any

import pytest
from django.db import connection, connections
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from core.db.postgresql.base import circuit_breaker
from core.middleware import RetrySafeRequestsMiddleware
from tests.support.clients import JSONClient

WALLETS = "/api/account/wallets"


def break_connections() -> None:
    """End this test's sessions in PostgreSQL, as a restart does."""
    backend = connections.create_connection("default")
    backend.settings_dict = backend.settings_dict | {"OPTIONS": {}}
    try:
        with backend.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
    finally:
        backend.close()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/api/health/live", "/api/auth/session", "/nothing", "/", "/admin/"]
)
def test_every_answer_carries_an_id_of_its_own(path: str) -> None:
    client = JSONClient()
    ids = {client.get(path).headers["X-Request-ID"] for _ in range(3)}
    assert len(ids) == 3
    assert all(len(request_id) >= 16 for request_id in ids)


@pytest.mark.django_db
def test_id_that_the_client_sends_is_not_taken_over() -> None:
    response = JSONClient().get("/api/health/live", HTTP_X_REQUEST_ID="forged\nline")
    assert "forged" not in response.headers["X-Request-ID"]


@pytest.mark.django_db(transaction=True)
def test_read_survives_a_connection_that_broke(client: JSONClient) -> None:
    assert client.send("GET", WALLETS).status_code == 200
    connection.ensure_connection()
    break_connections()
    assert client.send("GET", WALLETS).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_write_is_not_repeated_but_the_next_request_works(client: JSONClient) -> None:
    client.get_json("/api/auth/session")
    connection.ensure_connection()
    break_connections()
    body = {"name": "Cash", "kind": "CASH"}
    first = client.send("POST", WALLETS, body)
    assert first.status_code in {201, 503}
    if first.status_code == 503:
        assert int(first.headers["Retry-After"]) > 0
        assert client.get_json(WALLETS) == []
        assert client.send("POST", WALLETS, body).status_code == 201
    assert [wallet["name"] for wallet in client.get_json(WALLETS)] == ["Cash"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("method", "calls"),
    [("GET", 4), ("HEAD", 4), ("POST", 1), ("PUT", 1), ("PATCH", 1), ("DELETE", 1)],
)
def test_only_reads_are_tried_again(method: str, calls: int) -> None:
    seen: list[str | None] = []

    def fail(request: HttpRequest) -> Any:
        seen.append(request.method)
        response: Any = HttpResponse(status=503)
        response.database_down = True
        return response

    request = RequestFactory().generic(method, "/")
    assert RetrySafeRequestsMiddleware(fail)(request).status_code == 503
    assert len(seen) == calls


@pytest.mark.django_db(transaction=True)
def test_a_read_survives_connections_that_end_one_after_the_other() -> None:
    statuses = iter([503, 503, 200])

    def answer(request: HttpRequest) -> Any:
        response: Any = HttpResponse(status=next(statuses))
        response.database_down = response.status_code == 503
        return response

    request = RequestFactory().get("/")
    assert RetrySafeRequestsMiddleware(answer)(request).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_no_read_is_tried_again_while_the_database_is_known_to_be_away() -> None:
    seen: list[str | None] = []

    def fail(request: HttpRequest) -> Any:
        seen.append(request.method)
        circuit_breaker.record_failure(started_at=time.monotonic())
        response: Any = HttpResponse(status=503)
        response.database_down = True
        return response

    try:
        RetrySafeRequestsMiddleware(fail)(RequestFactory().get("/"))
    finally:
        circuit_breaker.reset()
    assert len(seen) == 1


@pytest.mark.django_db
def test_other_refusals_are_not_tried_again() -> None:
    seen: list[str | None] = []

    def refuse(request: HttpRequest) -> HttpResponse:
        seen.append(request.method)
        return HttpResponse(status=503)

    RetrySafeRequestsMiddleware(refuse)(RequestFactory().get("/"))
    assert len(seen) == 1


@pytest.mark.django_db
def test_answers_carry_the_headers_that_protect_browsers() -> None:
    headers = JSONClient().get("/api/health/live").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
