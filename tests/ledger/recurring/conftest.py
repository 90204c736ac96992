"""Who keeps the rules: a member whose plan has run for years."""

import pytest

from accounts.models import Member
from tests.support.calendar_oracle import make_paying, on
from tests.support.clients import JSONClient


@pytest.fixture(autouse=True)
def _today():
    """21 November 2026, a Saturday."""
    with on("2026-11-21"):
        yield


@pytest.fixture
def member(db) -> Member:
    return make_paying()


@pytest.fixture
def client(member) -> JSONClient:
    return JSONClient(member)
