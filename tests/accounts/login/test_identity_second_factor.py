"""An identity is linked after the second factor, and judged anew then (spec 2.4)."""

from typing import Any

import pytest

from accounts.models import (
    AuthSession,
    LinkedIdentity,
    LoginTicket,
    Member,
    SecurityLogEntry,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.id_tokens import EMAIL, PICTURE, Vouch, log_in, make_id_token
from tests.support.problems import assert_problem
from tests.support.second_factors import (
    code_now,
    complete_login,
    give_totp,
    wrong_code,
)
from tests.support.sessions import status_of

STEP = ("SECOND_FACTOR_REQUIRED", "ticket", "methods", "expiresAt")
SIGNUP_SETTING = "/api/admin/signup-enabled"
UNPROVED = (*STEP, "addressProved")


@pytest.fixture
def owner(db: None) -> Member:
    """Return a member with the identity's address, verified, and a second factor."""
    member = make_member(email=EMAIL, verified_email=EMAIL)
    give_totp(member)
    return member


def get_state(member: Member) -> Any:
    row = Member.objects.values("idp_id", "idp_picture", "password").get(pk=member.pk)
    sessions = AuthSession.objects.filter(member=member).count()
    return (
        row,
        sessions,
        SecurityLogEntry.objects.filter(kind="IDENTITY_LINKED").count(),
    )


def test_nothing_changes_before_the_code(owner: Member, vouch: Vouch) -> None:
    session = JSONClient(owner)
    before = get_state(owner)
    vouch()
    response = log_in()
    assert_problem(response, 401, *STEP)
    assert get_state(owner) == before
    assert not LinkedIdentity.objects.exists()
    assert_problem(
        complete_login(response.data["ticket"], wrong_code()), 400, "CODE_INVALID"
    )
    assert get_state(owner) == before
    done = complete_login(response.data["ticket"], code_now())
    assert (done.data["created"], done.data["linked"]) == (False, True)
    assert (status_of(session), done.data["member"]["idpPicture"]) == (401, PICTURE)
    assert LinkedIdentity.objects.get().subject == "subject-1"


def test_sealed_identity_does_not_stand_in_the_ticket(
    owner: Member, vouch: Vouch
) -> None:
    vouch()
    log_in()
    sealed = bytes(LoginTicket.objects.get().sealed_identity or b"")
    assert sealed
    assert b"subject-1" not in sealed


CHANGES: list[dict[str, Any]] = [
    {"email": "another@example.com", "verified_email": ""},
    {"role": "ADMIN"},
    {"idp_id": "another-subject"},
    {"verified_email": "", "email_changed_at": "2026-01-01T00:00Z"},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_link_is_judged_anew_after_the_code(
    owner: Member, vouch: Vouch, change: dict[str, Any]
) -> None:
    vouch()
    ticket = log_in().data["ticket"]
    Member.objects.filter(pk=owner.pk).update(**change)
    before = get_state(owner)
    assert_problem(complete_login(ticket, code_now()), 403, "LINKING_REFUSED")
    assert get_state(owner) == before


def test_subject_that_got_a_member_meanwhile_is_not_linked(
    owner: Member, vouch: Vouch
) -> None:
    vouch()
    ticket = log_in().data["ticket"]
    other = make_member(idp_id="subject-1")
    assert_problem(complete_login(ticket, code_now()), 403, "LINKING_REFUSED")
    assert log_in().data["member"]["id"] == other.pk


def test_identity_that_was_removed_meanwhile_is_not_linked(
    owner: Member, vouch: Vouch
) -> None:
    vouch()
    done = complete_login(log_in().data["ticket"], code_now(steps=-1))
    client = JSONClient()
    client.use_token(done.data["token"])
    ticket = log_in().data["ticket"]
    assert client.send("DELETE", "/api/auth/identities/google").status_code == 204
    assert_problem(complete_login(ticket, code_now()), 403, "LINKING_REFUSED")


def test_squatter_with_a_factor_neither_keeps_the_owner_out_nor_lets_them_in(
    vouch: Vouch,
) -> None:
    squatter = make_member(email=EMAIL)
    give_totp(squatter)
    vouch()
    response = log_in()
    assert_problem(response, 401, *UNPROVED)
    assert response.data["addressProved"] is False
    own = log_in(link=False)
    assert (own.status_code, own.data["created"]) == (200, True)
    assert own.data["member"]["id"] != squatter.pk
    assert log_in().data["member"]["id"] == own.data["member"]["id"]
    # The squatter's code links nothing any more.
    late = complete_login(response.data["ticket"], code_now())
    assert_problem(late, 403, "LINKING_REFUSED")


def test_account_of_its_own_counts_as_a_sign_up(
    vouch: Vouch, administrator: Member
) -> None:
    make_member(email=EMAIL)
    JSONClient(administrator).change_json("PUT", SIGNUP_SETTING, {"enabled": False})
    vouch()
    assert_problem(log_in(link=False), 403, "SIGNUP_DISABLED")
    assert Member.objects.exclude(pk=administrator.pk).count() == 1
    assert log_in().data["linked"] is True


def test_known_subject_logs_in_whatever_link_says(vouch: Vouch) -> None:
    member = make_member(email=EMAIL, idp_id="subject-1")
    vouch()
    for link in (True, False, None):
        assert log_in(link=link).data["member"]["id"] == member.pk


@pytest.mark.parametrize("link", ["yes", 1, "false", []])
def test_link_is_a_boolean(vouch: Vouch, link: Any) -> None:
    vouch()
    response = log_in(token=make_id_token(), link=link)
    assert (response.status_code, response.data["errors"][0]["field"]) == (400, "link")
    assert not Member.objects.exists()
