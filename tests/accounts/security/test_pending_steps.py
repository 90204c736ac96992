"""Tickets and codes die when they should (spec 2.11, 2.12, 2.16)."""

from typing import Any

import pytest

from accounts.models import Code, LoginTicket, Member
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD
from tests.support.id_tokens import EMAIL, Vouch, log_in
from tests.support.mail import (
    NEW_PASSWORD,
    VERIFY,
    ask_reset,
    confirm_reset,
    process_resets,
    read_waiting_mails,
)
from tests.support.problems import assert_problem
from tests.support.second_factors import code_now, complete_login, get_ticket

pytestmark = pytest.mark.usefixtures("mail_folder")

MEMBERS, USERS = "/api/admin/members", "/api/users"


def suspend_and_activate(owner: JSONClient, staff: JSONClient) -> None:
    assert owner.member
    path = f"{MEMBERS}/{owner.member.pk}/status"
    for status in ("SUSPENDED", "ACTIVE"):
        staff.change_json("PUT", path, {"status": status})


def make_administrator_and_back(owner: JSONClient, staff: JSONClient) -> None:
    assert owner.member
    for role in ("ADMIN", "MEMBER"):
        staff.change_json("PUT", f"{MEMBERS}/{owner.member.pk}/role", {"role": role})


def change_password(owner: JSONClient, staff: JSONClient) -> None:
    body = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    assert owner.send("PUT", "/api/auth/password", body).status_code == 204


def end_other_sessions(owner: JSONClient, staff: JSONClient) -> None:
    assert owner.send("POST", "/api/auth/sessions/end-others").status_code == 200


ENDS = {
    "suspension": suspend_and_activate,
    "role": make_administrator_and_back,
    "password": change_password,
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_ticket_is_not_revived(
    totp_member: Member, client_of: Any, administrator: Member, end: Any
) -> None:
    owner, staff = client_of(totp_member), client_of(administrator)
    ticket = get_ticket(totp_member)
    end(owner, staff)
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")


@pytest.mark.parametrize(
    "end", [*ENDS.values(), end_other_sessions], ids=[*ENDS, "end-others"]
)
def test_codes_are_not_revived(
    free_member: Member, client_of: Any, administrator: Member, end: Any
) -> None:
    owner, staff = client_of(free_member), client_of(administrator)
    ask_reset(loginId=free_member.login_id)
    (reset,) = process_resets()
    asked = owner.send("POST", VERIFY).data
    verify = read_waiting_mails()[-1]
    end(owner, staff)
    assert_problem(confirm_reset(reset), 400, "CODE_INVALID")
    body = {"requestId": asked["requestId"], "code": verify.codes[0]}
    response = JSONClient().send("POST", f"{VERIFY}/confirm", body)
    assert_problem(response, 400, "CODE_INVALID")
    assert not Code.objects.exists()
    free_member.refresh_from_db()
    assert not free_member.is_email_verified


def test_deletion_ends_the_ticket(totp_member: Member, client_of: Any) -> None:
    owner, ticket = client_of(totp_member), get_ticket(totp_member)
    assert owner.send("DELETE", "/api/auth/me").status_code == 204
    assert not LoginTicket.objects.exists()
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")


def test_linking_by_address_ends_codes(free_member: Member, vouch: Vouch) -> None:
    Member.objects.filter(pk=free_member.pk).update(
        email=EMAIL, authenticated_email=EMAIL
    )
    ask_reset(loginId=free_member.login_id)
    (reset,) = process_resets()
    vouch()
    assert log_in().data["linked"] is True
    assert_problem(confirm_reset(reset), 400, "CODE_INVALID")


def test_address_from_staff_is_confirmed_in_a_session_of_the_member(
    free_member: Member, client_of: Any, administrator: Member
) -> None:
    owner, staff = client_of(free_member), client_of(administrator)
    body = {"email": "from-staff@example.com"}
    staff.change_json("PUT", f"{USERS}/{free_member.pk}", body)
    asked = owner.send("POST", VERIFY).data
    (mail,) = read_waiting_mails()
    body = {"requestId": asked["requestId"], "code": mail.codes[0]}
    for caller in (JSONClient(), staff):
        response = caller.send("POST", f"{VERIFY}/confirm", body)
        assert_problem(response, 400, "CODE_INVALID")
    assert owner.send("POST", f"{VERIFY}/confirm", body).data["emailVerified"] is True


def test_address_that_the_member_enters_after_staff_is_confirmed_anywhere(
    free_member: Member, client_of: Any, administrator: Member
) -> None:
    owner, staff = client_of(free_member), client_of(administrator)
    body = {"email": "from-staff@example.com"}
    staff.change_json("PUT", f"{USERS}/{free_member.pk}", body)
    owner.change_json("PUT", "/api/auth/profile", {"email": "own@example.com"})
    asked = owner.send("POST", VERIFY).data
    mail = read_waiting_mails()[-1]
    body = {"requestId": asked["requestId"], "code": mail.codes[0]}
    assert JSONClient().send("POST", f"{VERIFY}/confirm", body).status_code == 204
