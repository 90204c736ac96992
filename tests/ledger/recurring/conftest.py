"""The owner of the rules: a member whose plan has run for years."""

from collections.abc import Iterator

import pytest

from accounts.models import Member
from tests.support.calendar_oracle import make_premium_since, travel_to
from tests.support.clients import JSONClient


@pytest.fixture(autouse=True)
def _today() -> Iterator[None]:
    """Stop the clock on Saturday, 21 November 2026."""
    with travel_to("2026-11-21"):
        yield


@pytest.fixture
def member(db: None) -> Member:
    return make_premium_since()


@pytest.fixture
def client(member: Member) -> JSONClient:
    return JSONClient(member)
