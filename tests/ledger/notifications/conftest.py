"""A premium member's client, and a phone that sends texts at noon of a fixed day."""

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from tests.support.alert_texts import NOTIFICATION
from tests.support.clients import JSONClient


@pytest.fixture
def now() -> Iterator[Any]:
    """Stop the clock at noon in Seoul on Saturday, 21 November 2026."""
    with time_machine.travel("2026-11-21T12:00:00+09:00", tick=False) as traveller:
        yield traveller


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


@pytest.fixture
def send(client: JSONClient) -> Any:
    """Return `send(text)`, which sends a text and returns the body of the answer."""

    def post(text: str, status: Any = None, **fields: Any) -> Any:
        response = client.send("POST", NOTIFICATION, {"text": text} | fields)
        expected = 201 if response.data.get("action") == "CREATED" else 200
        assert response.status_code == (status or expected), response.content
        return response.data

    return post
