"""Sessions: presentation, cache and row, expiry, revocation."""

from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
import time_machine
from django.conf import settings as django_settings
from django.contrib.sessions.backends.base import UpdateError
from django.db import transaction
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils import timezone

from accounts import session_cache, sessions
from accounts.models import AuthSession, Member
from accounts.session_cookies import SessionMiddleware
from accounts.sessions import (
    MAX_SESSIONS,
    SessionStore,
    create_session,
    hash_session_key,
    invalidate_member_session_cache,
    revoke_session,
)
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.races import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)

ME = "/api/auth/session"
COOKIE = django_settings.SESSION_COOKIE_NAME


def status_of(client: JSONClient) -> int:
    status: int = client.send("GET", ME).status_code
    return status


def by_cookie(member: Member) -> JSONClient:
    """A client that presents a session of the member as a browser does."""
    client = JSONClient()
    client.cookies[COOKIE] = create_session(member)[0]
    return client


def warm_up(member: Member) -> JSONClient:
    """Return a client whose session is cached."""
    client = JSONClient(member)
    assert status_of(client) == 200
    return client


def log_in(client: JSONClient, member: Member) -> Any:
    body = {"loginId": member.login_id, "password": PASSWORD}
    return client.send("POST", "/api/auth/login", body)


# --- Copy and mirror ------------------------------------------------------------


def test_session_user_is_answered(free_member: Member) -> None:
    assert JSONClient(free_member).get_json(ME) == {
        "id": free_member.pk,
        "loginId": free_member.login_id,
        "displayName": free_member.display_name,
        "role": "MEMBER",
        "plan": "FREE",
        "planExpiresAt": None,
    }


def test_session_user_has_the_plan_and_its_expiry(premium_member: Member) -> None:
    for _ in ("row", "copy"):
        user = JSONClient(premium_member).get_json(ME)
        assert user["plan"] == "PREMIUM"
        expires_at = datetime.fromisoformat(user["planExpiresAt"])
        assert expires_at == premium_member.plan_expires_at


def test_first_request_reads_the_row_and_the_next_ones_the_cache(
    free_member: Member, django_assert_num_queries: Any
) -> None:
    client = JSONClient(free_member)
    with django_assert_num_queries(1):
        assert status_of(client) == 200
    with django_assert_num_queries(0):
        assert status_of(client) == 200


def test_cache_and_row_give_the_same_response(premium_member: Member) -> None:
    client = JSONClient(premium_member)
    assert client.get_json(ME) == client.get_json(ME)


def test_row_has_plan_and_display_name(premium_member: Member) -> None:
    create_session(premium_member)
    row = AuthSession.objects.get()
    assert (row.plan, row.display_name) == ("PREMIUM", premium_member.display_name)


@pytest.mark.parametrize("field", ["plan", "display_name"])
def test_row_follows_the_member(free_member: Member, field: str) -> None:
    value = {"plan": "PREMIUM", "display_name": "New name"}[field]
    create_session(free_member)
    Member.objects.filter(pk=free_member.pk).update(**{field: value})
    assert getattr(AuthSession.objects.get(), field) == value


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


# --- Lifetime -------------------------------------------------------------------


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


def test_session_in_use_lives_on(free_member: Member) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = JSONClient(free_member)
        for _ in range(4):
            clock.shift(timedelta(days=13))
            assert status_of(client) == 200


def test_session_without_use_ends_after_its_lifetime(free_member: Member) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client, other = warm_up(free_member), warm_up(free_member)
        clock.shift(timedelta(days=14) - timedelta(seconds=1))
        assert status_of(client) == 200
        clock.shift(timedelta(seconds=1))
        assert status_of(client) == 200
        assert status_of(other) == 401


def test_cache_entry_does_not_outlive_the_session(free_member: Member) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = JSONClient(free_member)
        ending = timezone.now() + timedelta(seconds=30)
        AuthSession.objects.update(expires_at=ending)
        assert status_of(client) == 200
        clock.shift(timedelta(seconds=31))
        assert status_of(client) == 401


