"""Ends of sessions: a logout, the member on another device, too many of them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import AuthSession, Member
from accounts.sessions import store as sessions
from accounts.sessions.store import MAX_SESSIONS, create_session, hash_session_key
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.races import run_concurrently
from tests.support.sessions import COOKIE, by_cookie, log_in, status_of, warm_up

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("way", [by_cookie, JSONClient, warm_up])
def test_logout_ends_the_session_in_both_stores(
    free_member: Member, own_valkey: Any, way: Callable[[Member], JSONClient]
) -> None:
    laptop, client = warm_up(free_member), way(free_member)
    key = client.token or client.cookies[COOKIE].value
    assert status_of(client) == 200
    response = client.send("POST", "/api/auth/logout")
    assert (response.status_code, response.content) == (204, b"")
    assert response.cookies[COOKIE].value == ""
    assert response.cookies[COOKIE]["max-age"] == 0
    # A tombstone.
    assert own_valkey.run("GET", f"session:{hash_session_key(key)}").endswith(b":")
    browser = JSONClient()
    browser.cookies[COOKIE] = key
    client.use_token(key)
    assert [status_of(each) for each in (browser, client, laptop)] == [401, 401, 200]
    assert client.send("POST", "/api/auth/logout").status_code == 401
    assert AuthSession.objects.count() == 1


END_OTHERS = "/api/auth/sessions/end-others"


@pytest.mark.parametrize("way", [by_cookie, warm_up])
@pytest.mark.parametrize("provider", ["LOCAL", "IDP"])
def test_member_ends_all_other_sessions_also_without_a_password(
    way: Callable[[Member], JSONClient], provider: str
) -> None:
    member, other = make_member(provider=provider), make_member()
    if provider == "IDP":
        member.set_unusable_password()
        member.save()
    thieves = [warm_up(member), warm_up(member)]
    client, stranger = way(member), warm_up(other)
    response = client.send("POST", END_OTHERS)
    assert (response.status_code, response.data) == (200, {"ended": 2})
    assert [status_of(thief) for thief in thieves] == [401, 401]
    assert (status_of(client), status_of(stranger)) == (200, 200)
    assert client.send("POST", END_OTHERS).data == {"ended": 0}


def test_login_beyond_the_limit_ends_the_oldest_session(
    free_member: Member, other_member: Member
) -> None:
    clients = [warm_up(free_member)]
    others = warm_up(other_member)
    start = AuthSession.objects.get(member=free_member).created_at
    # As old as their numbers, the last one the newest.
    rows = [
        AuthSession(
            key_hash=f"{number}".rjust(64, "0"),
            member=free_member,
            created_at=start + timedelta(seconds=number),
            last_seen_at=start,
            expires_at=start + timedelta(days=1),
        )
        for number in range(1, MAX_SESSIONS)
    ]
    AuthSession.objects.bulk_create(rows)
    with time_machine.travel(start + timedelta(hours=1), tick=False):
        expired = {"last_seen_at": start, "expires_at": start + timedelta(minutes=1)}
        AuthSession.objects.create(
            key_hash="f" * 64, member=free_member, created_at=start, **expired
        )
        # An expired row does not count.
        assert status_of(clients[0]) == 200
        clients.append(JSONClient(free_member))
        assert [status_of(client) for client in clients] == [401, 200]
        assert status_of(others) == 200
        live = AuthSession.objects.filter(member=free_member)
        live = live.filter(expires_at__gt=timezone.now())
        assert live.count() == MAX_SESSIONS
        assert log_in(JSONClient(), free_member).status_code == 200
    assert not AuthSession.objects.filter(key_hash=rows[0].key_hash).exists()
    assert AuthSession.objects.filter(key_hash=rows[1].key_hash).exists()


def test_logins_at_once_leave_as_many_sessions_as_allowed(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MAX_SESSIONS", 3)
    run_concurrently([lambda: create_session(free_member)] * 8)
    assert AuthSession.objects.filter(member=free_member).count() == 3
