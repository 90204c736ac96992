"""A store, and members who buy."""

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from accounts.models import Member
from billing.pubsub_auth import clear_token_cache
from tests.support.clients import JSONClient
from tests.support.fake_google import Vouch, open_google
from tests.support.fake_store import FakePlay, open_play


@pytest.fixture
def play(settings: Any) -> Iterator[FakePlay]:
    """Google Play as the store."""
    with open_play(settings) as store:
        yield store


@pytest.fixture
def vouch(settings: Any, httpserver: HTTPServer) -> Vouch:
    """An audience for pushes is set; `vouch(**claims)` makes a token that is right."""
    return open_google(settings, httpserver)


@pytest.fixture
def test_mode(settings: Any) -> None:
    """Tokens that begin with `test-` are approved."""
    settings.BILLING_TEST_MODE = True


@pytest.fixture(autouse=True)
def no_known_pushers() -> None:
    """No push token is known from an earlier test."""
    clear_token_cache()


@pytest.fixture
def buyer(free_member: Member) -> JSONClient:
    """A FREE member who is about to buy."""
    return JSONClient(free_member)


def buy(client: JSONClient, token: Any, product: Any = "premium_monthly") -> Any:
    """The answer to a verification."""
    body = {"productId": product, "purchaseToken": token}
    return client.send("POST", "/api/billing/store/verify", body)
