"""Personal tokens: how they are made, what they open, when they end."""

import re
import zlib
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import AuthSession, Member, SecurityLogEntry
from accounts.sessions.store import find_session, hash_session_key
from accounts.sessions.token_keys import ALPHABET, is_malformed_token, make_token_key
from accounts.tokens.tokens import MAX_TOKENS, create_token, notify_of_expiring_tokens
from board.models import Post
from core.api.token_scopes import TokenScope
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member, make_post
from tests.support.problems import assert_problem
from tests.support.races import run_concurrently
from tests.support.routes import MISSING_UUID
from tests.support.second_factors import STALE
from tests.support.sessions import stale_client

pytestmark = pytest.mark.django_db(transaction=True)

TOKENS = "/api/auth/tokens"
WALLETS = "/api/account/wallets"
TAGS = "/api/account/tags"
ME = "/api/auth/session"
ALL_SCOPES = [scope.value for scope in TokenScope]


def make_token(member: Member, *scopes: str, **body: Any) -> Any:
    """Return the answer to the creation of a token."""
    body = {"name": "Phone", "scopes": list(scopes or ["ledger:read"])} | body
    return JSONClient(member).send("POST", TOKENS, body)


def token_client(member: Member, *scopes: str, **body: Any) -> JSONClient:
    client = JSONClient()
    client.use_token(make_token(member, *scopes, **body).data["token"])
    return client


def row_of(client: JSONClient) -> AuthSession:
    return AuthSession.objects.get(key_hash=hash_session_key(client.token))


def test_token_is_shown_once_and_stored_as_a_hash(
    free_member: Member, clock: time_machine.Traveller
) -> None:
    response = make_token(free_member, "ledger:read", "board:read")
    assert response.status_code == 201
    key = response.data["token"]
    row = AuthSession.objects.get(kind="TOKEN")
    assert key not in repr(AuthSession.objects.filter(pk=row.pk).values().get())
    listed = JSONClient(free_member).get_json(TOKENS)
    assert listed == [
        {
            "id": str(row.public_id),
            "name": "Phone",
            "scopes": ["board:read", "ledger:read"],
            "createdAt": timezone.now().isoformat(),
            "lastUsedAt": None,
            "expiresAt": (timezone.now() + timedelta(days=90)).isoformat(),
        }
    ]
    assert response.data == {**listed[0], "token": key}


def test_key_is_found_by_scanners() -> None:
    # A prefix, 43 characters of 256 bits and a checksum of 6.
    keys = {make_token_key() for _ in range(100)}
    assert len(keys) == 100
    for key in keys:
        assert re.fullmatch(r"hlt_[0-9A-Za-z]{43}[0-9A-Za-z]{6}", key)
        digits = [ALPHABET.index(character) for character in key[-6:]]
        value = 0
        for digit in digits:
            value = value * 62 + digit
        assert value == zlib.crc32(key[:-6].encode())


def test_mistyped_token_asks_no_store(
    free_member: Member, django_assert_num_queries: Any
) -> None:
    key = make_token_key()
    mistyped = key[:-1] + ("A" if key[-1] != "A" else "B")
    assert is_malformed_token(mistyped)
    with django_assert_num_queries(0):
        assert find_session(mistyped) is None
    with django_assert_num_queries(1):
        assert find_session(key) is None
    # A session key that begins like a token is shorter.
    assert not is_malformed_token("hlt_" + "A" * 39)


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "x" * 61},
        {"scopes": []},
        {"scopes": ["ledger:delete"]},
        {"scopes": "ledger:read"},
        # As many as there are, and one more.
        {"scopes": [*TokenScope, "ledger:read"]},
        {"scopes": ["ledger:read"] * 1_000},
        {"expiresInDays": 0},
        {"expiresInDays": 367},
    ],
)
def test_other_bodies_are_invalid(free_member: Member, body: Any) -> None:
    response = make_token(free_member, **body)
    assert_problem(response, 400, "VALIDATION_ERROR")
    fields = [error["field"].partition(".")[0] for error in response.data["errors"]]
    assert fields == list(body)


def test_creating_and_ending_ask_for_fresh_authentication_and_are_logged(
    free_member: Member,
) -> None:
    token_id = make_token(free_member, name="현관 태블릿").data["id"]
    client = stale_client(free_member)
    # Before what is sent and what is named are looked at.
    assert_problem(client.send("POST", TOKENS, {}), 403, *STALE)
    assert_problem(client.send("DELETE", f"{TOKENS}/{MISSING_UUID}"), 403, *STALE)
    client.send("POST", "/api/auth/verify-password", {"password": PASSWORD})
    assert client.send("DELETE", f"{TOKENS}/{token_id}").status_code == 204
    entries = SecurityLogEntry.objects.order_by("id").values_list("kind", "detail")
    kinds = ("TOKEN_CREATED", "TOKEN_REVOKED")
    assert list(entries) == [(kind, "현관 태블릿") for kind in kinds]


