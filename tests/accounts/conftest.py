"""Stores of one's own for the tests that make them fail."""

from collections.abc import Iterator

import pytest
from django.conf import settings

from tests.support.stores import ValkeyServer, find_closed_port, redis_at, run_valkey


@pytest.fixture(autouse=True)
def patient_fast_store() -> Iterator[None]:
    """The shared fast store with more patience, so that a busy machine fails no test."""
    with redis_at(settings.REDIS_URL, seconds=5):
        yield


@pytest.fixture
def own_valkey() -> Iterator[ValkeyServer]:
    """A real fast store that this test alone uses and may ill-treat."""
    with run_valkey() as server:
        yield server


@pytest.fixture
def no_fast_store() -> Iterator[None]:
    """Nobody answers where the fast store should be."""
    with redis_at(f"redis://127.0.0.1:{find_closed_port()}/0"):
        yield
