"""Reading and changing the own profile."""

from datetime import datetime
from typing import Any

import pytest

from accounts.models import AuthSession, Member
from tests.conftest import ClientOf
from tests.support.accounts import PROFILE, change_profile
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.problems import assert_invalid, assert_problem

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
        "suspendedUntil": None,
        "suspensionReason": None,
        "silencedUntil": None,
        "silenceReason": None,
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


@pytest.mark.parametrize(
    "fields", [{}, {"displayName": "가" * 98 + "👩é"}, {"email": "new@example.com"}]
)
def test_what_is_left_out_stays(client: JSONClient, fields: dict[str, str]) -> None:
    before = client.get_json(PROFILE)
    assert change_profile(client, **fields).data == before | fields


def test_email_need_not_be_unique(other_member: Member, client: JSONClient) -> None:
    response = change_profile(client, email=other_member.email)
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
    client: JSONClient, fields: dict[str, Any]
) -> None:
    response = change_profile(client, **fields)
    assert_problem(response, 400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == [*fields]


def test_members_cannot_promote_themselves(
    free_member: Member, client: JSONClient
) -> None:
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
        "idpPicture": "https://evil.example/a.png",
        "profileImage": "x",
    }
    assert change_profile(client, **fields).data == before
    unknown = {"idpId": "subject-1", "idp_id": "s", "password": "another-horse-9"}
    assert_invalid(change_profile(client, **unknown), *unknown)
    free_member.refresh_from_db()
    assert free_member.check_password(PASSWORD)
    assert free_member.idp_id is None


def test_members_change_only_themselves(
    other_member: Member, client: JSONClient
) -> None:
    change_profile(client, id=other_member.pk, displayName="Mine")
    other_member.refresh_from_db()
    assert other_member.display_name == "Somebody else"


def test_right_password_is_verified(client: JSONClient) -> None:
    response = client.send("POST", VERIFY, {"password": PASSWORD})
    assert (response.status_code, response.data) == (200, {"verified": True})


@pytest.mark.parametrize("password", ["wrong-battery-8", PASSWORD + " ", "x"])
@pytest.mark.parametrize("provider", ["LOCAL", "IDP"])
def test_wrong_password_is_not_verified(password: str, provider: str) -> None:
    own = PASSWORD if provider == "LOCAL" else None
    client = JSONClient(make_member(provider=provider, password=own))
    response = client.send("POST", VERIFY, {"password": password})
    assert_problem(response, 400, "PASSWORD_MISMATCH")


def test_guessing_in_a_stolen_session_is_limited(client: JSONClient) -> None:
    for _ in range(10):
        response = client.send("POST", VERIFY, {"password": "wrong-battery-8"})
        assert response.status_code == 400
    response = client.send("POST", VERIFY, {"password": PASSWORD})
    assert response.status_code == 429
    assert int(response.headers["Retry-After"]) > 0


@pytest.mark.parametrize("body", [{}, {"password": None}, {"password": 1}, []])
def test_malformed_password_is_a_validation_error(
    client: JSONClient, body: Any
) -> None:
    assert_problem(client.send("POST", VERIFY, body), 400, "VALIDATION_ERROR")