def test_lifetime_is_a_setting(free_member: Member, settings: Any) -> None:
    settings.SESSION_TTL_DAYS = 1
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = JSONClient(free_member)
        clock.shift(timedelta(days=1))
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


def test_expired_rows_are_no_sessions_even_before_the_purge(
    free_member: Member,
) -> None:
    client = JSONClient(free_member)
    AuthSession.objects.update(expires_at=timezone.now())
    assert status_of(client) == 401
    assert AuthSession.objects.count() == 1


# --- Presenting a session -------------------------------------------------------


def test_no_session_is_401_with_the_way_to_present_one(anonymous: JSONClient) -> None:
    response = anonymous.send("GET", ME)
    assert response.status_code == 401
    assert response.data["code"] == "AUTHENTICATION_REQUIRED"
    assert response.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer unknown",
        "Basic dXNlcjpwYXNz",
        "Token abc",
        "Bearer \x00",
        "Bearer " + "x" * 5000,
        "Bearer ключ",
    ],
)
def test_other_authorization_headers_are_401(
    anonymous: JSONClient, header: str
) -> None:
    assert anonymous.send("GET", ME, HTTP_AUTHORIZATION=header).status_code == 401


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_scheme_is_read_in_any_letter_case(free_member: Member, scheme: str) -> None:
    key = create_session(free_member)[0]
    response = JSONClient().send("GET", ME, HTTP_AUTHORIZATION=f"{scheme} {key}")
    assert response.status_code == 200


def test_session_may_come_by_cookie(free_member: Member) -> None:
    assert by_cookie(free_member).get_json(ME)["id"] == free_member.pk


def test_bearer_token_beats_the_cookie(
    free_member: Member, other_member: Member
) -> None:
    client = by_cookie(other_member)
    client.use_token(create_session(free_member)[0])
    assert client.get_json(ME)["id"] == free_member.pk


def test_wrong_bearer_token_does_not_fall_back_to_the_cookie(
    free_member: Member,
) -> None:
    client = by_cookie(free_member)
    client.use_token("unknown")
    assert status_of(client) == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": ""}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"}, 403),
        ({"Origin": "http://testserver"}, 200),
        ({"Origin": "http://127.0.0.1:8000"}, 200),
        ({"Origin": "https://testserver"}, 403),
        ({"Origin": "http://testserver:8080"}, 403),
        ({"Origin": "http://testserver.evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "http://[broken"}, 403),
        ({}, 200),
    ],
)
def test_unsafe_request_by_cookie_must_come_from_this_site(
    free_member: Member, headers: dict[str, str], status: int
) -> None:
    client = by_cookie(free_member)
    body = {"displayName": "Changed"}
    response = client.send("PUT", "/api/auth/profile", body, headers=headers)
    assert response.status_code == status
    free_member.refresh_from_db()
    assert (free_member.display_name == "Changed") is (status == 200)
    if status == 403:
        assert response.data["code"] == "CSRF_FAILED"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_safe_request_by_cookie_may_come_from_anywhere(
    free_member: Member, method: str
) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    response = by_cookie(free_member).send(method, ME, headers=headers)
    assert response.status_code == 200


def test_unsafe_request_by_bearer_may_come_from_anywhere(free_member: Member) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    body = {"displayName": "Changed"}
    response = JSONClient(free_member).send(
        "PUT", "/api/auth/profile", body, headers=headers
    )
    assert response.status_code == 200


def test_public_address_counts_as_this_site(free_member: Member, settings: Any) -> None:
    settings.PUBLIC_URL = "https://ledger.example"
    headers = {"Origin": "https://ledger.example"}
    client = by_cookie(free_member)
    assert client.send("POST", "/api/auth/logout", headers=headers).status_code == 204


