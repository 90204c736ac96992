"""Valkey fixtures for tests that make it fail."""

from collections.abc import Iterator

import pytest
from django.conf import settings

from tests.support.stores import ValkeyServer, find_closed_port, redis_at, run_valkey


@pytest.fixture(autouse=True)
def slow_machine_timeouts() -> Iterator[None]:
    """Raise the timeouts of the shared Valkey, so that a busy machine fails no test."""
    with redis_at(settings.REDIS_URL, seconds=5):
        yield


@pytest.fixture
def own_valkey() -> Iterator[ValkeyServer]:
    """Run a Valkey of its own, which the test may stop, hang or fill."""
    with run_valkey() as server:
        yield server


@pytest.fixture
def no_valkey() -> Iterator[None]:
    """Point the service to a closed port instead of Valkey."""
    with redis_at(f"redis://127.0.0.1:{find_closed_port()}/0"):
        yield
