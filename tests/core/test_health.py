"""The health checks: alive, able to serve, or not."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from core import object_store
from devstack.stores.data_dir import LOOPBACK
from tests.support.clients import JSONClient
from tests.support.object_store import FakeObjectStore, address_store
from tests.support.stores import (
    disconnect_database,
    find_closed_port,
    redis_at,
    run_valkey,
)

pytestmark = pytest.mark.django_db
READY = "/api/health"
LIVE = "/api/health/live"


@contextmanager
def stores(database: str, fast_store: str) -> Iterator[None]:
    """Run the block with stores that are "up", "down" or "hanging"."""
    with ExitStack() as stack:
        if fast_store == "down":
            stack.enter_context(redis_at(f"redis://127.0.0.1:{find_closed_port()}/0"))
        else:
            server = stack.enter_context(run_valkey())
        if fast_store == "hanging":
            server.hang()
            stack.callback(server.heal)
        if database == "down":
            stack.enter_context(disconnect_database())
        yield


@pytest.mark.parametrize(
    ("database", "fast_store", "status", "overall"),
    [
        ("up", "up", 200, "ok"),
        ("up", "down", 200, "degraded"),
        ("up", "hanging", 200, "degraded"),
        ("down", "up", 503, "unavailable"),
    ],
)
def test_readiness_follows_the_stores(
    database: str, fast_store: str, status: int, overall: str
) -> None:
    with stores(database, fast_store):
        response = JSONClient().send("GET", READY)
    expected = {"status": overall, "database": database}
    expected["fastStore"] = "up" if fast_store == "up" else "down"
    assert (response.status_code, response.data) == (status, expected)
    assert ("Retry-After" in response.headers) == (status == 503)


def test_service_is_alive_whatever_else_is_down() -> None:
    with stores("down", "down"):
        response = JSONClient().send("GET", LIVE)
    assert (response.status_code, response.data) == (200, {"status": "ok"})


@pytest.mark.parametrize("path", [READY, LIVE])
def test_health_is_public_and_tells_no_secrets(path: str) -> None:
    client = JSONClient()
    client.use_token("nonsense")
    response = client.send("GET", path)
    assert response.status_code == 200
    assert set(response.data) <= {"status", "database", "fastStore"}


@pytest.mark.parametrize("is_up", [True, False])
def test_store_of_images_is_named_where_it_is_set_up(
    image_store: FakeObjectStore, is_up: bool
) -> None:
    if not is_up:
        image_store.stop()
    with stores("up", "up"):
        response = JSONClient().send("GET", READY)
    assert response.status_code == 200
    assert response.data["imageStore"] == ("up" if is_up else "down")
    assert response.data["status"] == ("ok" if is_up else "degraded")


def test_store_of_images_that_hangs_is_down(
    image_store: FakeObjectStore, settings: Any
) -> None:
    with socket.create_server((LOOPBACK, 0)) as hanging:
        settings.OBJECT_STORE = address_store(hanging.getsockname()[1])
        assert not object_store.is_reachable()