def test_stale_cookie_from_elsewhere_is_401_not_403(anonymous: JSONClient) -> None:
    anonymous.cookies[COOKIE] = "stale"
    headers = {"Sec-Fetch-Site": "cross-site"}
    assert (
        anonymous.send("POST", "/api/auth/logout", headers=headers).status_code == 401
    )


# --- Fixation -------------------------------------------------------------------


def test_key_chosen_by_a_client_never_becomes_a_session(free_member: Member) -> None:
    client = JSONClient()
    client.cookies[COOKIE] = "planted-key"
    assert status_of(client) == 401
    response = log_in(client, free_member)
    assert response.data["token"] != "planted-key"
    assert client.cookies[COOKIE].value == response.data["token"]
    thief = JSONClient()
    thief.cookies[COOKIE] = "planted-key"
    assert status_of(thief) == 401
    assert AuthSession.objects.count() == 1


def test_session_presented_by_cookie_at_login_ends(
    free_member: Member, other_member: Member
) -> None:
    """An attacker's own session, planted in a browser, does not become another's."""
    attacker, browser = warm_up(other_member), JSONClient()
    browser.cookies[COOKIE] = attacker.token
    token = log_in(browser, free_member).data["token"]
    assert status_of(attacker) == 401
    assert AuthSession.objects.get().key_hash == hash_session_key(token)


def test_every_login_has_a_key_of_its_own(free_member: Member) -> None:
    client = JSONClient()
    tokens = [log_in(client, free_member).data["token"] for _ in range(3)]
    assert len(set(tokens)) == 3
    assert AuthSession.objects.count() == 1


def test_wrong_login_leaves_the_presented_session_alone(free_member: Member) -> None:
    client = by_cookie(free_member)
    body = {"loginId": free_member.login_id, "password": "wrong-battery-8"}
    assert client.send("POST", "/api/auth/login", body).status_code == 401
    assert status_of(client) == 200


# --- Ending ---------------------------------------------------------------------


@pytest.mark.parametrize("way", [by_cookie, JSONClient, warm_up])
def test_logout_ends_the_session_in_both_stores(
    free_member: Member, own_valkey: Any, way: Callable[[Member], JSONClient]
) -> None:
    client = way(free_member)
    assert status_of(client) == 200
    response = client.send("POST", "/api/auth/logout")
    assert (response.status_code, response.content) == (204, b"")
    assert response.cookies[COOKIE].value == ""
    assert response.cookies[COOKIE]["max-age"] == 0
    assert not AuthSession.objects.exists()
    assert free_member.login_id.encode() not in own_valkey.dump()


def test_key_is_dead_after_logout(free_member: Member) -> None:
    client = warm_up(free_member)
    assert client.send("POST", "/api/auth/logout").status_code == 204
    assert status_of(client) == 401
    browser = JSONClient()
    browser.cookies[COOKIE] = client.token
    assert status_of(browser) == 401
    assert client.send("POST", "/api/auth/logout").status_code == 401


def test_logout_leaves_other_sessions_alone(free_member: Member) -> None:
    phone, laptop = warm_up(free_member), warm_up(free_member)
    assert phone.send("POST", "/api/auth/logout").status_code == 204
    assert status_of(laptop) == 200


# --- Changes of the member in live sessions -------------------------------------

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
    response = client.send("GET", "/api/users")
    assert (response.status_code, response.data["code"]) == (403, "ADMIN_REQUIRED")


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


def test_plan_that_runs_out_counts_as_free_in_a_live_session(
    free_member: Member,
) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        ending = timezone.now() + timedelta(seconds=30)
        save_member(free_member, plan="PREMIUM", plan_expires_at=ending)
        client = warm_up(free_member)
        assert client.get_json(ME)["plan"] == "PREMIUM"
        clock.shift(timedelta(seconds=30))
        assert client.get_json(ME)["plan"] == "FREE"