def test_member_has_twenty_live_tokens(
    free_member: Member, clock: time_machine.Traveller
) -> None:
    session = hash_session_key(JSONClient(free_member).token)

    for _ in range(MAX_TOKENS):
        create_token(
            free_member,
            session,
            name="x",
            scopes=["board:read"],
            expires_in_days=1,
            now=timezone.now(),
        )
    assert_problem(make_token(free_member), 409, "LIMIT_REACHED")
    clock.shift(timedelta(days=1))
    assert make_token(free_member).status_code == 201


def test_tokens_made_at_once_are_as_many_as_allowed(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.tokens.tokens.MAX_TOKENS", 3)
    responses = run_concurrently([lambda: make_token(free_member)] * 8)
    statuses = sorted(response.status_code for response in responses)
    assert statuses == [201] * 3 + [409] * 5
    assert AuthSession.objects.filter(kind="TOKEN").count() == 3


def test_session_that_ended_meanwhile_leaves_no_token(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "accounts.tokens.views.require_fresh_authentication",
        lambda request: AuthSession.objects.all().delete(),
    )
    assert_problem(make_token(free_member), 401, "AUTHENTICATION_REQUIRED")
    assert not AuthSession.objects.exists()


def test_scope_opens_what_asks_for_it(free_member: Member) -> None:
    client = token_client(free_member, "ledger:read")
    assert client.send("GET", WALLETS).status_code == 200
    assert client.send("HEAD", WALLETS).status_code == 200
    response = client.send("POST", WALLETS, {})
    assert_problem(response, 403, "SCOPE_REQUIRED", "scope")
    assert response.data["scope"] == "ledger:write"
    response = client.send("GET", ME)
    assert_problem(response, 403, "SCOPE_REQUIRED", "scope")
    assert response.data["scope"] is None


def test_scope_comes_before_plan_and_body(free_member: Member) -> None:
    client = token_client(free_member, "board:read", "ledger:read")
    assert_problem(client.send("POST", TAGS, {}), 403, "SCOPE_REQUIRED", "scope")
    assert_problem(client.send("GET", TAGS), 403, "PREMIUM_REQUIRED")


def test_plan_opens_and_closes_as_for_sessions(
    free_member: Member, administrator: Member
) -> None:
    client, staff = token_client(free_member, "ledger:read"), JSONClient(administrator)
    path = f"/api/admin/members/{free_member.pk}/plan"
    for plan, status in (("PREMIUM", 200), ("FREE", 403)):
        staff.send("PUT", path, {"plan": plan})
        assert client.send("GET", TAGS).status_code == status


def test_automation_of_a_phone_posts_and_reads_nothing(premium_member: Member) -> None:
    client = token_client(premium_member, "notifications:write")
    body = {
        "text": "[Web발신]\n신한카드(1234)승인 12,000원(일시불)11/20 12:30 김밥천국"
    }
    parsed = client.send("POST", "/api/account/entries/parse", body)
    assert parsed.status_code == 200
    response = client.send("GET", "/api/account/entries")
    assert_problem(response, 403, "SCOPE_REQUIRED", "scope")
    assert response.data["scope"] == "ledger:read"


@pytest.mark.parametrize("warm", [True, False])
def test_cached_token_has_the_scopes_of_its_row(
    free_member: Member, warm: bool, django_assert_num_queries: Any
) -> None:
    client = token_client(free_member, "board:read")
    if warm:
        client.send("GET", "/api/board/posts")
    with django_assert_num_queries(0 if warm else 2):
        response = client.send("GET", WALLETS)
    assert_problem(response, 403, "SCOPE_REQUIRED", "scope")


def test_token_is_no_cookie(administrator: Member) -> None:
    token = make_token(administrator, *ALL_SCOPES).data["token"]
    browser = JSONClient()
    browser.cookies["sessionid"] = token
    assert browser.send("GET", WALLETS).status_code == 401
    assert browser.get("/admin/").status_code == 302
    client = JSONClient()
    client.use_token(token)
    assert client.send("GET", WALLETS).status_code == 200
    assert "sessionid" not in client.cookies


def test_token_is_no_session_of_a_list_or_the_limit(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.sessions.store.MAX_SESSIONS", 1)
    client = token_client(free_member)
    own = JSONClient(free_member)
    assert str(row_of(client).public_id) not in str(own.get_json("/api/auth/sessions"))
    path = f"/api/auth/sessions/{row_of(client).public_id}"
    assert_problem(own.send("DELETE", path), 404, "NOT_FOUND")
    assert client.send("GET", WALLETS).status_code == 200


def test_use_does_not_extend_it_and_is_written_every_five_minutes(
    free_member: Member, clock: time_machine.Traveller, django_assert_num_queries: Any
) -> None:
    client = token_client(free_member, expiresInDays=30)
    end = row_of(client).expires_at
    client.send("GET", WALLETS)
    first = timezone.now()
    assert row_of(client).last_seen_at == first
    clock.shift(timedelta(minutes=4, seconds=59))
    client.send("GET", WALLETS)
    assert row_of(client).last_seen_at == first
    clock.shift(timedelta(seconds=62))
    client.send("GET", WALLETS)
    assert row_of(client).last_seen_at == timezone.now()
    assert row_of(client).expires_at == end
    listed = JSONClient(free_member).get_json(TOKENS)
    assert listed[0]["lastUsedAt"] == timezone.now().isoformat()


def test_token_ends_on_its_day_and_not_before(
    free_member: Member, clock: time_machine.Traveller, settings: Any
) -> None:
    settings.SESSION_TTL_DAYS = settings.SESSION_MAX_DAYS = 1
    client = token_client(free_member, expiresInDays=366)
    clock.shift(timedelta(days=366) - timedelta(seconds=1))
    assert client.send("GET", WALLETS).status_code == 200
    clock.shift(timedelta(seconds=1))
    assert client.send("GET", WALLETS).status_code == 401


@pytest.mark.parametrize("way", ["end", "suspension"])
def test_ended_token_opens_nothing_at_once(
    free_member: Member, administrator: Member, way: str
) -> None:
    client = token_client(free_member)
    assert client.send("GET", WALLETS).status_code == 200
    if way == "end":
        path = f"{TOKENS}/{row_of(client).public_id}"
        assert JSONClient(free_member).send("DELETE", path).status_code == 204
    else:
        path = f"/api/admin/members/{free_member.pk}/status"
        JSONClient(administrator).send("PUT", path, {"status": "SUSPENDED"})
    assert client.send("GET", WALLETS).status_code == 401
    assert not AuthSession.objects.filter(member=free_member, kind="TOKEN").exists()


def test_token_of_another_member_is_as_one_that_does_not_exist(
    free_member: Member, other_member: Member
) -> None:
    theirs = token_client(other_member)
    client = JSONClient(free_member)
    (session,) = client.get_json("/api/auth/sessions")
    for token_id in (row_of(theirs).public_id, MISSING_UUID, session["id"]):
        assert_problem(client.send("DELETE", f"{TOKENS}/{token_id}"), 404, "NOT_FOUND")
    assert theirs.send("GET", WALLETS).status_code == 200


def test_change_of_password_and_ending_of_sessions_leave_tokens(
    free_member: Member,
) -> None:
    token, client = token_client(free_member), JSONClient(free_member)
    body = {"currentPassword": PASSWORD, "newPassword": "another-horse-9"}
    assert client.send("PUT", "/api/auth/password", body).status_code == 204
    assert client.send("POST", "/api/auth/sessions/end-others").data == {"ended": 0}
    assert token.send("GET", WALLETS).status_code == 200


def test_without_mail_nobody_is_told_of_an_end(
    free_member: Member, clock: time_machine.Traveller
) -> None:
    make_token(free_member)
    clock.shift(timedelta(days=80))
    assert notify_of_expiring_tokens(timezone.now()) == 0
    assert not AuthSession.objects.exclude(expiry_notified_at=None).exists()


def test_row_of_a_token_has_scopes_and_that_of_a_session_none() -> None:
    # A constraint of the table; the authentication reads the scopes only.
    member = make_member()
    JSONClient(member)
    token_client(member)
    for kind, scopes in (("TOKEN", None), ("SESSION", ["board:read"])):
        rows = AuthSession.objects.filter(kind=kind)
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(scopes=scopes)


def test_token_of_staff_acts_as_a_member(
    administrator: Member, free_member: Member
) -> None:
    post = make_post(free_member, title="Theirs")
    token = token_client(administrator, "board:write", "board:read", "ledger:read")
    path = f"/api/board/posts/{post.pk}"
    assert_problem(token.send("DELETE", path), 403, "FORBIDDEN")
    assert Post.objects.filter(pk=post.pk).exists()
    body = {"title": "Own", "content": "Words", "category": "tips", "notice": True}
    created = token.send("POST", "/api/board/posts", body)
    assert (created.status_code, created.data["notice"]) == (201, False)
    # Premium that comes with the role stays.
    assert token.send("GET", "/api/account/budgets").status_code == 200
    assert JSONClient(administrator).send("DELETE", path).status_code == 204
