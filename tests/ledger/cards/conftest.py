"""A member with a plan, on Saturday, 5 December 2026."""

from collections.abc import Iterator

import pytest

from accounts.models import Member
from tests.support.calendar_oracle import make_premium_since, travel_to
from tests.support.clients import JSONClient


@pytest.fixture(autouse=True)
def _today() -> Iterator[None]:
    with travel_to("2026-12-05"):
        yield


@pytest.fixture
def member(db: None) -> Member:
    return make_premium_since()


@pytest.fixture
def client(member: Member) -> JSONClient:
    return JSONClient(member)
