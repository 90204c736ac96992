"""A household of a premium member, at noon of a fixed day."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.households import Household
from tests.support.refusals import Refusals

NOON = datetime(2026, 11, 21, 3, tzinfo=UTC)


@pytest.fixture(autouse=True)
def now() -> Iterator[Any]:
    """Stop the clock on Saturday, 21 November 2026, 12:00 in Seoul; `shift` moves it."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


@pytest.fixture
def household(client: JSONClient) -> Household:
    return Household(client)


@pytest.fixture
def refusals(household: Household, premium_member: Member) -> Refusals:
    return Refusals(household, premium_member)
