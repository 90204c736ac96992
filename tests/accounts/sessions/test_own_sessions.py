"""The list of one's own sessions, what ends them, and when they end by themselves."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import AuthSession, Member
from core.client import Client
from tests.support.accounts import signup_body
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD
from tests.support.problems import assert_problem
from tests.support.routes import MISSING_UUID
from tests.support.sessions import status_of

pytestmark = pytest.mark.django_db(transaction=True)

SESSIONS = "/api/auth/sessions"
ADDRESS = "203.0.113.7"
CHROME = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/141.0.0.0 Safari/537.36"
)


def log_in(member: Member, **body: Any) -> JSONClient:
    client = JSONClient(REMOTE_ADDR=ADDRESS, HTTP_USER_AGENT=CHROME)
    credentials = {"loginId": member.login_id, "password": PASSWORD}
    answer = client.send("POST", "/api/auth/login", credentials | body)
    client.use_token(answer.data["token"])
    client.cookies.clear()
    return client


def test_list_says_what_a_member_knows_a_session_by(free_member: Member) -> None:
    client = log_in(free_member, deviceName="민지의 노트북")
    row = AuthSession.objects.get()
    assert client.get_json(SESSIONS) == [
        {
            "id": str(row.public_id),
            "current": True,
            "deviceName": "민지의 노트북",
            "client": "Chrome, Windows",
            "address": ADDRESS,
            "createdAt": row.created_at.isoformat(),
            "lastSeenAt": row.last_seen_at.isoformat() if row.last_seen_at else None,
            "expiresAt": row.expires_at.isoformat(),
        }
    ]


def test_list_has_live_sessions_of_the_member_only(
    free_member: Member, other_member: Member
) -> None:
    client, expired, ended = (log_in(free_member) for _ in range(3))
    log_in(other_member)
    (own,) = [s["id"] for s in expired.get_json(SESSIONS) if s["current"]]
    AuthSession.objects.filter(public_id=own).update(expires_at=timezone.now())
    ended.send("POST", "/api/auth/logout")
    assert [session["current"] for session in client.get_json(SESSIONS)] == [True]


def test_last_use_orders_the_list(free_member: Member) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        first, second = log_in(free_member), log_in(free_member)
        clock.shift(timedelta(minutes=6))
        assert status_of(first) == 200
        clock.shift(timedelta(minutes=6))
        assert status_of(second) == 200
        assert [s["current"] for s in second.get_json(SESSIONS)] == [True, False]
        clock.shift(timedelta(minutes=6))
        assert [s["current"] for s in first.get_json(SESSIONS)] == [True, False]


def test_id_is_no_credential(free_member: Member) -> None:
    client = log_in(free_member)
    row = AuthSession.objects.get()
    listed = client.get_json(SESSIONS)[0]
    assert row.key_hash not in str(listed)
    thief = JSONClient()
    thief.use_token(listed["id"])
    assert status_of(thief) == 401


@pytest.mark.parametrize("is_own", [False, True])
def test_one_session_ends_at_once(free_member: Member, is_own: bool) -> None:
    client, other = log_in(free_member), log_in(free_member)
    assert status_of(other) == 200
    (found,) = [s for s in client.get_json(SESSIONS) if s["current"] is is_own]
    response = client.send("DELETE", f"{SESSIONS}/{found['id']}")
    assert response.status_code == 204
    assert ("sessionid" in response.cookies) is is_own
    statuses = (status_of(client), status_of(other))
    assert statuses == ((401, 200) if is_own else (200, 401))


def test_session_of_another_member_is_as_one_that_does_not_exist(
    free_member: Member, other_member: Member
) -> None:
    theirs = log_in(other_member)
    (found,) = theirs.get_json(SESSIONS)
    client = log_in(free_member)
    for session_id in (found["id"], MISSING_UUID):
        response = client.send("DELETE", f"{SESSIONS}/{session_id}")
        assert_problem(response, 404, "NOT_FOUND")
    assert status_of(theirs) == 200


@pytest.mark.parametrize("name", ["x" * 61, 5, "a\x00b"])
def test_device_name_has_sixty_characters(free_member: Member, name: Any) -> None:
    body = {"loginId": free_member.login_id, "password": PASSWORD, "deviceName": name}
    response = JSONClient().send("POST", "/api/auth/login", body)
    assert_problem(response, 400, "VALIDATION_ERROR")


def test_sign_up_names_its_device(anonymous: JSONClient) -> None:
    anonymous.send("POST", "/api/auth/signup", signup_body(deviceName="Phone"))
    assert AuthSession.objects.get().name == "Phone"


def test_session_in_use_ends_after_its_most_days(
    free_member: Member, settings: Any
) -> None:
    settings.SESSION_MAX_DAYS = 30
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client, start = JSONClient(free_member), timezone.now()
        assert AuthSession.objects.get().expires_at == start + timedelta(days=14)
        for _ in range(2):
            clock.shift(timedelta(days=13))
            assert status_of(client) == 200
        # Use extends it up to the end, not beyond.
        assert AuthSession.objects.get().expires_at == start + timedelta(days=30)
        clock.shift(timedelta(days=4) - timedelta(seconds=1))
        assert status_of(client) == 200
        clock.shift(timedelta(seconds=1))
        assert status_of(client) == 401


def test_smaller_limit_ends_sessions_that_there_are(
    free_member: Member, settings: Any
) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = JSONClient(free_member)
        clock.shift(timedelta(days=3))
        settings.SESSION_MAX_DAYS = 3
        assert status_of(client) == 401
        settings.SESSION_MAX_DAYS = 4
        assert client.get_json(SESSIONS)[0]["current"]


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (CHROME, "Chrome, Windows"),
        (CHROME + " Edg/141.0.0.0", "Edge, Windows"),
        (CHROME + " Whale/4.30.0.0", "Whale, Windows"),
        (
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1"
                " (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1"
            ),
            "Safari, iPhone",
        ),
        (
            (
                "Mozilla/5.0 (Linux; Android 16; SM-S931N) AppleWebKit/537.36 (KHTML, like"
                " Gecko) SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36"
            ),
            "Samsung Internet, Android",
        ),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Firefox/144.0", "Firefox, Linux"),
        ("okhttp/4.12.0", "okhttp"),
        ("Ledger/3 CFNetwork/1490.0.4 Darwin/23.2.0", "Ledger"),
        ("", ""),
        ("x" * 200, "x" * 40),
    ],
)
def test_client_is_named_by_its_user_agent(user_agent: str, name: str) -> None:
    assert Client(user_agent=user_agent).name == name
