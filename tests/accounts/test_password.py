"""Changing the password: the checks before it, the sessions after it."""

from typing import Any

import pytest

from accounts.models import AuthSession, Member
from accounts.sessions import create_session
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member

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
    free_member: Member, client_of: ClientOf
) -> None:
    response = change(client_of(free_member))
    assert (response.status_code, response.content) == (204, b"")
    assert log_in(free_member, NEW) == 200
    assert log_in(free_member, PASSWORD) == 401
    free_member.refresh_from_db()
    assert NEW not in free_member.password


def test_wrong_current_password_is_refused(
    free_member: Member, client_of: ClientOf
) -> None:
    response = change(client_of(free_member), current="wrong-battery-8")
    assert (response.status_code, response.data["code"]) == (400, "PASSWORD_MISMATCH")
    assert log_in(free_member, PASSWORD) == 200


def test_unchanged_password_is_refused(
    free_member: Member, client_of: ClientOf
) -> None:
    response = change(client_of(free_member), new=PASSWORD)
    assert (response.status_code, response.data["code"]) == (400, "PASSWORD_UNCHANGED")


def test_wrong_current_password_goes_before_an_unchanged_one(
    free_member: Member, client_of: ClientOf
) -> None:
    # Otherwise the response would reveal the password to a thief of the session.
    response = change(client_of(free_member), new="guess-9", current="guess-9")
    assert response.data["code"] == "PASSWORD_MISMATCH"


@pytest.mark.parametrize("new", ["short-1", "password123", "8306417259461"])
def test_weak_new_password_is_refused(
    free_member: Member, client_of: ClientOf, new: str
) -> None:
    response = change(client_of(free_member), new=new)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert {error["field"] for error in response.data["errors"]} == {"newPassword"}
    assert log_in(free_member, PASSWORD) == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"newPassword": NEW},
        {"currentPassword": PASSWORD},
        {"currentPassword": PASSWORD, "newPassword": None},
        {"currentPassword": PASSWORD, "newPassword": ""},
        {"currentPassword": PASSWORD, "newPassword": 7},
        {"currentPassword": None, "newPassword": NEW},
        {"currentPassword": 7, "newPassword": NEW},
    ],
)
def test_malformed_change_is_a_validation_error(
    free_member: Member, client_of: ClientOf, body: dict[str, Any]
) -> None:
    response = client_of(free_member).send("PUT", PATH, body)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert log_in(free_member, PASSWORD) == 200


@pytest.mark.parametrize("current", [PASSWORD, "", None])
def test_identity_provider_account_has_no_password_to_change(
    client_of: ClientOf, db: None, current: str | None
) -> None:
    member = make_member(provider="IDP", idp_id="subject-1")
    member.set_unusable_password()
    member.save()
    body = {"newPassword": NEW} | ({"currentPassword": current} if current else {})
    response = client_of(member).send("PUT", PATH, body)
    assert response.status_code == 400
    assert response.data["code"] == "PASSWORD_NOT_SUPPORTED"


def test_linked_local_member_sets_a_new_password_without_the_old_one(
    client_of: ClientOf, db: None
) -> None:
    member = make_member(idp_id="subject-1")
    member.set_unusable_password()
    member.save()
    response = client_of(member).send("PUT", PATH, {"newPassword": NEW})
    assert response.status_code == 204
    assert log_in(member, NEW) == 200
    member.refresh_from_db()
    again = client_of(member).send("PUT", PATH, {"newPassword": "third-horse-11"})
    assert again.status_code == 400


def test_guessing_the_current_password_is_limited(
    free_member: Member, client_of: ClientOf
) -> None:
    client = client_of(free_member)
    for _ in range(10):
        assert change(client, current="wrong-battery-8").status_code == 400
    assert change(client).status_code == 429
    assert log_in(free_member, PASSWORD) == 429


def test_password_change_needs_a_login(anonymous: JSONClient) -> None:
    assert change(anonymous).status_code == 401


# --- Sessions -------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_other_sessions_end(free_member: Member, client_of: ClientOf) -> None:
    here, phone, laptop = [client_of(free_member) for _ in range(3)]
    for client in (here, phone, laptop):
        client.get_json(ME)
    assert change(here).status_code == 204
    assert phone.send("GET", ME).status_code == 401
    assert laptop.send("GET", ME).status_code == 401
    assert here.send("GET", ME).status_code == 200
    assert AuthSession.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_sessions_of_other_members_stay(
    free_member: Member, other_member: Member, client_of: ClientOf
) -> None:
    bystander = client_of(other_member)
    assert change(client_of(free_member)).status_code == 204
    assert bystander.send("GET", ME).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_refused_change_ends_no_session(
    free_member: Member, client_of: ClientOf
) -> None:
    here, phone = client_of(free_member), client_of(free_member)
    assert change(here, new="1").status_code == 400
    assert phone.send("GET", ME).status_code == 200


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