def test_plan_that_renews_itself_outlives_its_date(free_member: Member) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        ending = timezone.now() + timedelta(seconds=30)
        save_member(
            free_member, plan="PREMIUM", plan_expires_at=ending, plan_auto_renew=True
        )
        client = warm_up(free_member)
        clock.shift(timedelta(seconds=40))
        assert client.get_json(ME)["plan"] == "PREMIUM"


# --- Slow readers ---------------------------------------------------------------


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


def test_logout_is_not_undone_by_a_reader_that_was_slower(
    free_member: Member, slow_reader: Any
) -> None:
    client = JSONClient(free_member)
    slow_reader(lambda: revoke_session(hash_session_key(client.token)))
    status_of(client)
    assert status_of(client) == 401


def test_suspension_is_not_undone_by_a_reader_that_was_slower(
    free_member: Member, slow_reader: Any
) -> None:
    def suspend() -> None:
        update_member(free_member, status="SUSPENDED")
        invalidate_member_session_cache(free_member.pk)

    client = JSONClient(free_member)
    slow_reader(suspend)
    status_of(client)
    assert status_of(client) == 401


def test_slower_reader_would_win_if_versions_were_not_compared(
    free_member: Member, slow_reader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Show the race that the two tests above rule out."""
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


# --- Django's own sessions ------------------------------------------------------


def test_admin_login_makes_a_session_like_any_other(administrator: Member) -> None:
    browser = JSONClient()
    form = {"username": administrator.login_id, "password": PASSWORD}
    response = browser.post("/admin/login/?next=/admin/", form)
    assert (response.status_code, response.headers["Location"]) == (302, "/admin/")
    row = AuthSession.objects.get()
    assert (row.member, row.display_name) == (administrator, administrator.display_name)
    assert browser.get("/admin/").status_code == 200
    phone = JSONClient()
    phone.use_token(browser.cookies[COOKIE].value)
    assert phone.get_json(ME)["id"] == administrator.pk


def test_api_session_opens_the_admin(administrator: Member) -> None:
    assert by_cookie(administrator).get("/admin/").status_code == 200


def test_logout_of_the_api_closes_the_admin(administrator: Member) -> None:
    browser = by_cookie(administrator)
    phone = JSONClient()
    phone.use_token(browser.cookies[COOKIE].value)
    assert browser.get("/admin/").status_code == 200
    phone.send("POST", "/api/auth/logout")
    assert browser.get("/admin/").status_code == 302


def test_admin_logout_ends_the_session_in_both_stores(administrator: Member) -> None:
    browser = by_cookie(administrator)
    key = browser.cookies[COOKIE].value
    assert status_of(browser) == 200
    assert browser.post("/admin/logout/").status_code == 200
    phone = JSONClient()
    phone.use_token(key)
    assert status_of(phone) == 401


@pytest.mark.parametrize("fields", [{"role": "MEMBER"}, {"status": "SUSPENDED"}])
def test_others_do_not_get_into_the_admin(db: None, fields: dict[str, str]) -> None:
    member = make_member(**{"role": "ADMIN"} | fields)
    browser = JSONClient()
    form = {"username": member.login_id, "password": PASSWORD}
    assert browser.post("/admin/login/", form).status_code == 200
    assert browser.get("/admin/").status_code == 302
    assert by_cookie(member).get("/admin/").status_code == 302


def test_admin_login_has_the_same_limit(administrator: Member) -> None:
    browser = JSONClient()
    form = {"username": administrator.login_id, "password": "wrong-battery-8"}
    for _ in range(10):
        assert browser.post("/admin/login/", form).status_code == 200
    answer = browser.post("/admin/login/", form | {"password": PASSWORD})
    assert answer.status_code == 200
    assert b"Too many attempts" in answer.content
    assert log_in(JSONClient(), administrator).status_code == 429


def test_saving_a_revoked_session_does_not_restore_it(
    administrator: Member,
) -> None:
    key = create_session(administrator)[0]
    store = SessionStore(key)
    store["note"] = "kept"
    revoke_session(hash_session_key(key))
    with pytest.raises(UpdateError):
        store.save()
    assert not AuthSession.objects.exists()


def test_session_data_survive_in_both_stores(db: None) -> None:
    store = SessionStore()
    store["note"] = "안녕"
    store.save()
    key = store.session_key
    assert key
    for _ in ("row", "copy"):
        assert SessionStore(key)["note"] == "안녕"
    changed = SessionStore(key)
    changed["note"] = "other"
    changed.save()
    assert SessionStore(key)["note"] == "other"


def test_store_does_not_adopt_a_key_it_does_not_know(db: None) -> None:
    store = SessionStore("chosen")
    assert dict(store.items()) == {}
    store["note"] = "kept"
    store.save()
    assert store.session_key != "chosen"
    assert not store.exists("chosen")


# --- Other devices ----------------------------------------------------------------

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


# --- The cookie slides with the session ---------------------------------------------


def expiry_of(cookie: Any) -> datetime:
    return parsedate_to_datetime(cookie["expires"])


@pytest.mark.parametrize("path", [ME, "/auth/profile", "/admin/"])
def test_cookie_is_renewed_when_its_session_slides(
    administrator: Member, path: Any
) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        browser = by_cookie(administrator)
        key = browser.cookies[COOKIE].value
        assert COOKIE not in browser.get(path).cookies
        clock.shift(timedelta(days=13))
        cookie = browser.get(path).cookies[COOKIE]
        assert cookie.value == key
        row = AuthSession.objects.get()
        assert row.expires_at == timezone.now() + timedelta(days=14)
        assert abs(expiry_of(cookie) - row.expires_at) <= timedelta(seconds=1)
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (
            True,
            "Lax",
            "/",
        )
        assert COOKIE not in browser.get(path).cookies


def test_browser_in_use_stays_logged_in(free_member: Member) -> None:
    """The browser drops a cookie at its expiry, as the client of this test does not."""
    with time_machine.travel(timezone.now(), tick=False) as clock:
        browser = JSONClient()
        log_in(browser, free_member)
        for _ in range(4):
            clock.shift(timedelta(days=13))
            assert expiry_of(browser.cookies[COOKIE]) > timezone.now()
            assert status_of(browser) == 200


def test_bearer_client_gets_no_cookie(free_member: Member) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = JSONClient(free_member)
        clock.shift(timedelta(days=1))
        response = client.send("GET", ME)
        assert response.status_code == 200
        assert COOKIE not in response.cookies


def test_logout_and_new_passwords_keep_their_own_cookie(free_member: Member) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        browser = by_cookie(free_member)
        clock.shift(timedelta(days=1))
        body = {"currentPassword": PASSWORD, "newPassword": "another-horse-9"}
        old = browser.cookies[COOKIE].value
        response = browser.send("PUT", "/api/auth/password", body)
        assert response.status_code == 204
        assert response.cookies[COOKIE].value not in {"", old}
        clock.shift(timedelta(days=1))
        response = browser.send("POST", "/api/auth/logout")
        assert response.cookies[COOKIE].value == ""


def test_cookie_is_never_in_a_response_that_caches_may_share(
    free_member: Member,
) -> None:
    def respond(request: Any) -> HttpResponse:
        request.session_extended_until = timezone.now() + timedelta(days=14)
        return HttpResponse(headers={"Cache-Control": request.GET["cache"]})

    middleware = SessionMiddleware(respond)
    for cache, is_renewed in (("public, max-age=31536000", False), ("no-store", True)):
        request = RequestFactory().get("/api/images/x", {"cache": cache})
        request.COOKIES[COOKIE] = "key"
        assert (COOKIE in middleware(request).cookies) is is_renewed


# --- The number of sessions of a member -----------------------------------------


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
