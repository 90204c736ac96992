"""Changes of addresses, and which of them count as the member's own (spec 2.11)."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.errors import ReauthenticationRequiredError
from accounts.models import Mail, Member
from accounts.profile.profile import update_profile
from accounts.sessions.store import hash_session_key, revoke_sessions
from tests.support.accounts import change_profile
from tests.support.clients import JSONClient
from tests.support.mail import VERIFY, ask_verification, read_waiting_mails
from tests.support.problems import assert_problem
from tests.support.second_factors import STALE
from tests.support.sessions import make_fresh, make_stale

CONFIRM = f"{VERIFY}/confirm"
NEW = "new@example.com"
pytestmark = pytest.mark.usefixtures("mail_folder")


def test_unverified_address_changes_at_once_and_voids_its_code(
    client: JSONClient,
) -> None:
    _, body = ask_verification(client)
    response = change_profile(client, email=NEW)
    assert (response.data["email"], response.data["pendingEmail"]) == (NEW, None)
    assert Mail.objects.count() == 1
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
    assert (data["email"], data["emailVerified"]) == (NEW, True)
    assert data["pendingEmail"] is None


def test_change_of_a_verified_address_needs_fresh_authentication(
    verified_member: Member,
) -> None:
    client = JSONClient(verified_member)
    make_stale(verified_member)
    response = change_profile(client, email=NEW)
    assert_problem(response, 403, *STALE)
    verified_member.refresh_from_db()
    assert verified_member.pending_email == ""
    unchanged = change_profile(client, email=verified_member.email, displayName="A")
    assert unchanged.status_code == 200


def test_change_of_a_verified_address_needs_mail(
    verified_member: Member, settings: Any
) -> None:
    settings.MAIL_SERVER = None
    client = JSONClient(verified_member)
    make_fresh(verified_member)
    assert_problem(change_profile(client, email=NEW), 503, "MAIL_NOT_CONFIGURED")
    assert change_profile(client, displayName="A").status_code == 200


def test_current_address_takes_a_pending_one_back(verified_member: Member) -> None:
    client = JSONClient(verified_member)
    make_fresh(verified_member)
    change_profile(client, email=NEW)
    _, body = ask_verification(client)
    response = change_profile(client, email=verified_member.email)
    assert response.data["pendingEmail"] is None
    assert_problem(client.send("POST", CONFIRM, body), 400, "CODE_INVALID")


def test_address_of_a_stale_session_needs_fresh_authentication(
    client: JSONClient, free_member: Member
) -> None:
    # A thief of the session could verify an address of their own.
    make_stale(free_member)
    change_profile(client, email=NEW)
    for days in (0, 13):
        with time_machine.travel(timezone.now() + timedelta(days=days)):
            assert_problem(client.send("POST", VERIFY, {}), 403, *STALE)
    make_fresh(free_member)
    assert ask_verification(client)[0].to == NEW


@pytest.mark.parametrize("change", [{}, {"email": NEW}])
def test_address_of_the_sign_up_or_of_a_fresh_session_needs_none(
    client: JSONClient, free_member: Member, change: dict[str, str]
) -> None:
    change_profile(client, **change, displayName="A")
    make_stale(free_member)
    assert ask_verification(client)[0].to == change.get("email", free_member.email)


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
    assert_problem(client.send("PUT", path, {"email": NEW}), 403, *STALE)
    make_fresh(administrator)
    answer = client.send("PUT", path, {"email": NEW})
    assert answer.data["email"] == administrator.email
    assert answer.data["pendingEmail"] == NEW


def test_address_that_an_administrator_writes_is_not_verified(
    verified_member: Member, administrator: Member
) -> None:
    path = f"/api/users/{verified_member.pk}"
    response = JSONClient(administrator).send("PUT", path, {"email": NEW})
    assert (response.data["email"], response.data["emailVerified"]) == (NEW, False)
    # The verified one is told.
    assert [mail.to for mail in read_waiting_mails()] == [verified_member.email]
