"""A free member's client: entries need no plan."""

import pytest

from tests.support.clients import JSONClient


@pytest.fixture
def client(free_member) -> JSONClient:
    return JSONClient(free_member)
