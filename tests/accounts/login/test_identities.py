"""Identities of the caller: listed, linked from within, removed (spec 2.18)."""

from pathlib import Path
from typing import Any

import pytest

from accounts.models import (
    AuthSession,
    LinkedIdentity,
    Member,
    RemovedIdentity,
    SecurityLogEntry,
)
from tests.support.accounts import PROFILE
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.id_tokens import EMAIL, Vouch, log_in, make_id_token, make_idp_member
from tests.support.mail import read_waiting_mails
from tests.support.problems import assert_invalid, assert_problem
from tests.support.second_factors import STALE
from tests.support.sessions import ME, stale_client, status_of

IDENTITIES = "/api/auth/identities"
GOOGLE = f"{IDENTITIES}/google"


def link(client: JSONClient, **fields: Any) -> Any:
    return client.send("POST", IDENTITIES, {"idToken": make_id_token()} | fields)


@pytest.fixture
def linked(client: JSONClient, vouch: Vouch) -> JSONClient:
    """Return a client whose member has linked an identity from within."""
    vouch(email="elsewhere@example.com")
    assert link(client).status_code == 201
    return client


def test_member_links_lists_uses_and_removes_an_identity(
    client: JSONClient, vouch: Vouch
) -> None:
    assert client.send("GET", IDENTITIES).data == []
    vouch(email="elsewhere@example.com")
    created = link(client)
    assert created.status_code == 201
    assert created.data["provider"] == "google"
    assert created.data["lastUsedAt"] is None
    assert log_in().data["member"]["loginId"] == client.get_json(PROFILE)["loginId"]
    (listed,) = client.send("GET", IDENTITIES).data
    assert listed["linkedAt"] == created.data["linkedAt"]
    assert listed["lastUsedAt"] is not None
    assert client.send("DELETE", GOOGLE).status_code == 204
    assert client.send("GET", IDENTITIES).data == []
    assert_problem(client.send("DELETE", GOOGLE), 404, "NOT_FOUND")
    assert client.member
    kinds = SecurityLogEntry.objects.filter(member=client.member)
    events = kinds.exclude(kind="LOGIN").order_by("id").values_list("kind", "detail")
    assert list(events) == [
        ("IDENTITY_LINKED", "Google"),
        ("IDENTITY_REMOVED", "Google"),
    ]


@pytest.mark.parametrize(("method", "path"), [("POST", IDENTITIES), ("DELETE", GOOGLE)])
def test_changes_of_identities_ask_for_fresh_authentication(
    free_member: Member, vouch: Vouch, method: str, path: str
) -> None:
    vouch()
    response = stale_client(free_member).send(method, path)
    assert_problem(response, 403, *STALE)
    assert not LinkedIdentity.objects.exists()


def test_identity_of_another_member_is_not_linked(
    client: JSONClient, vouch: Vouch
) -> None:
    other = make_idp_member(idp_id="subject-1")
    vouch()
    assert_problem(link(client), 409, "DUPLICATE")
    assert client.send("GET", IDENTITIES).data == []
    assert log_in().data["member"]["id"] == other.pk


def test_second_identity_of_a_provider_is_refused(
    linked: JSONClient, vouch: Vouch
) -> None:
    vouch(sub="subject-2")
    assert_problem(link(linked), 409, "DUPLICATE")
    assert LinkedIdentity.objects.get().subject == "subject-1"


def test_last_way_in_stays(vouch: Vouch) -> None:
    vouch()
    client = JSONClient()
    client.use_token(log_in().data["token"])
    assert_problem(client.send("DELETE", GOOGLE), 409, "LAST_CREDENTIAL")
    assert log_in().status_code == 200


@pytest.mark.parametrize("path", [f"{IDENTITIES}/naver", f"{IDENTITIES}/Google"])
def test_unknown_provider_is_not_found(linked: JSONClient, path: str) -> None:
    assert_problem(linked.send("DELETE", path), 404, "NOT_FOUND")


def test_sessions_that_began_with_a_removed_identity_end(
    linked: JSONClient, vouch: Vouch
) -> None:
    assert linked.member
    by_identity, by_password = JSONClient(), JSONClient(linked.member)
    by_identity.use_token(log_in().data["token"])
    from_before = JSONClient(linked.member)
    AuthSession.objects.filter(
        pk=AuthSession.objects.order_by("-created_at").values("pk")[:1]
    ).update(identity_provider=None)
    assert linked.send("DELETE", GOOGLE).status_code == 204
    sessions = (linked, by_password, by_identity, from_before)
    assert [status_of(each) for each in sessions] == [200, 200, 401, 401]


def test_removed_identity_comes_back_only_from_within(
    client: JSONClient, vouch: Vouch
) -> None:
    assert client.member
    Member.objects.filter(pk=client.member.pk).update(email=EMAIL, verified_email=EMAIL)
    vouch()
    assert link(client).status_code == 201
    assert client.send("DELETE", GOOGLE).status_code == 204
    assert_problem(log_in(), 403, "LINKING_REFUSED")
    assert Member.objects.count() == 1
    # Another identity of the same address is not meant.
    assert b"subject-1" not in bytes(RemovedIdentity.objects.get().digest)
    assert link(client).status_code == 201
    assert log_in().data["member"]["id"] == client.member.pk
    assert not RemovedIdentity.objects.exists()


def test_another_identity_of_the_address_is_linked_after_a_removal(
    client: JSONClient, vouch: Vouch
) -> None:
    assert client.member
    Member.objects.filter(pk=client.member.pk).update(email=EMAIL, verified_email=EMAIL)
    vouch()
    link(client)
    client.send("DELETE", GOOGLE)
    vouch(sub="subject-2")
    assert log_in(token=make_id_token(sub="subject-2")).data["linked"] is True


def test_changes_of_identities_are_told_by_mail(
    linked: JSONClient, mail_folder: Path
) -> None:
    assert linked.send("DELETE", GOOGLE).status_code == 204
    assert link(linked).status_code == 201
    removed, added = read_waiting_mails()
    assert "was removed from your account" in removed.text
    assert "was linked to an identity at Google" in added.text
    assert linked.member
    assert linked.member.login_id in removed.text


def test_linking_by_address_is_told_by_mail(vouch: Vouch, mail_folder: Path) -> None:
    member = make_member(email=EMAIL)
    vouch()
    assert log_in().data["linked"] is True
    (mail,) = read_waiting_mails()
    assert (mail.to, member.login_id in mail.text) == (EMAIL, True)


def test_first_login_from_before_there_were_rows_makes_one(vouch: Vouch) -> None:
    make_idp_member(idp_id="subject-1")
    vouch()
    client = JSONClient()
    client.use_token(log_in().data["token"])
    (listed,) = client.send("GET", IDENTITIES).data
    assert listed["provider"] == "google"
    assert LinkedIdentity.objects.get().email == EMAIL


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "idToken"),
        ({"idToken": 5}, "idToken"),
        ({"idToken": "x", "nonce": []}, "nonce"),
        ({"idToken": "x", "provider": "google"}, "provider"),
    ],
)
def test_bad_bodies_name_their_field(
    client: JSONClient, vouch: Vouch, body: Any, field: str
) -> None:
    assert_invalid(client.send("POST", IDENTITIES, body), field)


def test_refused_token_links_nothing(client: JSONClient, vouch: Vouch) -> None:
    vouch(aud="another-client")
    response = link(client, idToken=make_id_token(aud="another-client"))
    assert_problem(response, 401, "INVALID_ID_TOKEN")
    assert client.send("GET", ME).status_code == 200
    assert not LinkedIdentity.objects.exists()
