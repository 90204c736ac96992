"""Changes of addresses, and which of them count as the member's own (spec 2.11)."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.errors import ReauthenticationRequiredError
from accounts.models import Mail, Member
from accounts.profile import update_profile
from accounts.sessions import hash_session_key, revoke_sessions
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD
from tests.support.mail import VERIFY, ask_verification, read_waiting_mails
from tests.support.problems import assert_problem
from tests.support.profiles import change_profile
from tests.support.sessions import make_fresh, make_stale

CONFIRM = f"{VERIFY}/confirm"
NEW = "new@example.com"
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mail_folder")]


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


def test_unverified_address_changes_as_before(
    client: JSONClient, free_member: Member
) -> None:
    response = change_profile(client, email=NEW)
    assert (response.data["email"], response.data["pendingEmail"]) == (NEW, None)
    assert Mail.objects.count() == 0


def test_code_to_the_address_before_proves_nothing_of_the_new_one(
    client: JSONClient,
) -> None:
    _, body = ask_verification(client)
    change_profile(client, email=NEW)
    assert_problem(client.send("POST", CONFIRM, body), 400, "CODE_INVALID")


def test_verified_address_changes_when_the_new_one_is_verified(
    verified_member: Member,
) -> None:
    client = JSONClient(verified_member)
    make_fresh(verified_member)
    response = change_profile(client, email=NEW, displayName="New name")
    assert response.status_code == 200
    data = response.data
    assert data["email"] == verified_member.email
    assert (data["emailVerified"], data["pendingEmail"]) == (True, NEW)
    assert data["displayName"] == "New name"
    # The address before is told.
    (notice,) = read_waiting_mails()
    assert notice.to == verified_member.email
    assert NEW not in notice.text
    mail, body = ask_verification(client)
    assert mail.to == NEW
    data = client.send("POST", CONFIRM, body).data
    assert (data["email"], data["emailVerified"], data["pendingEmail"]) == (
        NEW,
        True,
        None,
    )


def test_change_of_a_verified_address_needs_fresh_authentication(
    verified_member: Member,
) -> None:
    client = JSONClient(verified_member)
    make_stale(verified_member)
    response = change_profile(client, email=NEW)
    assert response.status_code == 403
    assert response.data["code"] == "REAUTHENTICATION_REQUIRED"
    verified_member.refresh_from_db()
    assert verified_member.pending_email == ""
    # What is sent along unchanged needs none.
    assert (
        change_profile(client, email=verified_member.email, displayName="A").status_code
        == 200
    )
    assert change_profile(client, displayName="B").status_code == 200


def test_change_of_a_verified_address_needs_mail(
    verified_member: Member, settings: Any
) -> None:
    settings.MAIL_SERVER = None
    make_fresh(verified_member)
    client = JSONClient(verified_member)
    make_fresh(verified_member)
    assert_problem(change_profile(client, email=NEW), 503, "MAIL_NOT_CONFIGURED")
    assert change_profile(client, displayName="A").status_code == 200


def test_current_address_takes_a_pending_one_back(verified_member: Member) -> None:
    client = JSONClient(verified_member)
    make_fresh(verified_member)
    change_profile(client, email=NEW)
    _, body = ask_verification(client)
    assert (
        change_profile(client, email=verified_member.email).data["pendingEmail"] is None
    )
    assert_problem(client.send("POST", CONFIRM, body), 400, "CODE_INVALID")


def test_address_of_a_stale_session_needs_fresh_authentication(
    client: JSONClient, free_member: Member
) -> None:
    # A thief of the session could verify an address of their own.
    make_stale(free_member)
    change_profile(client, email=NEW)
    for days in (0, 13):
        with time_machine.travel(timezone.now() + timedelta(days=days)):
            response = client.send("POST", VERIFY, {})
            assert response.data["code"] == "REAUTHENTICATION_REQUIRED"
    make_fresh(free_member)
    assert ask_verification(client)[0].to == NEW


def test_address_of_a_fresh_session_needs_none(
    client: JSONClient, free_member: Member
) -> None:
    change_profile(client, email=NEW)
    make_stale(free_member)
    assert ask_verification(client)[0].to == NEW


def test_session_that_a_new_password_has_ended_leaves_no_pending_address(
    verified_member: Member,
) -> None:
    # The request of a thief may have been on its way.
    thief = JSONClient(verified_member)
    key_hash = hash_session_key(thief.token)
    revoke_sessions(verified_member)
    with pytest.raises(ReauthenticationRequiredError):
        update_profile(verified_member, {"email": NEW}, session_key_hash=key_hash)
    assert Member.objects.get(pk=verified_member.pk).pending_email == ""


def test_administrators_own_verified_address_changes_as_a_members(
    administrator: Member,
) -> None:
    # `/api/users/{id}` is no way around fresh authentication.
    Member.objects.update(verified_email=administrator.email)
    client = JSONClient(administrator)
    make_stale(administrator)
    path = f"/api/users/{administrator.pk}"
    refused = client.send("PUT", path, {"email": NEW})
    assert_problem(refused, 403, "REAUTHENTICATION_REQUIRED", "methods")
    make_fresh(administrator)
    answer = client.send("PUT", path, {"email": NEW})
    assert (answer.data["email"], answer.data["pendingEmail"]) == (
        administrator.email,
        NEW,
    )


def test_address_of_the_sign_up_needs_none(anonymous: JSONClient) -> None:
    body = {"loginId": "minji", "password": PASSWORD, "displayName": "Minji"}
    response = anonymous.send("POST", "/api/auth/signup", body | {"email": NEW})
    anonymous.use_token(response.data["token"])
    assert ask_verification(anonymous)[0].to == NEW


def test_address_that_an_administrator_writes_is_not_verified(
    verified_member: Member, administrator: Member
) -> None:
    response = JSONClient(administrator).send(
        "PUT", f"/api/users/{verified_member.pk}", {"email": NEW}
    )
    assert (response.data["email"], response.data["emailVerified"]) == (NEW, False)
    # The verified one is told.
    assert [mail.to for mail in read_waiting_mails()] == [verified_member.email]
