"""Login by identity provider: create a member, or find the one of the subject."""

from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from accounts.models import Member
from accounts.signup.setting import set_signup_enabled
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.id_tokens import EMAIL, PICTURE, Vouch, log_in, make_idp_member
from tests.support.problems import assert_problem


def test_first_login_creates_a_member_and_a_session(vouch: Vouch) -> None:
    vouch()
    response = log_in()
    assert response.status_code == 200
    assert set(response.data) == {"token", "expiresAt", "member", "created", "linked"}
    assert (response.data["created"], response.data["linked"]) == (True, False)
    member = response.data["member"]
    assert (member["provider"], member["role"]) == ("IDP", "MEMBER")
    assert (member["displayName"], member["email"]) == ("Kim Minji", EMAIL)
    assert member["idpPicture"] == PICTURE
    assert response.cookies["sessionid"].value == response.data["token"]
    assert not Member.objects.get().has_usable_password()
    client = JSONClient()
    client.use_token(response.data["token"])
    assert client.get_json("/api/auth/session")["id"] == member["id"]


def test_token_is_sent_to_the_providers_check(
    vouch: Vouch, httpserver: HTTPServer
) -> None:
    token = vouch()
    log_in(token=token)
    request, _ = httpserver.log[-1]
    assert request.args.to_dict() == {"id_token": token}


@pytest.mark.parametrize(
    ("claims", "shown"),
    [
        ({"name": None}, "minji"),
        ({"name": None, "email": None}, "Member"),
        ({"name": "n" * 300}, "n" * 100),
        ({"name": 7}, "7"),
        ({"name": ["x"]}, "minji"),
    ],
)
def test_new_member_always_has_a_display_name(
    vouch: Vouch, claims: dict[str, Any], shown: str
) -> None:
    vouch(**claims)
    assert log_in().data["member"]["displayName"] == shown


def test_creating_counts_as_sign_up_for_the_switch(vouch: Vouch) -> None:
    vouch()
    set_signup_enabled(enabled=False)
    assert_problem(log_in(), 403, "SIGNUP_DISABLED")
    assert not Member.objects.exists()


def test_closed_sign_up_does_not_prevent_logins(vouch: Vouch) -> None:
    set_signup_enabled(enabled=False)
    make_idp_member(idp_id="subject-1")
    local = make_member(email="local@example.com")
    vouch()
    assert log_in().status_code == 200
    vouch(sub="subject-2", email=local.email)
    assert log_in().data["linked"] is True


def test_second_login_finds_the_member_by_subject(vouch: Vouch) -> None:
    vouch()
    first = log_in().data
    vouch(email="new-address@example.com", name="New Name")
    second = log_in().data
    assert second["member"]["id"] == first["member"]["id"]
    assert (second["created"], second["linked"]) == (False, False)
    assert second["member"]["email"] == EMAIL
    assert second["member"]["displayName"] == "Kim Minji"
    assert second["token"] != first["token"]


def test_subject_takes_precedence_over_email(vouch: Vouch) -> None:
    # The email address may belong to another person by now.
    make_member(email=EMAIL)
    mine = make_idp_member(idp_id="subject-1", email="old@example.com")
    vouch()
    assert log_in().data["member"]["id"] == mine.pk


@pytest.mark.parametrize("picture", ["https://pictures.example/newer.png", None])
def test_picture_changes_with_the_providers_but_never_goes(
    vouch: Vouch, picture: str | None
) -> None:
    vouch()
    log_in()
    vouch(picture=picture)
    assert log_in().data["member"]["idpPicture"] == (picture or PICTURE)
    assert Member.objects.get().idp_picture == (picture or PICTURE)


@pytest.mark.parametrize(
    "picture",
    [
        None,
        "",
        "http://pictures.example/a.png",
        "javascript:alert(1)",
        "data:image/png;base64,AAAA",
        "//pictures.example/a.png",
        "https://" + "x" * 2048,
        5,
    ],
)
def test_only_a_short_https_picture_is_stored(vouch: Vouch, picture: Any) -> None:
    vouch(picture=picture)
    assert log_in().data["member"]["idpPicture"] is None


@pytest.mark.parametrize("idp_id", ["subject-1", None])
def test_suspended_member_is_refused_and_not_changed(
    vouch: Vouch, idp_id: str | None
) -> None:
    member = make_member(email=EMAIL, idp_id=idp_id, status="SUSPENDED")
    vouch()
    assert_problem(log_in(), 403, "MEMBER_SUSPENDED")
    member.refresh_from_db()
    assert (member.idp_id, member.idp_picture) == (idp_id, "")
    assert member.has_usable_password()
    assert Member.objects.count() == 1
