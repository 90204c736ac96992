"""Login by identity provider: which accounts are linked by their address."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import AuthSession, Member
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.id_tokens import EMAIL, PICTURE, Vouch, log_in, make_idp_member
from tests.support.problems import assert_problem
from tests.support.sessions import stale_client


def test_verified_email_links_a_local_account(vouch: Vouch) -> None:
    # Letter case does not matter.
    member = make_member(email=EMAIL.title(), display_name="As it was")
    vouch()
    response = log_in()
    assert response.data["member"]["id"] == member.pk
    assert (response.data["created"], response.data["linked"]) == (False, True)
    assert response.data["member"]["provider"] == "LOCAL"
    assert response.data["member"]["displayName"] == "As it was"
    assert response.data["member"]["idpPicture"] == PICTURE
    member.refresh_from_db()
    assert member.idp_id == "subject-1"


@pytest.mark.parametrize("is_verified", [False, True])
def test_linking_keeps_the_password_of_a_verified_address_only(
    vouch: Vouch, is_verified: bool
) -> None:
    # A stranger may have registered an address that was never verified.
    member = make_member(email=EMAIL, verified_email=EMAIL if is_verified else "")
    session = JSONClient(member)
    vouch()
    assert log_in().data["linked"] is True
    member.refresh_from_db()
    assert member.has_usable_password() is is_verified
    assert session.get("/api/auth/session").status_code == 401


def test_new_address_links_once_it_is_verified(vouch: Vouch) -> None:
    member = make_member(email="old@example.com")
    Member.objects.filter(pk=member.pk).update(email=EMAIL)
    vouch()
    assert log_in().data["code"] == "LINKING_REFUSED"
    Member.objects.filter(pk=member.pk).update(verified_email=EMAIL)
    assert log_in().data["linked"] is True


def test_subject_is_backfilled_for_an_older_idp_account(vouch: Vouch) -> None:
    member = make_idp_member(idp_id=None)
    vouch()
    response = log_in()
    assert (response.data["member"]["id"], response.data["linked"]) == (member.pk, True)
    member.refresh_from_db()
    assert (member.idp_id, member.provider) == ("subject-1", "IDP")
    assert log_in().data["linked"] is False


def test_local_account_is_linked_first_and_then_the_oldest(vouch: Vouch) -> None:
    make_idp_member(idp_id=None)
    first_local = make_member(email=EMAIL)
    make_member(email=EMAIL)
    vouch()
    assert log_in().data["member"]["id"] == first_local.pk


# The member's fields and the claims of the token.
STRANGERS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    *(
        ({"email": ours}, {"email": theirs})
        for ours, theirs in (
            ("mike@example.com", "mıke@example.com"),
            ("mıke@example.com", "mike@example.com"),
            ("mıke@example.com", "mıke@example.com"),
            ("siteadmin@example.com", "ſiteadmin@example.com"),
            ("ſiteadmin@example.com", "siteadmin@example.com"),
            ("kim@example.com", "\u212aim@example.com"),
            ("mike@example.com", "ｍｉｋｅ@example.com"),
            ("fiona@example.com", "ﬁona@example.com"),
            ("mike@example.com", "mike@ｅxample.com"),
            ("mike@fass.example", "mike@faß.example"),
            ("mike@faß.example", "mike@fass.example"),
            ("", None),
        )
    ),
    ({"email": EMAIL, "idp_id": "subject-other"}, {}),
    *(
        ({"email": EMAIL}, {"email_verified": verified})
        for verified in ("false", "", "no", "1", False, 0, None, ["true"])
    ),
]


@pytest.mark.parametrize(("fields", "claims"), STRANGERS)
def test_address_that_is_not_proved_to_be_the_members_links_nothing(
    vouch: Vouch, fields: dict[str, Any], claims: dict[str, Any]
) -> None:
    local = make_member(**fields)
    client = JSONClient(local)
    vouch(**claims)
    response = log_in()
    assert (response.data["created"], response.data["linked"]) == (True, False)
    assert response.data["member"]["id"] != local.pk
    local.refresh_from_db()
    assert local.has_usable_password()
    assert local.idp_id == fields.get("idp_id")
    assert client.send("GET", "/api/auth/session").status_code == 200


@pytest.mark.parametrize("verified", ["true", "TRUE", True])
def test_verified_may_be_a_string_or_a_boolean(vouch: Vouch, verified: Any) -> None:
    make_member(email=EMAIL)
    vouch(email_verified=verified)
    assert log_in().data["linked"] is True


@pytest.mark.django_db(transaction=True)
def test_linking_ends_the_password_and_all_other_sessions(vouch: Vouch) -> None:
    # A person who registered another's address first must not share the account.
    member = make_member(email=EMAIL)
    squatters = [JSONClient(member), JSONClient(member)]
    for squatter in squatters:
        squatter.get_json("/api/auth/session")
    vouch()
    owner = JSONClient()
    owner.use_token(log_in().data["token"])
    log_in()
    # A later login ends no session.
    assert owner.get_json("/api/auth/session")["id"] == member.pk
    for squatter in squatters:
        assert squatter.send("GET", "/api/auth/session").status_code == 401
    body = {"loginId": member.login_id, "password": PASSWORD}
    assert JSONClient().send("POST", "/api/auth/login", body).status_code == 401
    assert AuthSession.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_session_that_came_by_cookie_ends_at_the_login(
    vouch: Vouch, other_member: Member
) -> None:
    planted = JSONClient(other_member).token
    client = JSONClient()
    client.cookies["sessionid"] = planted
    vouch()
    assert log_in(client).data["token"] != planted
    client.use_token(planted)
    assert client.send("GET", "/api/auth/session").status_code == 401


def change_email(client: JSONClient, email: str = EMAIL) -> None:
    response = client.send("PUT", "/api/auth/profile", {"email": email})
    assert response.status_code == 200


def assert_linking_refused(member: Member) -> None:
    """Log in by identity; nothing of the member changes, and no session begins."""
    before = Member.objects.values().get(pk=member.pk)
    sessions, members = AuthSession.objects.count(), Member.objects.count()
    response = log_in()
    assert_problem(response, 403, "LINKING_REFUSED")
    assert "sessionid" not in response.cookies
    assert Member.objects.values().get(pk=member.pk) == before
    counts = (AuthSession.objects.count(), Member.objects.count())
    assert counts == (sessions, members)


# Who sends the address, in this order, and whether it links then. A stolen session could
# have changed it.
WRITERS: list[tuple[list[str], bool]] = [
    (["stale"], False),
    (["fresh"], True),
    (["stale", "fresh"], True),
    (["fresh other", "stale"], False),
]


@pytest.mark.parametrize(("writers", "is_linked"), WRITERS)
def test_address_of_a_fresh_session_links_at_once_and_of_a_stale_one_never(
    vouch: Vouch, free_member: Member, writers: list[str], is_linked: bool
) -> None:
    for writer in writers:
        is_stale = writer == "stale"
        client = stale_client(free_member) if is_stale else JSONClient(free_member)
        change_email(client, "o@example.com" if "other" in writer else EMAIL)
    vouch()
    if is_linked:
        assert log_in().data["linked"] is True
        return
    assert_linking_refused(free_member)
    with time_machine.travel(timezone.now() + timedelta(days=400)):
        assert_linking_refused(free_member)


def test_address_that_was_sent_again_is_not_new(
    vouch: Vouch, free_member: Member
) -> None:
    change_email(JSONClient(free_member), free_member.email)
    vouch(email=free_member.email)
    assert log_in().data["linked"] is True


def test_stale_copy_of_the_member_does_not_hide_a_new_address(
    vouch: Vouch, free_member: Member
) -> None:
    change_email(stale_client(free_member))
    free_member.email = EMAIL
    free_member.save()
    vouch()
    assert_linking_refused(Member.objects.get())


def test_administrator_is_never_linked(vouch: Vouch) -> None:
    vouch()
    assert_linking_refused(make_member(role="ADMIN", email=EMAIL))
    assert_linking_refused(make_idp_member(role="ADMIN", idp_id=None))
    linked = make_member(role="ADMIN", idp_id="subject-1")
    assert log_in().data["member"]["id"] == linked.pk


def test_account_that_may_be_linked_is_found_beside_one_that_may_not(
    vouch: Vouch, free_member: Member
) -> None:
    make_member(role="ADMIN", email=EMAIL)
    change_email(stale_client(free_member))
    owner = make_member(email=EMAIL)
    vouch()
    assert log_in().data["member"]["id"] == owner.pk


def test_address_that_an_administrator_wrote_links_nothing_until_it_is_confirmed(
    vouch: Vouch, free_member: Member, administrator: Member
) -> None:
    staff, path = JSONClient(administrator), f"/api/users/{free_member.pk}"
    assert staff.send("PUT", path, {"email": EMAIL}).status_code == 200
    vouch()
    assert_linking_refused(free_member)
    # The same again, by the administrator, confirms nothing.
    assert staff.send("PUT", path, {"email": EMAIL}).status_code == 200
    assert_linking_refused(free_member)
    change_email(stale_client(free_member))
    assert_linking_refused(free_member)
    change_email(JSONClient(free_member))
    assert log_in().data["linked"] is True


def test_account_that_an_administrator_made_is_linked(
    vouch: Vouch, administrator: Member
) -> None:
    body = {"loginId": "minji", "password": PASSWORD, "displayName": "M"}
    made = JSONClient(administrator).send("POST", "/api/users", body | {"email": EMAIL})
    vouch()
    assert log_in().data["member"]["id"] == made.data["id"]
