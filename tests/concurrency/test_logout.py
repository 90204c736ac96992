"""The end of a session racing its use: what has ended never comes back."""

import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from django.conf import settings
from django.contrib.sessions.backends.base import UpdateError

from accounts.models import AuthSession, Member
from accounts.sessions.store import (
    SessionStore,
    create_session,
    hash_session_key,
    invalidate_member_session_cache,
    revoke_session,
    revoke_sessions,
)
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.races import run_concurrently
from tests.support.scale import scaled
from tests.support.stores import redis_at

pytestmark = pytest.mark.django_db(transaction=True)

ME = "/api/auth/session"
ROUNDS = scaled(40, 200)
READERS = 3
NEW = "another-horse-10"


@pytest.fixture(autouse=True)
def patient_fast_store() -> Iterator[None]:
    """Raise the timeouts of the fast store, so that a busy machine still uses it."""
    with redis_at(settings.REDIS_URL, seconds=5):
        yield


# One for all clients: loading the middleware takes longer than a request.
HANDLER = JSONClient().handler


def by_token(token: str) -> JSONClient:
    client = JSONClient()
    client.handler = HANDLER
    client.use_token(token)
    return client


def read(token: str) -> int:
    status: int = by_token(token).send("GET", ME).status_code
    return status


def log_out(client: JSONClient) -> int:
    status: int = client.send("POST", "/api/auth/logout").status_code
    return status


def count_revived(
    member: Member, end: Callable[[JSONClient], object], *, rounds: int = ROUNDS
) -> int:
    """Return the number of rounds after which an ended session was alive."""
    revived = 0
    for number in range(rounds):
        client = by_token(create_session(member)[0])
        token = client.token
        if number % 2:
            read(token)
        readers = [partial(read, token)] * READERS
        run_concurrently([*readers, partial(end, client)])
        revived += 200 in {read(token), read(token)}
    return revived


def test_logout_racing_requests_of_its_session_leaves_no_live_session() -> None:
    assert count_revived(make_member(), log_out) == 0
    assert not AuthSession.objects.exists()


def test_end_of_all_sessions_racing_their_use_leaves_none_alive() -> None:
    member = make_member()
    assert (
        count_revived(member, lambda _: revoke_sessions(member), rounds=ROUNDS // 4)
        == 0
    )


def test_suspension_racing_requests_holds_afterwards() -> None:
    member = make_member()

    def suspend() -> None:
        Member.objects.filter(pk=member.pk).update(status="SUSPENDED")
        invalidate_member_session_cache(member.pk)

    alive = 0
    for _ in range(ROUNDS // 5):
        Member.objects.filter(pk=member.pk).update(status="ACTIVE")
        client = by_token(create_session(member)[0])
        token = client.token
        readers = [partial(read, token)] * READERS
        run_concurrently([*readers, suspend])
        alive += 200 in {read(token), read(token)}
    assert alive == 0


def test_plan_change_racing_requests_is_seen_afterwards() -> None:
    member = make_member()
    client = JSONClient(member)

    def change(plan: str) -> None:
        Member.objects.filter(pk=member.pk).update(plan=plan)
        invalidate_member_session_cache(member.pk)

    for number in range(ROUNDS // 5):
        plan = ("PREMIUM", "FREE")[number % 2]
        readers = [partial(read, client.token)] * READERS
        run_concurrently([*readers, partial(change, plan)])
        assert [client.get_json(ME)["plan"] for _ in range(2)] == [plan, plan]


def test_logouts_of_one_session_at_once_are_one_logout() -> None:
    client = JSONClient(make_member())
    statuses = run_concurrently([lambda: log_out(by_token(client.token))] * 16)
    assert set(statuses) <= {204, 401}
    assert 204 in statuses
    assert read(client.token) == 401


def test_saving_a_session_never_brings_it_back_after_its_end() -> None:
    # Django's admin saves sessions; a save that comes late must fail.
    member = make_member()

    def save(key: str) -> None:
        store = SessionStore(key)
        if store.session_key is None or not dict(store.items()):
            return
        store["seen"] = time.time()
        try:
            store.save()
        except UpdateError:
            return

    for _ in range(ROUNDS // 5):
        key = create_session(member)[0]
        saves = [partial(save, key)] * READERS
        run_concurrently([*saves, partial(revoke_session, hash_session_key(key))])
        assert read(key) == 401
    assert not AuthSession.objects.filter(member=member).exists()


def test_password_change_racing_logins_leaves_no_session_of_the_old_password() -> None:
    for _ in range(5):
        member = make_member()
        here = JSONClient(member)
        body = {"loginId": member.login_id, "password": PASSWORD}

        log_in = partial(JSONClient().send, "POST", "/api/auth/login", body)
        passwords = {"currentPassword": PASSWORD, "newPassword": NEW}
        change = partial(here.send, "PUT", "/api/auth/password", passwords)
        run_concurrently([log_in, log_in, log_in, change])
        assert read(here.token) == 200
        assert JSONClient().send("POST", "/api/auth/login", body).status_code == 401
        assert AuthSession.objects.filter(member=member).count() == 1
