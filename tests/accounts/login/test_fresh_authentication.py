"""Fresh authentication: what it takes, how long it lasts, who decides."""

import time
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import RequestFactory
from django.utils import timezone
from rest_framework.request import Request

from accounts.errors import ReauthenticationRequiredError
from accounts.login.fresh import require_fresh_authentication
from accounts.models import AuthSession, Member
from accounts.sessions.authentication import SessionAuthentication
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.id_tokens import Vouch
from tests.support.problems import assert_problem
from tests.support.sessions import stale_client

pytestmark = pytest.mark.django_db(transaction=True)

REAUTHENTICATE = "/api/auth/reauthenticate"
VERIFY = "/api/auth/verify-password"
SUBJECT = "subject-1"
LIMITED = "RATE_LIMITED"


def require(client: JSONClient) -> None:
    """Ask for fresh authentication as a view does, with the client's session."""
    headers = {"Authorization": f"Bearer {client.token}"}
    request = Request(
        RequestFactory().get("/", headers=headers),
        authenticators=[SessionAuthentication()],
    )
    require_fresh_authentication(request)


def is_fresh(client: JSONClient) -> bool:
    try:
        require(client)
    except ReauthenticationRequiredError:
        return False
    return True


def test_login_is_fresh_for_ten_minutes(
    free_member: Member, clock: time_machine.Traveller
) -> None:
    client = JSONClient()
    body = {"loginId": free_member.login_id, "password": PASSWORD}
    client.use_token(client.send("POST", "/api/auth/login", body).data["token"])
    clock.shift(timedelta(minutes=9, seconds=59))
    assert is_fresh(client)
    clock.shift(timedelta(seconds=1))
    assert not is_fresh(client)


@pytest.mark.parametrize("path", [REAUTHENTICATE, VERIFY])
def test_password_makes_the_session_fresh_and_no_other(
    free_member: Member, path: str
) -> None:
    client, other = stale_client(free_member), stale_client(free_member)
    assert client.send("POST", path, {"password": PASSWORD}).status_code == 200
    assert (is_fresh(client), is_fresh(other)) == (True, False)


def test_answer_says_until_when(
    free_member: Member, clock: time_machine.Traveller
) -> None:
    client = stale_client(free_member)
    response = client.send("POST", REAUTHENTICATE, {"password": PASSWORD})
    fresh_until = timezone.now() + timedelta(minutes=10)
    assert response.data == {"freshUntil": fresh_until.isoformat()}


@pytest.mark.parametrize("path", [REAUTHENTICATE, VERIFY])
def test_wrong_password_makes_nothing_fresh_and_counts_as_a_failed_login(
    free_member: Member, path: str
) -> None:
    client = stale_client(free_member)
    for _ in range(10):
        response = client.send("POST", path, {"password": "wrong-battery-8"})
        assert_problem(response, 400, "PASSWORD_MISMATCH")
    assert_problem(client.send("POST", path, {"password": PASSWORD}), 429, LIMITED)
    body = {"loginId": free_member.login_id, "password": PASSWORD}
    assert_problem(JSONClient().send("POST", "/api/auth/login", body), 429, LIMITED)
    assert not is_fresh(client)


def test_new_token_of_the_linked_identity_makes_the_session_fresh(vouch: Vouch) -> None:
    client = stale_client(make_member(idp_id=SUBJECT))
    token = vouch(sub=SUBJECT, iat=str(int(time.time()) - 290))
    assert client.send("POST", REAUTHENTICATE, {"idToken": token}).status_code == 200
    assert is_fresh(client)


@pytest.mark.parametrize(
    ("linked", "sent", "age"),
    [
        (SUBJECT, SUBJECT, 301),
        (SUBJECT, SUBJECT, None),
        (SUBJECT, "somebody-else", 0),
        (None, SUBJECT, 0),
    ],
)
def test_old_token_and_another_identity_are_refused(
    vouch: Vouch, linked: str | None, sent: str, age: int | None
) -> None:
    client = stale_client(make_member(idp_id=linked))
    issued_at = None if age is None else str(int(time.time()) - age)
    token = vouch(sub=sent, iat=issued_at)
    response = client.send("POST", REAUTHENTICATE, {"idToken": token})
    assert_problem(response, 401, "INVALID_ID_TOKEN")
    assert not is_fresh(client)


@pytest.mark.parametrize("body", [{}, {"password": PASSWORD, "idToken": "x"}])
def test_exactly_one_proof_is_taken(free_member: Member, body: Any) -> None:
    client = stale_client(free_member)
    assert_problem(client.send("POST", REAUTHENTICATE, body), 400, "VALIDATION_ERROR")
    assert not is_fresh(client)


@pytest.mark.parametrize(
    ("fields", "methods"),
    [
        ({}, ["PASSWORD"]),
        ({"idp_id": "1"}, ["PASSWORD", "IDENTITY_PROVIDER"]),
        ({"idp_id": "1", "password": None}, ["IDENTITY_PROVIDER"]),
    ],
)
def test_refusal_names_the_ways_that_the_member_has(
    fields: dict[str, Any], methods: list[str]
) -> None:
    client = stale_client(make_member(**fields))
    with pytest.raises(ReauthenticationRequiredError) as refusal:
        require(client)
    assert refusal.value.members == {"methods": methods}


def test_cached_copy_of_a_session_does_not_decide(free_member: Member) -> None:
    # Neither that it is fresh, nor that it is not.
    client = JSONClient(free_member)
    client.get_json("/api/auth/session")
    AuthSession.objects.update(fresh_until=None)
    assert not is_fresh(client)
    AuthSession.objects.update(fresh_until=timezone.now() + timedelta(minutes=1))
    assert is_fresh(client)


@pytest.mark.parametrize("password", [PASSWORD, None])
def test_new_password_by_cookie_begins_a_fresh_session_if_the_old_one_is_proved(
    password: str | None,
) -> None:
    # A thief of a session can send a first password.
    browser = JSONClient()
    member = make_member(idp_id=SUBJECT, password=password)
    browser.cookies["sessionid"] = stale_client(member).token
    body = {"currentPassword": password} if password else {}
    body |= {"newPassword": "another-horse-9"}
    assert browser.send("PUT", "/api/auth/password", body).status_code == 204
    renewed = JSONClient()
    renewed.use_token(browser.cookies["sessionid"].value)
    assert is_fresh(renewed) is (password is not None)
