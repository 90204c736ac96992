"""Fixtures of the billing tests: a store, and a member who buys."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from accounts.models import Member
from billing.pubsub_auth import clear_token_cache
from tests.support.clients import JSONClient
from tests.support.fake_google import MakeIdToken, fake_google_at
from tests.support.fake_store import FakePlay, fake_play_at
from tests.support.purchases import TOKEN, buy


@pytest.fixture(autouse=True)
def database(db: None) -> None:
    pass


@pytest.fixture
def play(settings: Any) -> Iterator[FakePlay]:
    """Return Google Play as the store."""
    with fake_play_at(settings) as store:
        yield store


@pytest.fixture
def vouch(settings: Any, httpserver: HTTPServer) -> MakeIdToken:
    """Set an audience and return a function that makes push tokens of claims."""
    return fake_google_at(settings, httpserver)


@pytest.fixture
def test_mode(settings: Any) -> None:
    """Accept tokens that begin with `test-`."""
    settings.BILLING_TEST_MODE = True


@pytest.fixture(autouse=True)
def clear_push_tokens() -> None:
    """Clear the verified push tokens of earlier tests."""
    clear_token_cache()


@pytest.fixture
def buyer(free_member: Member) -> JSONClient:
    """Return a client of a FREE member."""
    return JSONClient(free_member)


@pytest.fixture
def sold(buyer: JSONClient, play: FakePlay) -> datetime:
    """Let the buyer verify a purchase of `TOKEN`; return its expiry."""
    expiry = play.sell(TOKEN)
    buy(buyer, TOKEN)
    return expiry
