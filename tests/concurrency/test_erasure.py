"""Self-deletion racing what the member still does: nothing stays, nothing breaks."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from accounts.models import Member
from tests.clients import JSONClient
from tests.concurrency.racing import run_at_once
from tests.factories import count_rows_of, make_category, make_member, make_wallet

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 12
HANDLER = JSONClient().handler
Action = Callable[[JSONClient, Member], Any]


def enter(client: JSONClient, member: Member) -> Any:
    body = {
        "date": "2026-11-20",
        "type": "expense",
        "amount": 1000,
        "category": "Food",
        "tags": ["lunch"],
    }
    return client.send("POST", "/api/account/entries", body)


def open_wallet(client: JSONClient, member: Member) -> Any:
    body = {"name": "Cash", "kind": "CASH"}
    return client.send("POST", "/api/account/wallets", body)


def rename(client: JSONClient, member: Member) -> Any:
    return client.send("PUT", "/api/auth/profile", {"displayName": "New name"})


def log_in(client: JSONClient, member: Member) -> Any:
    body = {"loginId": member.login_id, "password": "correct-horse-9"}
    return client.send("POST", "/api/auth/login", body)


def leave(client: JSONClient, member: Member) -> Any:
    return client.send("DELETE", "/api/auth/me")


@pytest.mark.parametrize("action", [enter, open_wallet, rename, log_in, leave])
def test_nothing_stays_and_nothing_breaks(action: Action) -> None:
    for _ in range(ROUNDS):
        member = make_member()
        make_wallet(member)
        make_category(member)
        clients = [JSONClient(member) for _ in range(3)]
        for client in clients:
            client.handler = HANDLER
            assert client.send("GET", "/api/auth/session").status_code == 200
        first, second, leaving = clients
        responses = run_at_once(
            [
                partial(action, first, member),
                partial(action, second, member),
                partial(leave, leaving, member),
            ]
        )
        statuses = [response.status_code for response in responses]
        assert max(statuses) < 500, [response.content for response in responses]
        assert 204 in statuses
        assert not any(count_rows_of(member).values())
        assert not Member.objects.filter(pk=member.pk).exists()
