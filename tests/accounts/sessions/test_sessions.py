"""Sessions: cache and row, expiry, and changes of the member."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from accounts.models import AuthSession, Member
from accounts.sessions import cache as session_cache
from accounts.sessions import store as sessions
from accounts.sessions.store import (
    create_session,
    hash_session_key,
    invalidate_member_session_cache,
    revoke_session,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.problems import assert_problem
from tests.support.sessions import ME, by_cookie, status_of, warm_up

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("plan", ["FREE", "PREMIUM"])
def test_row_and_copy_answer_the_session_user(plan: str) -> None:
    ending = timezone.now() + timedelta(days=1) if plan == "PREMIUM" else None
    member = make_member(plan=plan, plan_expires_at=ending)
    client = JSONClient(member)
    for _ in ("row", "copy"):
        assert client.get_json(ME) == {
            "id": member.pk,
            "loginId": member.login_id,
            "displayName": member.display_name,
            "role": "MEMBER",
            "plan": plan,
            "planExpiresAt": ending and ending.isoformat(),
            "consentsDue": [],
        }


def test_first_request_reads_the_row_and_the_next_ones_the_cache(
    free_member: Member, django_assert_num_queries: Any
) -> None:
    client = JSONClient(free_member)
    with django_assert_num_queries(1):
        assert status_of(client) == 200
    with django_assert_num_queries(0):
        assert status_of(client) == 200


def test_row_follows_plan_and_name_of_the_member(premium_member: Member) -> None:
    create_session(premium_member)
    for plan, name in (("PREMIUM", premium_member.display_name), ("FREE", "New name")):
        update_member(premium_member, plan=plan, display_name=name)
        row = AuthSession.objects.get()
        assert (row.plan, row.display_name) == (plan, name)


def test_key_is_stored_in_neither_store(free_member: Member, own_valkey: Any) -> None:
    client = warm_up(free_member)
    row = AuthSession.objects.values().get()
    assert client.token not in repr(row)
    assert row["key_hash"] == hash_session_key(client.token)
    kept = own_valkey.dump()
    assert client.token.encode() not in kept
    assert row["key_hash"].encode() in kept


def test_key_hash_is_not_accepted_as_a_key(free_member: Member) -> None:
    client = warm_up(free_member)
    thief = JSONClient()
    thief.use_token(hash_session_key(client.token))
    assert status_of(thief) == 401


def test_keys_are_long_and_never_the_same(free_member: Member) -> None:
    keys = {create_session(free_member)[0] for _ in range(50)}
    assert len(keys) == 50
    assert min(map(len, keys)) >= 43


def test_lifetime_slides_and_is_written_at_most_every_five_minutes(
    free_member: Member, django_assert_num_queries: Any
) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = warm_up(free_member)
        first = AuthSession.objects.get().expires_at
        clock.shift(timedelta(minutes=4, seconds=59))
        with django_assert_num_queries(1):
            assert status_of(client) == 200
        assert AuthSession.objects.get().expires_at == first
        clock.shift(timedelta(minutes=2))
        with django_assert_num_queries(2):
            assert status_of(client) == 200
        row = AuthSession.objects.get()
        assert row.last_seen_at == timezone.now()
        assert row.expires_at == timezone.now() + timedelta(days=14)


@pytest.mark.parametrize("days", [14, 1])
def test_session_without_use_ends_after_its_lifetime(
    free_member: Member, settings: Any, days: int
) -> None:
    settings.SESSION_TTL_DAYS = days
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client, other = warm_up(free_member), warm_up(free_member)
        for _ in range(4):
            clock.shift(timedelta(days=days) - timedelta(seconds=1))
            assert status_of(client) == 200
        assert status_of(other) == 401
        clock.shift(timedelta(days=days))
        assert status_of(client) == 401


def test_cache_entry_does_not_outlive_the_session(free_member: Member) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = JSONClient(free_member)
        ending = timezone.now() + timedelta(seconds=30)
        AuthSession.objects.update(expires_at=ending)
        assert status_of(client) == 200
        clock.shift(timedelta(seconds=31))
        assert status_of(client) == 401


def test_cache_entry_older_than_a_minute_is_read_again(
    free_member: Member, django_assert_num_queries: Any
) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = warm_up(free_member)
        clock.shift(timedelta(seconds=59))
        with django_assert_num_queries(0):
            assert status_of(client) == 200
        clock.shift(timedelta(seconds=2))
        with django_assert_num_queries(1):
            assert status_of(client) == 200


CHANGES = [
    ("role", "ADMIN", "role", "ADMIN"),
    ("plan", "PREMIUM", "plan", "PREMIUM"),
    ("display_name", "New name", "displayName", "New name"),
    ("login_id", "new.login", "loginId", "new.login"),
]


def save_member(member: Member, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(member, name, value)
    member.save()


def update_member(member: Member, **fields: Any) -> None:
    Member.objects.filter(pk=member.pk).update(**fields)


WRITERS = pytest.mark.parametrize("write", [save_member, update_member])


@WRITERS
@pytest.mark.parametrize(("field", "value", "key", "shown"), CHANGES)
def test_change_of_the_member_reaches_a_live_session_at_once(
    free_member: Member, write: Any, field: str, value: str, key: str, shown: str
) -> None:
    client = warm_up(free_member)
    with transaction.atomic():
        write(free_member, **{field: value})
        invalidate_member_session_cache(free_member.pk)
    assert client.get_json(ME)[key] == shown
    assert client.get_json(ME)[key] == shown


@WRITERS
def test_suspension_ends_all_live_sessions_at_once(
    free_member: Member, write: Any
) -> None:
    clients = [warm_up(free_member), warm_up(free_member), by_cookie(free_member)]
    write(free_member, status="SUSPENDED")
    invalidate_member_session_cache(free_member.pk)
    assert [status_of(client) for client in clients] == [401, 401, 401]


def test_lost_administrator_role_takes_effect_at_once(administrator: Member) -> None:
    client = warm_up(administrator)
    assert client.send("GET", "/api/users").status_code == 200
    save_member(administrator, role="MEMBER")
    invalidate_member_session_cache(administrator.pk)
    assert_problem(client.send("GET", "/api/users"), 403, "ADMIN_REQUIRED")


def test_change_that_is_rolled_back_is_not_seen(free_member: Member) -> None:
    client = warm_up(free_member)
    with transaction.atomic():
        update_member(free_member, plan="PREMIUM")
        invalidate_member_session_cache(free_member.pk)
        transaction.set_rollback(True)
    assert client.get_json(ME)["plan"] == "FREE"


def test_change_without_invalidation_takes_effect_after_a_minute(
    free_member: Member,
) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = warm_up(free_member)
        update_member(free_member, status="SUSPENDED")
        clock.shift(timedelta(seconds=61))
        assert status_of(client) == 401


@pytest.mark.parametrize(("auto_renew", "plan"), [(False, "FREE"), (True, "PREMIUM")])
def test_plan_in_a_live_session_ends_at_its_date_unless_it_renews_itself(
    free_member: Member, auto_renew: bool, plan: str
) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        ending = timezone.now() + timedelta(seconds=30)
        values = {"plan_expires_at": ending, "plan_auto_renew": auto_renew}
        save_member(free_member, plan="PREMIUM", **values)
        client = warm_up(free_member)
        assert client.get_json(ME)["plan"] == "PREMIUM"
        clock.shift(timedelta(seconds=30))
        assert client.get_json(ME)["plan"] == plan


@pytest.fixture
def slow_reader(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Return a function that runs a callback between reading and caching a row."""
    store_copy = session_cache.set_cached_session

    def interrupt(callback: Callable[[], None]) -> None:
        def put(*copy: Any) -> None:
            monkeypatch.setattr(sessions, "set_cached_session", store_copy)
            callback()
            store_copy(*copy)

        monkeypatch.setattr(sessions, "set_cached_session", put)

    return interrupt


