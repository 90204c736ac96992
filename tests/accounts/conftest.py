"""Stores of one's own for the tests that make them fail."""

from collections.abc import Iterator

import pytest

from tests.stores import OwnValkey, find_closed_port, run_valkey, use_fast_store


@pytest.fixture
def own_valkey() -> Iterator[OwnValkey]:
    """A real fast store that this test alone uses and may ill-treat."""
    with run_valkey() as server:
        yield server


@pytest.fixture
def no_fast_store() -> Iterator[None]:
    """Nobody answers where the fast store should be."""
    with use_fast_store(find_closed_port()):
        yield
