"""Reading and changing the own profile."""

from datetime import datetime
from typing import Any

import pytest

from accounts.models import AuthSession, Member
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.profiles import PROFILE, change_profile

VERIFY = "/api/auth/verify-password"


def test_profile_is_the_whole_member(
    premium_member: Member, client_of: ClientOf
) -> None:
    premium_member.points = 30
    premium_member.idp_picture = "https://pictures.example/a.png"
    premium_member.plan_product = "premium_monthly"
    premium_member.plan_auto_renew = True
    premium_member.save()
    profile = client_of(premium_member).get_json(PROFILE)
    assert datetime.fromisoformat(profile.pop("createdAt")).tzinfo is not None
    expires_at = datetime.fromisoformat(profile.pop("planExpiresAt"))
    assert expires_at == premium_member.plan_expires_at
    assert profile == {
        "id": premium_member.pk,
        "loginId": premium_member.login_id,
        "displayName": premium_member.display_name,
        "email": premium_member.email,
        "emailVerified": False,
        "pendingEmail": None,
        "locale": "en",
        "provider": "LOCAL",
        "role": "MEMBER",
        "status": "ACTIVE",
        "plan": "PREMIUM",
        "planProduct": "premium_monthly",
        "planAutoRenew": True,
        "points": 30,
        "idpPicture": "https://pictures.example/a.png",
        "profileImage": None,
        "secondFactor": False,
    }


@pytest.mark.django_db(transaction=True)
def test_new_display_name_reaches_every_live_session_and_its_row(
    free_member: Member, client_of: ClientOf
) -> None:
    phone, laptop = client_of(free_member), client_of(free_member)
    laptop.get_json("/api/auth/session")
    response = change_profile(phone, displayName="이름 바꿈", email="new@example.com")
    assert response.status_code == 200
    assert response.data["displayName"] == "이름 바꿈"
    assert response.data["email"] == "new@example.com"
    assert laptop.get_json("/api/auth/session")["displayName"] == "이름 바꿈"
    names = AuthSession.objects.values_list("display_name", flat=True)
    assert set(names) == {"이름 바꿈"}


@pytest.mark.parametrize("name", ["displayName", "email"])
def test_what_is_left_out_stays(
    free_member: Member, client_of: ClientOf, name: str
) -> None:
    client = client_of(free_member)
    before = client.get_json(PROFILE)
    value = {"displayName": "New name", "email": "new@example.com"}[name]
    assert change_profile(client, **{name: value}).data == before | {name: value}


def test_empty_change_changes_nothing(free_member: Member, client_of: ClientOf) -> None:
    client = client_of(free_member)
    before = client.get_json(PROFILE)
    assert change_profile(client).data == before


def test_email_need_not_be_unique(
    free_member: Member, other_member: Member, client_of: ClientOf
) -> None:
    response = change_profile(client_of(free_member), email=other_member.email)
    assert response.status_code == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"displayName": ""},
        {"displayName": None},
        {"displayName": "n" * 101},
        {"displayName": 5},
        {"displayName": "a\x00b"},
        {"displayName": "a\x1b[31mb"},
        {"displayName": "a\ud800b"},
        {"email": "nothing"},
        {"email": ""},
        {"email": None},
        {"email": "a@b.example\n.evil"},
    ],
)
def test_malformed_change_is_refused_and_named(
    free_member: Member, client_of: ClientOf, fields: dict[str, Any]
) -> None:
    response = change_profile(client_of(free_member), **fields)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == [*fields]


def test_profile_holds_a_hundred_characters_of_any_script(
    free_member: Member, client_of: ClientOf
) -> None:
    name = "가" * 98 + "👩" + "é"
    assert (
        change_profile(client_of(free_member), displayName=name).data["displayName"]
        == name
    )


def test_members_cannot_promote_themselves(
    free_member: Member, client_of: ClientOf
) -> None:
    client = client_of(free_member)
    before = client.get_json(PROFILE)
    fields: dict[str, Any] = {
        "id": 1,
        "loginId": "admin",
        "role": "ADMIN",
        "status": "SUSPENDED",
        "plan": "PREMIUM",
        "planExpiresAt": "2099-01-01T00:00:00Z",
        "planProduct": "premium_yearly",
        "planAutoRenew": True,
        "points": 1000,
        "provider": "IDP",
        "idpId": "subject-1",
        "idp_id": "subject-1",
        "password": "another-horse-9",
        "idpPicture": "https://evil.example/a.png",
        "profileImage": "x",
    }
    assert change_profile(client, **fields).data == before
    free_member.refresh_from_db()
    assert free_member.check_password(PASSWORD)
    assert free_member.idp_id is None


def test_members_change_only_themselves(
    free_member: Member, other_member: Member, client_of: ClientOf
) -> None:
    change_profile(client_of(free_member), id=other_member.pk, displayName="Mine")
    other_member.refresh_from_db()
    assert other_member.display_name == "Somebody else"


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_profile_needs_a_login(anonymous: JSONClient, method: str) -> None:
    assert anonymous.send(method, PROFILE, {}).status_code == 401


# --- Re-authentication ----------------------------------------------------------


def test_right_password_is_verified(free_member: Member, client_of: ClientOf) -> None:
    response = client_of(free_member).send("POST", VERIFY, {"password": PASSWORD})
    assert (response.status_code, response.data) == (200, {"verified": True})


@pytest.mark.parametrize("password", ["wrong-battery-8", PASSWORD + " ", "x"])
def test_wrong_password_is_not_verified(
    free_member: Member, client_of: ClientOf, password: str
) -> None:
    response = client_of(free_member).send("POST", VERIFY, {"password": password})
    assert (response.status_code, response.data["code"]) == (400, "PASSWORD_MISMATCH")


def test_identity_provider_account_has_no_password_to_verify(
    client_of: ClientOf, db: None
) -> None:
    member = make_member(provider="IDP")
    member.set_unusable_password()
    member.save()
    response = client_of(member).send("POST", VERIFY, {"password": PASSWORD})
    assert response.status_code == 400
    assert response.data["code"] in {"PASSWORD_MISMATCH", "PASSWORD_NOT_SUPPORTED"}


def test_guessing_in_a_stolen_session_is_limited(
    free_member: Member, client_of: ClientOf
) -> None:
    client = client_of(free_member)
    for _ in range(10):
        response = client.send("POST", VERIFY, {"password": "wrong-battery-8"})
        assert response.status_code == 400
    response = client.send("POST", VERIFY, {"password": PASSWORD})
    assert response.status_code == 429
    assert int(response.headers["Retry-After"]) > 0


@pytest.mark.parametrize("body", [{}, {"password": None}, {"password": 1}, []])
def test_malformed_password_is_a_validation_error(
    free_member: Member, client_of: ClientOf, body: Any
) -> None:
    response = client_of(free_member).send("POST", VERIFY, body)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