@pytest.mark.parametrize("change", ["logout", "suspension"])
def test_end_is_not_undone_by_a_reader_that_was_slower(
    free_member: Member, slow_reader: Any, change: str
) -> None:
    client = JSONClient(free_member)

    def end() -> None:
        if change == "logout":
            revoke_session(hash_session_key(client.token))
        else:
            update_member(free_member, status="SUSPENDED")
            invalidate_member_session_cache(free_member.pk)

    slow_reader(end)
    status_of(client)
    assert status_of(client) == 401


def test_slower_reader_would_win_if_versions_were_not_compared(
    free_member: Member, slow_reader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Show the race that the test above rules out."""
    blind = "redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'EX', ARGV[3])"
    monkeypatch.setattr(session_cache, "_SET_IF_NOT_OLDER", blind)
    client = JSONClient(free_member)
    slow_reader(lambda: revoke_session(hash_session_key(client.token)))
    status_of(client)
    assert status_of(client) == 200


def test_newer_cache_entry_replaces_a_tombstone(
    free_member: Member, django_assert_num_queries: Any
) -> None:
    client = warm_up(free_member)
    save_member(free_member, display_name="New name")
    invalidate_member_session_cache(free_member.pk)
    with django_assert_num_queries(1):
        assert client.get_json(ME)["displayName"] == "New name"
    with django_assert_num_queries(0):
        assert client.get_json(ME)["displayName"] == "New name"
