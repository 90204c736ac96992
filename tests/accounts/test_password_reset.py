"""Forgotten passwords (spec 2.12)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import AuthSession, Code, CodeRequest, Mail, Member
from accounts.password_reset import process_requests
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.mail import ReadMail, process_resets, read_waiting_mails
from tests.support.problems import assert_invalid, assert_problem
from tests.support.races import call_before, run_concurrently, sorted_statuses

RESET = "/api/auth/password-reset"
CONFIRM = f"{RESET}/confirm"
NEW_PASSWORD = "another-horse-9"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def mail_folder(settings: Any, tmp_path: Path) -> None:
    settings.MAIL_SERVER = {"folder": tmp_path}


def ask(**body: str) -> Any:
    response = JSONClient().send("POST", RESET, body)
    assert response.status_code == 202, response.content
    return response


def confirm(mail: ReadMail, *, code: str = "", password: str = NEW_PASSWORD) -> Any:
    body = {
        "requestId": mail.request_id,
        "code": code or mail.codes[0],
        "newPassword": password,
    }
    return JSONClient().send("POST", CONFIRM, body)


def log_in(member: Member, password: str) -> Any:
    body = {"loginId": member.login_id, "password": password}
    return JSONClient().send("POST", "/api/auth/login", body)


@contextmanager
def record_statements() -> Iterator[list[str]]:
    statements: list[str] = []

    def record(execute: Any, sql: Any, *arguments: Any) -> Any:
        statements.append(str(sql))
        return execute(sql, *arguments)

    with connection.execute_wrapper(record):
        yield statements


def test_code_of_the_mail_sets_a_new_password(free_member: Member) -> None:
    client = JSONClient(free_member)
    answer = ask(loginId=free_member.login_id.upper()).data
    (mail,) = process_resets()
    assert mail.to == free_member.email
    assert mail.request_id == answer["requestId"]
    response = confirm(mail)
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


def make_account(kind: str) -> Member | None:
    match kind:
        case "one account":
            return make_member(email="a@example.com")
        case "two accounts":
            make_member(email="a@example.com")
            return make_member(email="a@example.com")
        case "suspended":
            return make_member(email="a@example.com", status="SUSPENDED")
        case "identity provider":
            return make_member(email="a@example.com", provider="IDP", idp_id="1")
        case "verified":
            return make_member(email="a@example.com", verified_email="a@example.com")
    return None


KINDS = [
    "unknown",
    "identity provider",
    "suspended",
    "two accounts",
    "one account",
    "verified",
]


def test_whoever_asks_gets_the_same_answer_after_the_same_work() -> None:
    """The statements of the request are the same; a job does what differs."""
    seen = set()
    for number, kind in enumerate(KINDS):
        Member.objects.all().delete()
        make_account(kind)
        with record_statements() as statements:
            response = JSONClient(REMOTE_ADDR=f"10.0.0.{number}").send(
                "POST", RESET, {"email": "a@example.com"}
            )
        assert set(response.data) == {"requestId", "expiresAt"}
        headers = {*response.headers} - {"X-Request-ID"}
        seen.add((response.status_code, frozenset(headers), tuple(statements)))
    assert len(seen) == 1
    # And all of them took part in nothing but the table of requests and the limits.
    (_, _, done) = seen.pop()
    assert not any("member" in statement for statement in done if "mem" in statement)


def test_wrong_confirmation_does_the_same_work_with_and_without_an_account() -> None:
    seen = set()
    for kind in ("unknown", "one account", "identity provider"):
        Member.objects.all().delete()
        make_account(kind)
        answer = ask(email="a@example.com").data
        process_resets()
        body = answer | {"code": "XXXX-XXXX", "newPassword": NEW_PASSWORD}
        with record_statements() as statements:
            response = JSONClient().send("POST", CONFIRM, body)
        assert_problem(response, 400, "CODE_INVALID")
        seen.add(tuple(statements))
    assert len(seen) == 1


def test_request_does_not_say_in_plain_text_for_whom_it_is(free_member: Member) -> None:
    ask(email=free_member.email)
    request = CodeRequest.objects.get()
    assert request.member is None
    assert free_member.email.encode() not in bytes(request.target or b"")
    process_resets()
    request.refresh_from_db()
    assert request.target is None


def test_mail_goes_to_the_stored_address(db: None) -> None:
    make_member(email="Minji@Example.com")
    ask(email="minji@example.COM")
    assert [mail.to for mail in process_resets()] == ["Minji@Example.com"]


def test_address_that_only_looks_alike_is_nobodys(db: None) -> None:
    make_member(email="mike@example.org")
    response = JSONClient().send("POST", RESET, {"email": "mıke@example.org"})
    assert response.status_code in {202, 400}
    ask(loginId="mıke")
    assert process_resets() == []


def test_one_address_gets_one_mail_with_a_code_for_each_account(db: None) -> None:
    members = [make_member(email="a@example.com") for _ in range(2)]
    idp = make_member(email="a@example.com", provider="IDP", idp_id="1")
    ask(email="a@example.com")
    (mail,) = process_resets()
    assert len(set(mail.codes)) == 2
    for member in (*members, idp):
        assert member.login_id in mail.text
    assert "Google" in mail.text
    assert confirm(mail, code=mail.codes[1]).status_code == 204
    assert log_in(members[1], NEW_PASSWORD).status_code == 200
    assert log_in(members[0], PASSWORD).status_code == 200
    # The other account's code still counts.
    assert confirm(mail, code=mail.codes[0]).status_code == 204


def test_login_id_gets_a_mail_about_this_account_only(db: None) -> None:
    member, other = (make_member(email="a@example.com") for _ in range(2))
    ask(loginId=member.login_id)
    (mail,) = process_resets()
    assert member.login_id in mail.text
    assert other.login_id not in mail.text


def test_accounts_of_one_address_are_named_in_one_mail_ten_at_most(db: None) -> None:
    own = make_member(email="a@example.com", verified_email="a@example.com")
    for _ in range(12):
        make_member(email="a@example.com")
    Member.objects.filter(pk=own.pk).update(login_id="zz-own")
    ask(email="a@example.com")
    (mail,) = process_resets()
    assert len(mail.codes) == 10
    assert "zz-own" in mail.text


def test_account_of_the_identity_provider_is_told_how_it_logs_in(db: None) -> None:
    member = make_member(provider="IDP", idp_id="1")
    answer = ask(email=member.email).data
    (mail,) = process_resets()
    assert "Google" in mail.text
    assert (mail.codes, mail.links) == ([], [])
    assert Code.objects.filter(request=answer["requestId"], member=member).exists()


def test_local_member_who_was_linked_gets_a_password_again(db: None) -> None:
    member = make_member(idp_id="1")
    member.set_unusable_password()
    member.save()
    ask(loginId=member.login_id)
    (mail,) = process_resets()
    assert confirm(mail).status_code == 204
    assert log_in(member, NEW_PASSWORD).status_code == 200


def test_suspended_member_gets_nothing(db: None) -> None:
    member = make_member(status="SUSPENDED")
    ask(loginId=member.login_id)
    assert process_resets() == []


def test_member_who_was_suspended_since_cannot_confirm(free_member: Member) -> None:
    ask(loginId=free_member.login_id)
    (mail,) = process_resets()
    Member.objects.filter(pk=free_member.pk).update(status="SUSPENDED")
    assert_problem(confirm(mail), 400, "CODE_INVALID")


@pytest.mark.parametrize("by_staff", [False, True])
def test_address_that_somebody_else_may_have_written_gets_nothing(
    free_member: Member, administrator: Member, by_staff: bool
) -> None:
    """Neither a stolen session nor an administrator takes an account over by it."""
    body = {"email": "thief@example.com"}
    if by_staff:
        JSONClient(administrator).send("PUT", f"/api/users/{free_member.pk}", body)
    else:
        JSONClient(free_member).send("PUT", "/api/auth/profile", body)
    ask(loginId=free_member.login_id)
    assert process_resets() == []
    later = timezone.now() + timedelta(days=8)
    with time_machine.travel(later):
        ask(loginId=free_member.login_id)
        assert len(process_resets()) == (0 if by_staff else 1)


def test_address_that_was_changed_since_does_not_count(free_member: Member) -> None:
    ask(loginId=free_member.login_id)
    (mail,) = process_resets()
    body = {"email": "new@example.com"}
    JSONClient(free_member).send("PUT", "/api/auth/profile", body)
    assert_problem(confirm(mail), 400, "CODE_INVALID")


def test_password_that_is_refused_does_not_spend_the_code(free_member: Member) -> None:
    ask(loginId=free_member.login_id)
    (mail,) = process_resets()
    for _ in range(6):
        assert_invalid(confirm(mail, password="12345678"), "newPassword", "newPassword")
    assert confirm(mail).status_code == 204


def test_validators_speak_after_a_right_code_only(free_member: Member) -> None:
    ask(loginId=free_member.login_id)
    (mail,) = process_resets()
    refused = confirm(mail, code="XXXX-XXXX", password="12345678")
    assert_problem(refused, 400, "CODE_INVALID")


def test_reset_ends_all_other_codes_of_the_member(free_member: Member) -> None:
    client = JSONClient(free_member)
    verification = client.send("POST", "/api/auth/email/verification", {}).data
    ask(loginId=free_member.login_id)
    mails = process_resets()
    assert confirm(mails[1]).status_code == 204
    body = {"requestId": verification["requestId"], "code": mails[0].codes[0]}
    response = client.send("POST", "/api/auth/email/verification/confirm", body)
    assert_problem(response, 400, "CODE_INVALID")
    assert Code.objects.count() == 0


def test_new_request_ends_the_older_one(free_member: Member) -> None:
    ask(loginId=free_member.login_id)
    ask(loginId=free_member.login_id)
    first, second = process_resets()
    assert_problem(confirm(first), 400, "CODE_INVALID")
    assert confirm(second).status_code == 204


def test_one_address_gets_three_mails_an_hour_silently(free_member: Member) -> None:
    for number in range(5):
        client = JSONClient(REMOTE_ADDR=f"10.0.0.{number}")
        body = {"loginId": free_member.login_id}
        assert client.send("POST", RESET, body).status_code == 202
    assert len(process_resets()) == 3
    assert CodeRequest.objects.filter(processed_at=None).count() == 0


def test_one_client_asks_five_times_an_hour(free_member: Member) -> None:
    for number in range(5):
        ask(loginId=f"nobody{number}")
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
def test_malformed_request_is_refused(db: None, body: Any, field: str) -> None:
    assert_invalid(JSONClient().send("POST", RESET, body), field)
    assert CodeRequest.objects.count() == 0


def test_without_mail_nothing_can_be_asked(free_member: Member, settings: Any) -> None:
    settings.MAIL_SERVER = None
    for login_id in (free_member.login_id, "nobody"):
        response = JSONClient().send("POST", RESET, {"loginId": login_id})
        assert_problem(response, 503, "MAIL_NOT_CONFIGURED")


def test_request_that_waited_too_long_is_left(free_member: Member) -> None:
    ask(loginId=free_member.login_id)
    process_requests(timezone.now() + timedelta(minutes=11))
    assert Mail.objects.count() == 0
    assert CodeRequest.objects.get().processed_at is not None


def test_mail_about_two_accounts_goes_with_either_of_them(db: None) -> None:
    members = [make_member(email="a@example.com") for _ in range(2)]
    ask(email="a@example.com")
    assert len(process_resets()) == 1
    JSONClient(members[0]).send("DELETE", "/api/auth/me")
    assert Mail.objects.count() == 0
    assert Code.objects.get().member == members[1]


# --- Administrators -----------------------------------------------------------


def test_administrator_sends_the_same_mail_and_sees_no_code(
    free_member: Member, administrator: Member
) -> None:
    path = f"/api/admin/members/{free_member.pk}/password-reset"
    response = JSONClient(administrator).send("POST", path)
    assert (response.status_code, response.content) == (202, b"")
    (mail,) = process_resets()
    assert mail.to == free_member.email
    assert confirm(mail).status_code == 204


def test_administrator_is_told_why_nothing_is_sent(
    free_member: Member, administrator: Member, settings: Any
) -> None:
    client = JSONClient(administrator)
    path = f"/api/admin/members/{free_member.pk}/password-reset"
    suspended = make_member(status="SUSPENDED")
    assert_problem(
        client.send("POST", f"/api/admin/members/{suspended.pk}/password-reset"),
        403,
        "MEMBER_SUSPENDED",
    )
    client.send("PUT", f"/api/users/{free_member.pk}", {"email": "staff@example.com"})
    assert_problem(client.send("POST", path), 403, "EMAIL_NOT_VERIFIED")
    settings.MAIL_SERVER = None
    assert_problem(client.send("POST", path), 503, "MAIL_NOT_CONFIGURED")


def test_administrator_sends_five_mails_an_hour_to_one_address(
    free_member: Member, administrator: Member
) -> None:
    client = JSONClient(administrator)
    path = f"/api/admin/members/{free_member.pk}/password-reset"
    for _ in range(5):
        assert client.send("POST", path).status_code == 202
    assert_problem(client.send("POST", path), 429, "RATE_LIMITED")


# --- Races --------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_confirmations_at_once_one_sets_the_password() -> None:
    member = make_member()
    ask(loginId=member.login_id)
    (mail,) = process_resets()
    calls = [lambda: confirm(mail) for _ in range(8)]
    assert sorted_statuses(run_concurrently(calls)) == [204] + [400] * 7


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_locked", [False, True])
def test_login_during_a_reset_leaves_no_session_of_the_old_password(
    monkeypatch: pytest.MonkeyPatch, is_locked: bool
) -> None:
    member = make_member()
    ask(loginId=member.login_id)
    (mail,) = process_resets()
    if not is_locked:
        monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_: rows)
    # The sessions are revoked by then, and the transaction is still open.
    with call_before('INSERT INTO "mail"', lambda: log_in(member, PASSWORD)) as login:
        assert confirm(mail).status_code == 204
    status = login.result(timeout=20).status_code
    lives = AuthSession.objects.filter(member=member).exists()
    # Without the lock, the login gets in by the password of before.
    assert (status, lives) == ((401, False) if is_locked else (200, True))


@pytest.mark.django_db(transaction=True)
def test_reset_during_a_login_ends_its_session() -> None:
    member = make_member()
    ask(loginId=member.login_id)
    (mail,) = process_resets()
    with call_before('INSERT INTO "auth_session"', lambda: confirm(mail)) as reset:
        log_in(member, PASSWORD)
    assert reset.result(timeout=20).status_code == 204
    assert not AuthSession.objects.filter(member=member).exists()


@pytest.mark.django_db(transaction=True)
def test_two_runs_of_the_job_send_one_mail() -> None:
    member = make_member()
    ask(loginId=member.login_id)
    now = timezone.now()
    run_concurrently([lambda: process_requests(now)] * 4)
    assert Mail.objects.filter(template="reset_password").count() == 1


# --- The pages of links -------------------------------------------------------


def page_of(mail: ReadMail) -> str:
    return mail.links[0].removeprefix("http://127.0.0.1:8000")


def post_form(path: str, **values: str) -> Any:
    return JSONClient().post(path, values)


@pytest.fixture
def reset_mail(free_member: Member, settings: Any) -> ReadMail:
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    ask(loginId=free_member.login_id)
    (mail,) = process_resets()
    return mail


def test_get_and_head_of_a_link_spend_nothing(reset_mail: ReadMail) -> None:
    path = page_of(reset_mail)
    for _ in range(3):
        page = JSONClient().get(path)
        assert page.status_code == 200
        assert JSONClient().head(path).status_code == 200
    assert confirm(reset_mail).status_code == 204


def test_page_has_no_script_and_tells_no_other_site_its_address(
    reset_mail: ReadMail,
) -> None:
    page = JSONClient().get(page_of(reset_mail))
    text = page.content.decode()
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert not page.cookies


@pytest.mark.parametrize(("language", "text"), [("ko", "비밀번호"), ("en", "password")])
def test_page_is_in_the_language_of_the_browser(
    reset_mail: ReadMail, language: str, text: str
) -> None:
    page = JSONClient().get(page_of(reset_mail), HTTP_ACCEPT_LANGUAGE=language)
    assert f'<html lang="{language}">' in page.content.decode()
    assert text in page.content.decode()


def test_button_of_the_page_sets_the_password(
    reset_mail: ReadMail, free_member: Member
) -> None:
    form = {"request": reset_mail.request_id, "code": reset_mail.codes[0]}
    weak = post_form("/account/reset", **form, password="12345678")
    assert weak.status_code == 400
    assert 'name="password"' in weak.content.decode()
    assert "common" in weak.content.decode()
    done = post_form("/account/reset", **form, password=NEW_PASSWORD)
    assert done.status_code == 200
    assert log_in(free_member, NEW_PASSWORD).status_code == 200
    again = post_form("/account/reset", **form, password=NEW_PASSWORD)
    assert again.status_code == 400
    assert "no longer valid" in again.content.decode()


def test_button_of_the_page_verifies_the_address(
    free_member: Member, settings: Any
) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    JSONClient(free_member).send("POST", "/api/auth/email/verification", {})
    (mail,) = read_waiting_mails()
    assert JSONClient().get(page_of(mail)).status_code == 200
    form = {"request": mail.request_id, "code": mail.codes[0]}
    assert post_form("/account/confirm", **form).status_code == 200
    free_member.refresh_from_db()
    assert free_member.is_email_verified
    assert post_form("/account/confirm", **form).status_code == 400


@pytest.mark.parametrize("page", ["confirm", "reset"])
def test_page_of_a_broken_link_says_so(db: None, page: str) -> None:
    path = f"/account/{page}"
    for query in ("", "?request=1", "?code=%00", "?request=%3Cb%3E&code=%3Cscript%3E"):
        response = JSONClient().get(path + query)
        assert response.status_code == 200
        assert "<script>" not in response.content.decode()
    for form in ({}, {"request": "1", "code": "\0"}, {"code": "x" * 1000}):
        assert post_form(path, **form).status_code == 400


def test_query_of_a_link_is_not_logged(
    reset_mail: ReadMail, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "access")
    JSONClient().get(page_of(reset_mail))
    (line,) = [record for record in caplog.records if record.name == "access"]
    fields = json.dumps(vars(line)["fields"])
    assert "/account/reset" in fields
    assert reset_mail.codes[0] not in fields + line.getMessage()
