"""The health checks: alive, able to serve, or not."""

import pytest

from tests.support.clients import JSONClient
from tests.support.stores import (
    disconnect_database,
    find_closed_port,
    redis_at,
    run_valkey,
)

READY = "/api/health"
LIVE = "/api/health/live"
NOWHERE = "redis://127.0.0.1:{}/0"


@pytest.mark.django_db
def test_service_with_both_stores_is_ok() -> None:
    with run_valkey():
        response = JSONClient().send("GET", READY)
    assert response.status_code == 200
    assert response.data == {"status": "ok", "database": "up", "fastStore": "up"}


@pytest.mark.django_db
def test_service_without_the_fast_store_is_degraded_but_serves() -> None:
    with redis_at(NOWHERE.format(find_closed_port())):
        response = JSONClient().send("GET", READY)
    assert response.status_code == 200
    assert response.data["status"] == "degraded"
    assert (response.data["database"], response.data["fastStore"]) == ("up", "down")


@pytest.mark.django_db
def test_fast_store_that_hangs_is_down() -> None:
    with run_valkey() as server:
        server.hang()
        response = JSONClient().send("GET", READY)
        server.heal()
    assert (response.status_code, response.data["fastStore"]) == (200, "down")


@pytest.mark.django_db
def test_service_without_the_database_is_unavailable() -> None:
    with run_valkey(), disconnect_database():
        response = JSONClient().send("GET", READY)
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) > 0
    assert response.data["status"] == "unavailable"
    assert (response.data["database"], response.data["fastStore"]) == ("down", "up")


@pytest.mark.django_db
def test_service_is_alive_whatever_else_is_down() -> None:
    with redis_at(NOWHERE.format(find_closed_port())), disconnect_database():
        response = JSONClient().send("GET", LIVE)
    assert (response.status_code, response.data) == (200, {"status": "ok"})


@pytest.mark.django_db
@pytest.mark.parametrize("path", [READY, LIVE])
def test_health_is_public_and_tells_no_secrets(path: str) -> None:
    client = JSONClient()
    client.use_token("nonsense")
    response = client.send("GET", path)
    assert response.status_code == 200
    assert set(response.data) <= {"status", "database", "fastStore"}
