"""Sessions as clients present them: bearer token, cookie, session fixation."""

from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
import time_machine
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils import timezone

from accounts.models import AuthSession, Member
from accounts.sessions.cookies import SessionMiddleware
from accounts.sessions.store import create_session, hash_session_key
from tests.support.accounts import PROFILE
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD
from tests.support.problems import assert_problem
from tests.support.sessions import COOKIE, ME, by_cookie, log_in, status_of, warm_up

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    "header",
    [
        "",
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
def test_no_session_is_401_with_the_way_to_present_one(header: str) -> None:
    response = JSONClient().send("GET", ME, HTTP_AUTHORIZATION=header)
    assert_problem(response, 401, "AUTHENTICATION_REQUIRED")
    assert response.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_scheme_is_read_in_any_letter_case(free_member: Member, scheme: str) -> None:
    key = create_session(free_member)[0]
    response = JSONClient().send("GET", ME, HTTP_AUTHORIZATION=f"{scheme} {key}")
    assert response.status_code == 200


def test_bearer_token_right_or_wrong_beats_the_cookie(
    free_member: Member, other_member: Member
) -> None:
    client = by_cookie(other_member)
    assert client.get_json(ME)["id"] == other_member.pk
    client.use_token(create_session(free_member)[0])
    assert client.get_json(ME)["id"] == free_member.pk
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
    response = client.send("PUT", PROFILE, body, headers=headers)
    assert response.status_code == status
    free_member.refresh_from_db()
    assert (free_member.display_name == "Changed") is (status == 200)
    if status == 403:
        assert response.data["code"] == "CSRF_FAILED"


@pytest.mark.parametrize(
    ("way", "method", "path"),
    [(by_cookie, "GET", ME), (by_cookie, "HEAD", ME), (JSONClient, "PUT", PROFILE)],
)
def test_safe_requests_and_bearer_tokens_may_come_from_anywhere(
    free_member: Member, way: Any, method: str, path: str
) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    body = {"displayName": "Changed"} if method == "PUT" else None
    assert way(free_member).send(method, path, body, headers=headers).status_code == 200


def test_public_address_counts_as_this_site(free_member: Member, settings: Any) -> None:
    settings.PUBLIC_URL = "https://ledger.example"
    headers = {"Origin": "https://ledger.example"}
    client = by_cookie(free_member)
    assert client.send("POST", "/api/auth/logout", headers=headers).status_code == 204


def test_stale_cookie_from_elsewhere_is_401_not_403(anonymous: JSONClient) -> None:
    anonymous.cookies[COOKIE] = "stale"
    headers = {"Sec-Fetch-Site": "cross-site"}
    response = anonymous.send("POST", "/api/auth/logout", headers=headers)
    assert response.status_code == 401


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
    # An attacker's own session, planted in a browser, does not become another's.
    attacker, browser = warm_up(other_member), JSONClient()
    browser.cookies[COOKIE] = attacker.token
    token = log_in(browser, free_member).data["token"]
    assert status_of(attacker) == 401
    assert AuthSession.objects.get().key_hash == hash_session_key(token)
    assert log_in(browser, free_member).data["token"] != token
    assert AuthSession.objects.count() == 1


def test_wrong_login_leaves_the_presented_session_alone(free_member: Member) -> None:
    client = by_cookie(free_member)
    body = {"loginId": free_member.login_id, "password": "wrong-battery-8"}
    assert client.send("POST", "/api/auth/login", body).status_code == 401
    assert status_of(client) == 200


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
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
        assert cookie["path"] == "/"
        assert COOKIE not in browser.get(path).cookies


def test_browser_in_use_stays_logged_in(free_member: Member) -> None:
    # The browser drops a cookie at its expiry, as the client of this test does not.
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
