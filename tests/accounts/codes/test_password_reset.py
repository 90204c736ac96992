"""Forgotten passwords (spec 2.12)."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from accounts.codes.waiting_requests import process_requests
from accounts.models import AuthSession, Code, CodeRequest, Mail, Member
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.mail import (
    NEW_PASSWORD,
    RESET,
    ReadMail,
    ask_reset,
    confirm_reset,
    log_in,
    process_resets,
    read_waiting_mails,
)
from tests.support.problems import assert_invalid, assert_problem
from tests.support.second_factors import give_totp

CONFIRM = f"{RESET}/confirm"
SAVEPOINT_RE = re.compile(r'"s\d+_x\d+"')
pytestmark = pytest.mark.usefixtures("mail_folder")


@contextmanager
def record_statements() -> Iterator[list[str]]:
    statements: list[str] = []

    def record(execute: Any, sql: Any, *arguments: Any) -> Any:
        statements.append(SAVEPOINT_RE.sub("savepoint", str(sql)))
        return execute(sql, *arguments)

    with connection.execute_wrapper(record):
        yield statements


def get_mail(member: Member) -> ReadMail:
    """Return the mail of a request by login id."""
    ask_reset(loginId=member.login_id)
    (mail,) = process_resets()
    return mail


def test_code_of_the_mail_sets_a_new_password(free_member: Member) -> None:
    client = JSONClient(free_member)
    answer = ask_reset(loginId=free_member.login_id.upper()).data
    (mail,) = process_resets()
    assert mail.to == free_member.email
    assert mail.request_id == answer["requestId"]
    response = confirm_reset(mail)
    assert (response.status_code, response.content) == (204, b"")
    assert response.cookies == {}
    # All sessions have ended, and there is no new one.
    assert client.get("/api/auth/session").status_code == 401
    assert AuthSession.objects.count() == 0
    assert log_in(free_member, PASSWORD).status_code == 401
    logged_in = log_in(free_member, NEW_PASSWORD)
    assert logged_in.data["member"]["emailVerified"] is True
    notice = read_waiting_mails()[-1]
    assert notice.to == free_member.email
    assert notice.codes == []


ACCOUNTS: dict[str, list[dict[str, Any]]] = {
    "unknown": [],
    "identity provider": [{"provider": "IDP", "idp_id": "1"}],
    "suspended": [{"status": "SUSPENDED"}],
    "two accounts": [{}, {}],
    "one account": [{}],
}


def test_whoever_asks_gets_the_same_answer_after_the_same_work() -> None:
    # The statements of the request are the same; a job does what differs.
    seen = set()
    make_member(email="verified@example.com", verified_email="verified@example.com")
    for number, kind in enumerate([*ACCOUNTS, "verified"]):
        email = f"{kind.partition(' ')[0]}@example.com"
        for fields in ACCOUNTS.get(kind, []):
            make_member(email=email, **fields)
        client = JSONClient(REMOTE_ADDR=f"10.0.0.{number}")
        with record_statements() as statements:
            response = client.send("POST", RESET, {"email": email})
        assert set(response.data) == {"requestId", "expiresAt"}
        headers = frozenset(response.headers.keys())
        seen.add((response.status_code, headers, tuple(statements)))
    assert len(seen) == 1
    ((status, _, done),) = seen
    assert status == 202
    # Nobody is looked for.
    assert done
    assert not any('"member"' in statement for statement in done)


def test_wrong_confirmation_does_the_same_work_with_and_without_an_account() -> None:
    seen = set()
    for number, accounts in enumerate(ACCOUNTS.values()):
        email = f"address{number}@example.com"
        for fields in accounts:
            make_member(email=email, **fields)
        answer = ask_reset(email=email).data
        process_resets()
        body = {
            "requestId": answer["requestId"],
            "code": "XXXX-XXXX",
            "newPassword": NEW_PASSWORD,
        }
        with record_statements() as statements:
            response = JSONClient().send("POST", CONFIRM, body)
        assert_problem(response, 400, "CODE_INVALID")
        seen.add(tuple(statements))
    assert len(seen) == 1


def test_request_does_not_say_in_plain_text_for_whom_it_is(free_member: Member) -> None:
    ask_reset(email=free_member.email)
    request = CodeRequest.objects.get()
    assert request.member is None
    assert free_member.email.encode() not in bytes(request.target or b"")
    process_resets()
    request.refresh_from_db()
    assert request.target is None


def test_mail_goes_to_the_stored_address_and_to_no_look_alike() -> None:
    make_member(email="Mike@Example.org")
    ask_reset(email="mıke@example.org")
    ask_reset(loginId="mıke")
    assert process_resets() == []
    ask_reset(email="mike@example.ORG")
    assert [mail.to for mail in process_resets()] == ["Mike@Example.org"]


def test_one_address_gets_one_mail_with_a_code_for_each_account() -> None:
    members = [make_member(email="a@example.com") for _ in range(2)]
    idp = make_member(email="a@example.com", provider="IDP", idp_id="1")
    ask_reset(email="a@example.com")
    (mail,) = process_resets()
    assert len(set(mail.codes)) == 2
    for member in (*members, idp):
        assert member.login_id in mail.text
    assert "Google" in mail.text
    assert confirm_reset(mail, code=mail.codes[1]).status_code == 204
    assert log_in(members[1], NEW_PASSWORD).status_code == 200
    assert log_in(members[0], PASSWORD).status_code == 200
    # The other account's code still counts.
    assert confirm_reset(mail, code=mail.codes[0]).status_code == 204


def test_login_id_gets_a_mail_about_this_account_only() -> None:
    member = make_member(email="a@example.com")
    other = make_member(email="a@example.com", login_id="somebody")
    mail = get_mail(member)
    assert member.login_id in mail.text
    assert other.login_id not in mail.text


def test_accounts_of_one_address_are_named_in_one_mail_ten_at_most() -> None:
    own = make_member(email="a@example.com", verified_email="a@example.com")
    for _ in range(12):
        make_member(email="a@example.com")
    Member.objects.filter(pk=own.pk).update(login_id="zz-own")
    ask_reset(email="a@example.com")
    (mail,) = process_resets()
    assert len(mail.codes) == 10
    assert "zz-own" in mail.text


def test_account_of_the_identity_provider_is_told_how_it_logs_in() -> None:
    member = make_member(provider="IDP", idp_id="1")
    answer = ask_reset(email=member.email).data
    (mail,) = process_resets()
    assert "Google" in mail.text
    assert (mail.codes, mail.links) == ([], [])
    assert Code.objects.filter(request=answer["requestId"], member=member).exists()


def test_local_member_who_was_linked_gets_a_password_again() -> None:
    member = make_member(idp_id="1", password=None)
    assert confirm_reset(get_mail(member)).status_code == 204
    assert log_in(member, NEW_PASSWORD).status_code == 200


def test_suspended_member_gets_nothing() -> None:
    ask_reset(loginId=make_member(status="SUSPENDED").login_id)
    assert process_resets() == []


@pytest.mark.parametrize("change", [{"status": "SUSPENDED"}, {"email": "n@ex.org"}])
def test_member_who_has_changed_since_cannot_confirm(
    free_member: Member, change: dict[str, str]
) -> None:
    mail = get_mail(free_member)
    Member.objects.filter(pk=free_member.pk).update(**change)
    assert_problem(confirm_reset(mail), 400, "CODE_INVALID")


@pytest.mark.parametrize("by_staff", [False, True])
def test_address_that_somebody_else_may_have_written_gets_nothing(
    free_member: Member, administrator: Member, by_staff: bool
) -> None:
    # Neither a stolen session nor an administrator takes an account over by it.
    body = {"email": "thief@example.com"}
    if by_staff:
        JSONClient(administrator).send("PUT", f"/api/users/{free_member.pk}", body)
    else:
        client = JSONClient(free_member)
        AuthSession.objects.filter(member=free_member).update(fresh_until=None)
        client.send("PUT", "/api/auth/profile", body)
    ask_reset(loginId=free_member.login_id)
    assert process_resets() == []
    with time_machine.travel(timezone.now() + timedelta(days=60)):
        ask_reset(loginId=free_member.login_id)
        assert process_resets() == []


def test_address_that_a_fresh_session_wrote_gets_the_mail(free_member: Member) -> None:
    body = {"email": "new@example.com"}
    JSONClient(free_member).send("PUT", "/api/auth/profile", body)
    ask_reset(loginId=free_member.login_id)
    assert [mail.to for mail in process_resets()] == ["new@example.com"]


def test_password_that_is_refused_does_not_spend_the_code(free_member: Member) -> None:
    mail = get_mail(free_member)
    for _ in range(6):
        assert_invalid(confirm_reset(mail, password="password"), "newPassword")
    # Validators speak after a right code only.
    refused = confirm_reset(mail, code="XXXX-XXXX", password="12345678")
    assert_problem(refused, 400, "CODE_INVALID")
    assert confirm_reset(mail).status_code == 204


def test_reset_ends_all_other_codes_of_the_member(free_member: Member) -> None:
    client = JSONClient(free_member)
    verification = client.send("POST", "/api/auth/email/verification", {}).data
    ask_reset(loginId=free_member.login_id)
    mails = process_resets()
    assert confirm_reset(mails[1]).status_code == 204
    body = {"requestId": verification["requestId"], "code": mails[0].codes[0]}
    response = client.send("POST", "/api/auth/email/verification/confirm", body)
    assert_problem(response, 400, "CODE_INVALID")
    assert Code.objects.count() == 0


def test_reset_ends_tokens_and_lifts_no_second_factor(free_member: Member) -> None:
    body = {"name": "Phone", "scopes": ["profile:read"]}
    created = JSONClient(free_member).send("POST", "/api/auth/tokens", body)
    automation = JSONClient()
    automation.use_token(created.data["token"])
    give_totp(free_member)
    ask_reset(loginId=free_member.login_id)
    mail = process_resets()[-1]
    assert confirm_reset(mail).status_code == 204
    assert automation.send("GET", "/api/auth/profile").status_code == 401
    answer = log_in(free_member, NEW_PASSWORD)
    assert answer.data["code"] == "SECOND_FACTOR_REQUIRED"


def test_new_request_ends_the_older_one(free_member: Member) -> None:
    ask_reset(loginId=free_member.login_id)
    ask_reset(loginId=free_member.login_id)
    first, second = process_resets()
    assert_problem(confirm_reset(first), 400, "CODE_INVALID")
    assert confirm_reset(second).status_code == 204


def test_one_address_gets_three_mails_an_hour_silently(free_member: Member) -> None:
    for number in range(5):
        client = JSONClient(REMOTE_ADDR=f"10.0.0.{number}")
        body = {"loginId": free_member.login_id}
        assert client.send("POST", RESET, body).status_code == 202
    assert len(process_resets()) == 3
    assert CodeRequest.objects.filter(processed_at=None).count() == 0


def test_one_client_asks_five_times_an_hour(free_member: Member) -> None:
    for number in range(5):
        ask_reset(loginId=f"nobody{number}")
    response = JSONClient().send("POST", RESET, {"loginId": "nobody"})
    assert_problem(response, 429, "RATE_LIMITED")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"loginId": "a", "email": "a@example.com"}, "body"),
        ({"email": "a@example.com\nBcc: b@example.com"}, "email"),
        ({"email": "nobody"}, "email"),
        ({"loginId": 1}, "loginId"),
    ],
)
def test_malformed_request_is_refused(body: Any, field: str) -> None:
    assert_invalid(JSONClient().send("POST", RESET, body), field)
    assert CodeRequest.objects.count() == 0


def test_without_mail_nothing_can_be_asked(free_member: Member, settings: Any) -> None:
    settings.MAIL_SERVER = None
    for login_id in (free_member.login_id, "nobody"):
        response = JSONClient().send("POST", RESET, {"loginId": login_id})
        assert_problem(response, 503, "MAIL_NOT_CONFIGURED")


def test_request_that_waited_too_long_is_left(free_member: Member) -> None:
    ask_reset(loginId=free_member.login_id)
    process_requests(timezone.now() + timedelta(minutes=11))
    assert Mail.objects.count() == 0
    assert CodeRequest.objects.get().processed_at is not None


def test_mail_about_two_accounts_goes_with_either_of_them() -> None:
    members = [make_member(email="a@example.com") for _ in range(2)]
    ask_reset(email="a@example.com")
    assert len(process_resets()) == 1
    JSONClient(members[0]).send("DELETE", "/api/auth/me")
    assert Mail.objects.count() == 0
    assert Code.objects.get().member == members[1]


def send_as(administrator: Member, member: Member) -> Any:
    path = f"/api/admin/members/{member.pk}/password-reset"
    return JSONClient(administrator).send("POST", path)


def test_administrator_sends_the_same_mail_and_sees_no_code(
    free_member: Member, administrator: Member
) -> None:
    response = send_as(administrator, free_member)
    assert (response.status_code, response.content) == (202, b"")
    (mail,) = process_resets()
    assert mail.to == free_member.email
    assert confirm_reset(mail).status_code == 204


def test_administrator_is_told_why_nothing_is_sent(
    free_member: Member, administrator: Member, settings: Any
) -> None:
    suspended = make_member(status="SUSPENDED")
    assert_problem(send_as(administrator, suspended), 403, "MEMBER_SUSPENDED")
    body = {"email": "staff@example.com"}
    JSONClient(administrator).send("PUT", f"/api/users/{free_member.pk}", body)
    assert_problem(send_as(administrator, free_member), 403, "EMAIL_NOT_VERIFIED")
    settings.MAIL_SERVER = None
    assert_problem(send_as(administrator, free_member), 503, "MAIL_NOT_CONFIGURED")


def test_administrator_sends_five_mails_an_hour_to_one_address(
    free_member: Member, administrator: Member
) -> None:
    statuses = [send_as(administrator, free_member).status_code for _ in range(6)]
    assert statuses == [202] * 5 + [429]
