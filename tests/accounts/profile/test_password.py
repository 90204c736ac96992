"""Changing the password: the checks before it, the sessions after it."""

from typing import Any

import pytest

from accounts.models import AuthSession, Member
from accounts.sessions.store import create_session
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.problems import assert_invalid, assert_problem

PATH = "/api/auth/password"
ME = "/api/auth/session"
NEW = "another-horse-10"


def change(client: JSONClient, new: Any = NEW, current: Any = PASSWORD) -> Any:
    body = {"currentPassword": current, "newPassword": new}
    return client.send("PUT", PATH, body)


def log_in(member: Member, password: str) -> int:
    body = {"loginId": member.login_id, "password": password}
    status: int = JSONClient().send("POST", "/api/auth/login", body).status_code
    return status


def test_new_password_replaces_the_current_one(
    free_member: Member, client: JSONClient
) -> None:
    response = change(client)
    assert (response.status_code, response.content) == (204, b"")
    assert log_in(free_member, NEW) == 200
    assert log_in(free_member, PASSWORD) == 401
    free_member.refresh_from_db()
    assert NEW not in free_member.password


# A guess that repeats itself is a wrong password first: the other order would reveal the
# password to the thief of a session.
REFUSALS = [
    ({"current": "wrong-battery-8"}, "PASSWORD_MISMATCH"),
    ({"new": PASSWORD}, "PASSWORD_UNCHANGED"),
    ({"new": "guess-9", "current": "guess-9"}, "PASSWORD_MISMATCH"),
    *(({"new": new}, "VALIDATION_ERROR") for new in (None, "", 7, "short-1")),
    *(({"new": new}, "VALIDATION_ERROR") for new in ("password123", "8306417259461")),
    *(({"current": current}, "VALIDATION_ERROR") for current in (None, 7)),
]


@pytest.mark.parametrize(("fields", "code"), REFUSALS)
def test_change_is_refused_and_ends_no_session(
    free_member: Member, client: JSONClient, fields: dict[str, Any], code: str
) -> None:
    phone = JSONClient(free_member)
    assert_problem(change(client, **fields), 400, code)
    assert log_in(free_member, PASSWORD) == 200
    assert phone.send("GET", ME).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "newPassword"),
        ({"newPassword": NEW}, "currentPassword"),
        ({"currentPassword": PASSWORD}, "newPassword"),
        ({"currentPassword": PASSWORD, "newPassword": "short-1"}, "newPassword"),
    ],
)
def test_refused_field_is_named(
    client: JSONClient, body: dict[str, Any], field: str
) -> None:
    assert_invalid(client.send("PUT", PATH, body), field)


@pytest.mark.parametrize("current", [PASSWORD, "", None])
def test_identity_provider_account_has_no_password_to_change(
    current: str | None,
) -> None:
    member = make_member(provider="IDP", idp_id="subject-1", password=None)
    body = {"newPassword": NEW} | ({"currentPassword": current} if current else {})
    response = JSONClient(member).send("PUT", PATH, body)
    assert_problem(response, 400, "PASSWORD_NOT_SUPPORTED")


def test_linked_local_member_sets_a_new_password_without_the_old_one() -> None:
    member = make_member(idp_id="subject-1", password=None)
    response = JSONClient(member).send("PUT", PATH, {"newPassword": NEW})
    assert response.status_code == 204
    assert log_in(member, NEW) == 200
    member.refresh_from_db()
    again = JSONClient(member).send("PUT", PATH, {"newPassword": "third-horse-11"})
    assert again.status_code == 400


def test_guessing_the_current_password_is_limited(
    free_member: Member, client: JSONClient
) -> None:
    for _ in range(10):
        assert change(client, current="wrong-battery-8").status_code == 400
    assert change(client).status_code == 429
    assert log_in(free_member, PASSWORD) == 429


@pytest.mark.django_db(transaction=True)
def test_other_sessions_of_the_member_end(
    free_member: Member, other_member: Member
) -> None:
    here, phone, laptop = [JSONClient(free_member) for _ in range(3)]
    bystander = JSONClient(other_member)
    for client in (here, phone, laptop):
        client.get_json(ME)
    assert change(here).status_code == 204
    clients = (phone, laptop, here, bystander)
    statuses = [each.send("GET", ME).status_code for each in clients]
    assert statuses == [401, 401, 200, 200]
    assert AuthSession.objects.filter(member=free_member).count() == 1


@pytest.mark.django_db(transaction=True)
def test_session_by_cookie_gets_a_new_key(free_member: Member) -> None:
    browser = JSONClient()
    browser.cookies["sessionid"] = old = create_session(free_member)[0]
    response = change(browser)
    assert response.status_code == 204
    assert response.cookies["sessionid"].value != old
    assert response.cookies["sessionid"]["httponly"] is True
    assert browser.send("GET", ME).status_code == 200
    thief = JSONClient()
    thief.cookies["sessionid"] = old
    assert thief.send("GET", ME).status_code == 401


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("by_cookie", [True, False])
def test_administrator_stays_in_the_admin(
    administrator: Member, by_cookie: bool
) -> None:
    # Django's admin ends sessions whose password hash is not the member's.
    browser = JSONClient()
    key = create_session(administrator)[0]
    browser.cookies["sessionid"] = key
    assert browser.get("/admin/").status_code == 200
    if by_cookie:
        assert change(browser).status_code == 204
    else:
        phone = JSONClient()
        phone.use_token(key)
        assert change(phone).status_code == 204
    assert browser.get("/admin/").status_code == 200
