"""Sessions while Valkey is down, hangs, is full or comes back."""

from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
import time_machine
from django.utils import timezone

from accounts.models import AuthSession, Member
from accounts.sessions.store import (
    create_session,
    hash_session_key,
    invalidate_member_session_cache,
    revoke_sessions,
)
from core import circuit_breaker, redis_client
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD
from tests.support.problems import assert_problem
from tests.support.sessions import ME, status_of
from tests.support.stores import ValkeyServer, disconnect_database
from tests.support.waiting import ShiftedClock

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def breaker_clock(monkeypatch: pytest.MonkeyPatch) -> ShiftedClock:
    """Return the clock of the circuit breakers, which the test shifts."""
    clock = ShiftedClock()
    monkeypatch.setattr(circuit_breaker, "time", clock)
    return clock


def warm_up(member: Member, number: int = 1) -> list[JSONClient]:
    """Return clients whose sessions are cached."""
    clients = [JSONClient(member) for _ in range(number)]
    assert [status_of(client) for client in clients] == [200] * number
    return clients


def forget_failures() -> None:
    """Be like another process, which has not seen Valkey fail."""
    redis_client.circuit_breaker.reset()


def suspend(member: Member) -> None:
    Member.objects.filter(pk=member.pk).update(status="SUSPENDED")
    invalidate_member_session_cache(member.pk)


@pytest.mark.usefixtures("no_valkey")
def test_sign_up_login_logout_and_revocation_work_without_valkey(
    anonymous: JSONClient, free_member: Member
) -> None:
    body = {"loginId": "minji", "password": PASSWORD}
    profile = {"displayName": "Minji", "email": "minji@example.com"}
    assert anonymous.send("POST", "/api/auth/signup", body | profile).status_code == 201
    response = anonymous.send("POST", "/api/auth/login", body)
    assert response.status_code == 200
    client = JSONClient()
    client.use_token(response.data["token"])
    assert [status_of(client) for _ in range(5)] == [200] * 5
    other = JSONClient(free_member)
    assert status_of(other) == 200
    suspend(free_member)
    assert status_of(other) == 401
    assert client.send("POST", "/api/auth/logout").status_code == 204
    assert status_of(client) == 401


def test_no_member_is_logged_out_when_valkey_dies(
    free_member: Member, own_valkey: ValkeyServer
) -> None:
    clients = warm_up(free_member, 5)
    own_valkey.kill()
    assert [status_of(client) for client in clients * 3] == [200] * 15


def test_valkey_that_comes_back_empty_is_filled_again(
    free_member: Member, own_valkey: ValkeyServer, django_assert_num_queries: Any
) -> None:
    (client,) = warm_up(free_member)
    own_valkey.kill()
    assert status_of(client) == 200
    own_valkey.start()
    with django_assert_num_queries(1):
        assert status_of(client) == 200
    with django_assert_num_queries(0):
        assert status_of(client) == 200
    assert hash_session_key(client.token).encode() in own_valkey.dump()


def test_breaker_spares_requests_the_wait_and_tries_again_after_a_second(
    free_member: Member,
    own_valkey: ValkeyServer,
    breaker_clock: ShiftedClock,
    django_assert_num_queries: Any,
) -> None:
    (client,) = warm_up(free_member)
    own_valkey.kill()
    for _ in range(5):
        assert status_of(client) == 200
    own_valkey.start()
    breaker_clock.seconds += redis_client.RESET_TIMEOUT_SECONDS
    assert status_of(client) == 200
    with django_assert_num_queries(0):
        assert status_of(client) == 200


def test_hanging_valkey_delays_few_requests_a_little(
    free_member: Member, own_valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients = warm_up(free_member, 5)
    get_client = Mock(return_value=redis_client.get_client())
    monkeypatch.setattr(redis_client, "get_client", get_client)
    own_valkey.hang()
    assert [status_of(client) for client in clients * 6] == [200] * 30
    own_valkey.heal()
    assert 0 < get_client.call_count < 12


def test_login_and_logout_work_while_valkey_hangs(
    free_member: Member, own_valkey: ValkeyServer
) -> None:
    (client,) = warm_up(free_member)
    own_valkey.hang()
    assert client.send("POST", "/api/auth/logout").status_code == 204
    assert status_of(client) == 401
    body = {"loginId": free_member.login_id, "password": PASSWORD}
    assert JSONClient().send("POST", "/api/auth/login", body).status_code == 200
    own_valkey.heal()
    assert status_of(client) == 401


@pytest.mark.parametrize("revoke", [revoke_sessions, suspend])
def test_revocation_during_a_hang_is_not_undone_when_the_store_heals(
    free_member: Member,
    own_valkey: ValkeyServer,
    breaker_clock: ShiftedClock,
    revoke: Any,
) -> None:
    clients = warm_up(free_member, 10)
    own_valkey.hang()
    revoke(free_member)
    own_valkey.heal()
    breaker_clock.seconds += redis_client.RESET_TIMEOUT_SECONDS
    assert {status_of(client) for client in clients * 2} == {401}


@pytest.mark.parametrize("revoke", [revoke_sessions, suspend])
def test_process_that_saw_no_failure_uses_the_cache_for_a_minute_at_most(
    free_member: Member, own_valkey: ValkeyServer, revoke: Any
) -> None:
    with time_machine.travel(timezone.now(), tick=True) as clock:
        (client,) = warm_up(free_member)
        own_valkey.hang()
        revoke(free_member)
        own_valkey.heal()
        forget_failures()
        clock.shift(timedelta(seconds=60))
        assert status_of(client) == 401
        assert status_of(client) == 401


@pytest.mark.parametrize("revoke", [revoke_sessions, suspend])
def test_full_valkey_fails_no_request_and_delays_no_revocation(
    free_member: Member, own_valkey: ValkeyServer, revoke: Any
) -> None:
    clients = warm_up(free_member, 3)
    own_valkey.fill()
    clients += [JSONClient(free_member) for _ in range(3)]
    assert [status_of(client) for client in clients * 2] == [200] * 12
    revoke(free_member)
    assert [status_of(client) for client in clients] == [401] * 6


@pytest.mark.parametrize(
    "kept", [b"", b"9", b"nonsense", b"1:", b"1:{", b"1:[]", b"1:{}", b"\xff:1"]
)
def test_invalid_cache_entry_is_ignored(
    free_member: Member, own_valkey: ValkeyServer, kept: bytes
) -> None:
    client = JSONClient(free_member)
    key = f"session:{hash_session_key(client.token)}"
    own_valkey.run("SET", key, kept)
    assert [status_of(client) for _ in range(3)] == [200] * 3
    own_valkey.run("DEL", key)
    own_valkey.run("LPUSH", key, kept)
    assert [status_of(client) for _ in range(3)] == [200] * 3


@pytest.mark.usefixtures("no_valkey")
def test_both_stores_down_is_503_and_never_anonymous(free_member: Member) -> None:
    client = JSONClient(free_member)
    with disconnect_database():
        for path in (ME, "/api/auth/profile", "/api/account/wallets"):
            response = client.send("GET", path)
            assert_problem(response, 503, "SERVICE_UNAVAILABLE")
            assert int(response.headers["Retry-After"]) > 0
            assert "sessionid" not in response.cookies
    assert status_of(client) == 200


@pytest.mark.usefixtures("no_valkey")
def test_browser_keeps_its_cookie_while_both_stores_are_down(
    administrator: Member,
) -> None:
    browser = JSONClient()
    browser.cookies["sessionid"] = key = create_session(administrator)[0]
    with disconnect_database():
        for path in (ME, "/admin/"):
            response = browser.send("GET", path)
            assert response.status_code == 503
            assert "sessionid" not in response.cookies
    assert browser.cookies["sessionid"].value == key
    assert browser.get("/admin/").status_code == 200


def test_cache_serves_the_session_while_the_database_is_down(
    free_member: Member,
) -> None:
    (client,) = warm_up(free_member)
    with disconnect_database():
        assert client.get_json(ME)["id"] == free_member.pk
        assert client.send("GET", "/api/auth/profile").status_code == 503


def test_logout_that_the_database_did_not_store_is_not_reported_as_done(
    free_member: Member,
) -> None:
    (client,) = warm_up(free_member)
    with disconnect_database():
        assert client.send("POST", "/api/auth/logout").status_code == 503
    assert AuthSession.objects.count() == 1
    assert status_of(client) == 200
