"""The page that deletes an account (spec 2.9)."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import AuthSession, Member, SecurityLogEntry
from tests.support.clients import JSONClient
from tests.support.deletion_page import (
    PAGE,
    begin,
    has_code,
    is_deleted,
    link_form,
    log_in_to_page,
    mail_deletion,
    make_without_password,
    post_page,
    read_errors,
    read_hidden,
)
from tests.support.factories import PASSWORD, count_rows_of, make_member
from tests.support.mail import NEW_PASSWORD
from tests.support.second_factors import (
    code_now,
    give_recovery_codes,
    give_totp,
    wrong_code,
)
from tests.support.whole_accounts import give_everything

pytestmark = pytest.mark.usefixtures("mail_folder")

INVALID = "The link or code is wrong or no longer valid. Start again."
WRONG_WORD = "Type the word as it is shown."
NONCE_RE = re.compile(r'nonce="[^"]+"')


def test_login_id_and_password_and_the_word_delete_the_account(
    free_member: Member,
) -> None:
    give_everything(free_member)
    phone = JSONClient(free_member)
    form = begin(free_member)
    assert not is_deleted(free_member)
    done = post_page(**form, word="DELETE")
    assert done.status_code == 200
    assert 'role="status"' in done.content.decode()
    assert is_deleted(free_member)
    assert not any(count_rows_of(free_member).values())
    assert phone.send("GET", "/api/auth/session").status_code == 401
    again = post_page(**form, word="DELETE")
    assert (again.status_code, read_errors(again)) == (400, [INVALID])


# The last word is in the decomposed form of some keyboards.
@pytest.mark.parametrize(
    "word",
    ["delete", " Delete ", "삭제", "ＤＥＬＥＴＥ", "\u1109\u1161\u11a8\u110c\u1166"],
)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_word_is_taken_in_either_language(
    free_member: Member, language: str, word: str
) -> None:
    assert post_page(language, **begin(free_member), word=word).status_code == 200
    assert is_deleted(free_member)


@pytest.mark.parametrize("word", ["", "yes", "DELETED", "d elete", "\0", "x" * 2**20])
def test_wrong_word_deletes_nothing_and_keeps_the_code(
    free_member: Member, word: str
) -> None:
    form = begin(free_member)
    for _ in range(6):
        page = post_page(**form, word=word)
        assert (page.status_code, read_errors(page)) == (400, [WRONG_WORD])
        assert len(page.content) < 10_000
    assert read_hidden(page) == form
    assert post_page(**form, word="DELETE").status_code == 200
    assert is_deleted(free_member)


@pytest.mark.parametrize(
    ("fields", "password", "status", "text"),
    [
        ({}, "wrong", 401, "The login id or password is incorrect."),
        ({"status": "SUSPENDED"}, PASSWORD, 403, "This account is suspended."),
        (
            {"status": "SUSPENDED"},
            "wrong",
            401,
            "The login id or password is incorrect.",
        ),
        ({}, "", 400, "This field may not be blank."),
        ({}, "a\0b", 400, "Control characters are not allowed."),
        (
            {},
            "x" * 2**20,
            400,
            "Must be at most 128 characters.",
        ),
    ],
)
def test_login_is_refused_as_by_the_api(
    fields: dict[str, str], password: str, status: int, text: str
) -> None:
    member = make_member(**fields)
    page = log_in_to_page(member, password)
    assert (page.status_code, read_errors(page)) == (status, [text])
    assert not has_code(member)
    assert ("WWW-Authenticate" in page.headers) == (status == 401)
    if status == 401:
        unknown = post_page(step="login", login_id="nobody", password="wrong")
        assert (unknown.status_code, read_errors(unknown)) == (status, [text])


SUSPENDED = {
    "en": "This account is suspended. It ends on 2031-05-02 09:30. Reason: <b>x</b> & y",
    "ko": "이용이 정지된 계정이에요. 2031-05-02 09:30에 끝나요. 사유: <b>x</b> & y",
}


@pytest.mark.parametrize(("language", "text"), SUSPENDED.items())
def test_suspended_member_reads_until_when_and_why(language: str, text: str) -> None:
    member = make_member(
        status="SUSPENDED",
        suspended_until=datetime(2031, 5, 2, 0, 30, tzinfo=UTC),
        suspension_reason="<b>x</b> & y",
    )
    form = {"step": "login", "login_id": member.login_id, "password": PASSWORD}
    page = post_page(language, **form)
    assert (page.status_code, read_errors(page)) == (403, [text])
    assert "<b>" not in page.content.decode()


@pytest.mark.parametrize("values", [{}, {"step": ""}, {"step": "x" * 9_000}])
def test_form_without_a_known_step_says_so(values: dict[str, str]) -> None:
    page = post_page(**values)
    text = "The form was sent incompletely. Fill in one of these forms."
    assert (page.status_code, read_errors(page)) == (400, [text])


def test_failures_count_with_those_of_the_login(free_member: Member) -> None:
    for _ in range(10):
        assert log_in_to_page(free_member, "wrong").status_code == 401
    refused = log_in_to_page(free_member)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert read_errors(refused) == ["Too many attempts. Try again later."]
    body = {"loginId": free_member.login_id, "password": PASSWORD}
    assert JSONClient().send("POST", "/api/auth/login", body).status_code == 429
    kinds = SecurityLogEntry.objects.filter(member=free_member)
    assert set(kinds.values_list("kind", flat=True)) == {"LOGIN_FAILED"}


@pytest.mark.parametrize("by_mail", [False, True])
def test_member_with_a_second_factor_shows_it(by_mail: bool) -> None:
    member = make_without_password() if by_mail else make_member()
    give_totp(member)
    form = link_form(mail_deletion(member.email)[0]) if by_mail else begin(member)
    missing = post_page(**form, word="delete")
    assert missing.status_code == 400
    assert read_errors(missing) == ["This field may not be blank."]
    text = missing.content.decode()
    assert 'name="factor"' in text
    # The word need not be typed again.
    assert 'name="word" value="delete"' in text
    wrong = post_page(**form, word="delete", factor=wrong_code())
    assert wrong.status_code == 400
    assert read_errors(wrong) == ["The code is wrong or no longer valid."]
    for factor in ("\0", "x" * 2**20):
        assert post_page(**form, word="delete", factor=factor).status_code == 400
    # A wrong word spends no code of the app.
    assert post_page(**form, word="no", factor=code_now()).status_code == 400
    assert not is_deleted(member)
    assert post_page(**form, word="delete", factor=code_now()).status_code == 200
    assert is_deleted(member)


def test_recovery_code_stands_for_the_app(free_member: Member) -> None:
    give_totp(free_member)
    recovery = give_recovery_codes(free_member)
    form = begin(free_member)
    assert 'name="factor"' in log_in_to_page(free_member).content.decode()
    # The second login has ended the first code.
    ended = post_page(**form, word="delete", factor=recovery[0])
    assert read_errors(ended) == [INVALID]
    form = begin(free_member)
    assert post_page(**form, word="delete", factor=recovery[0]).status_code == 200
    assert is_deleted(free_member)


def test_spent_code_of_the_app_is_refused(free_member: Member) -> None:
    give_totp(free_member)
    code = code_now()
    client = JSONClient(free_member)
    body = {"code": code}
    spent = client.send("POST", "/api/auth/reauthenticate", body)
    assert spent.status_code == 200
    page = post_page(**begin(free_member), word="delete", factor=code)
    assert page.status_code == 400
    assert not is_deleted(free_member)
    assert has_code(free_member)


def test_wrong_codes_of_the_app_count_with_those_of_the_login(
    free_member: Member,
) -> None:
    give_totp(free_member)
    form = begin(free_member)
    wrong = wrong_code()
    statuses = [
        post_page(**form, word="delete", factor=wrong).status_code for _ in range(11)
    ]
    assert statuses == [400] * 10 + [429]
    refused = post_page(**form, word="delete", factor=code_now())
    assert refused.status_code == 429
    assert "Retry-After" in refused.headers
    assert read_hidden(refused) == form
    assert log_in_to_page(free_member).status_code == 429
    assert not is_deleted(free_member)


def test_second_factor_from_after_the_password_is_asked_for(
    free_member: Member,
) -> None:
    form = begin(free_member)
    give_totp(free_member)
    assert post_page(**form, word="delete").status_code == 400
    assert not is_deleted(free_member)
    assert post_page(**form, word="delete", factor=code_now()).status_code == 200
    assert is_deleted(free_member)


def test_five_wrong_codes_end_the_request(free_member: Member) -> None:
    form = begin(free_member)
    for _ in range(5):
        page = post_page(**form | {"code": "XXXX-XXXX"}, word="delete")
        assert (page.status_code, read_errors(page)) == (400, [INVALID])
    assert post_page(**form, word="delete").status_code == 400
    assert not is_deleted(free_member)


def test_code_counts_for_ten_minutes(free_member: Member) -> None:
    form = begin(free_member)
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        page = post_page(**form, word="delete")
    assert (page.status_code, read_errors(page)) == (400, [INVALID])
    assert not is_deleted(free_member)


def change_password(member: Member, administrator: Member) -> None:
    body = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    client = JSONClient(member)
    assert client.send("PUT", "/api/auth/password", body).status_code == 204


def suspend(member: Member, administrator: Member) -> None:
    path = f"/api/admin/members/{member.pk}/status"
    client = JSONClient(administrator)
    assert client.send("PUT", path, {"status": "SUSPENDED"}).status_code == 200
    assert client.send("PUT", path, {"status": "ACTIVE"}).status_code == 200


def change_role(member: Member, administrator: Member) -> None:
    path = f"/api/admin/members/{member.pk}/role"
    body = {"role": "MODERATOR"}
    assert JSONClient(administrator).send("PUT", path, body).status_code == 200


def end_other_sessions(member: Member, administrator: Member) -> None:
    path = "/api/auth/sessions/end-others"
    assert JSONClient(member).send("POST", path).status_code == 200


@pytest.mark.parametrize(
    "change", [change_password, suspend, change_role, end_other_sessions]
)
def test_change_of_access_ends_the_code(
    free_member: Member, administrator: Member, change: Any
) -> None:
    form = begin(free_member)
    change(free_member, administrator)
    page = post_page(**form, word="delete")
    assert (page.status_code, read_errors(page)) == (400, [INVALID])
    assert not is_deleted(free_member)


def test_code_of_another_purpose_deletes_nothing(free_member: Member) -> None:
    sent = JSONClient(free_member).send("POST", "/api/auth/email/verification", {})
    (mail,) = mail_deletion("nobody@example.com")
    form = {"step": "confirm", "request": sent.data["requestId"], "word": "delete"}
    assert post_page(**form, code=mail.codes[0]).status_code == 400
    assert not is_deleted(free_member)


def test_administrator_deletes_the_own_account(administrator: Member) -> None:
    # As by DELETE /me.
    assert post_page(**begin(administrator), word="delete").status_code == 200
    assert is_deleted(administrator)


def test_nobody_is_logged_in_by_the_page(free_member: Member) -> None:
    page = log_in_to_page(free_member)
    assert not page.cookies
    assert AuthSession.objects.count() == 0


def test_get_and_head_spend_nothing(free_member: Member) -> None:
    form = begin(free_member)
    for code in (form["code"], "XXXX-XXXX", ""):
        query = {"request": form["request"], "code": code}
        for _ in range(6):
            assert JSONClient().get(PAGE, query).status_code == 200
            assert JSONClient().head(PAGE, query).status_code == 200
    assert post_page(**form, word="delete").status_code == 200


def test_get_does_not_tell_whether_a_code_is_right(free_member: Member) -> None:
    give_totp(free_member)
    form = begin(free_member)
    pages = set()
    for code in (form["code"], "XXXXXXXX"):
        query = {"request": form["request"], "code": code}
        text = JSONClient().get(PAGE, query).content.decode()
        pages.add(NONCE_RE.sub("", text).replace(code, "code"))
    assert len(pages) == 1


@pytest.mark.parametrize(
    ("language", "texts"),
    [("ko", ("계정 삭제", "삭제’를 입력")), ("en", ("Delete the account", "DELETE"))],
)
def test_pages_are_in_the_language_of_the_browser(
    free_member: Member, language: str, texts: tuple[str, str]
) -> None:
    start = JSONClient(HTTP_ACCEPT_LANGUAGE=language).get(PAGE)
    login = {"login_id": free_member.login_id, "password": PASSWORD}
    second = post_page(language, step="login", **login)
    done = post_page(language, **read_hidden(second), word="delete")
    for page in (start, second, done):
        assert f'<html lang="{language}">' in page.content.decode()
        assert texts[0] in page.content.decode()
    assert texts[1] in second.content.decode()


def test_pages_have_no_script_and_tell_no_other_site_their_address(
    free_member: Member,
) -> None:
    form = begin(free_member)
    pages = [
        JSONClient().get(PAGE),
        JSONClient().get(PAGE, {"request": form["request"], "code": form["code"]}),
        post_page(step="mail", email="a@example.com"),
        post_page(**form, word="no"),
        post_page(**form, word="delete"),
        post_page(**form, word="delete"),
    ]
    for page in pages:
        text = page.content.decode()
        assert "<script" not in text
        assert "http" not in text
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert page.headers["Cache-Control"] == "no-store"
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert not page.cookies


def test_inputs_have_labels_and_names_for_password_managers() -> None:
    text = JSONClient().get(PAGE).content.decode()
    for name, autocomplete in (
        ("login_id", "username"),
        ("password", "current-password"),
        ("email", "email"),
    ):
        assert f'<label for="{name}">' in text
        (field,) = [line for line in text.splitlines() if f'id="{name}"' in line]
        assert f'autocomplete="{autocomplete}"' in field
    refused = post_page(step="login", login_id="mike", password="wrong")
    text = refused.content.decode()
    assert text.count('aria-describedby="login-error"') == 2
    assert 'id="login-error"' in text
    assert 'value="mike"' in text
    assert "wrong" not in text


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"step": "other"},
        {"step": "login"},
        {"step": "mail"},
        {"step": "mail", "email": "nobody"},
        {"step": "mail", "email": "a@example.com\nBcc: b@example.com"},
        {"step": "mail", "email": "a\0@example.com"},
        {"step": "mail", "email": "x" * 2**20},
        {"step": "login", "login_id": "\0", "password": "\0"},
        {"step": "login", "login_id": "x" * 2**20, "password": "x"},
        {"step": "login", "login_id": "<script>", "password": ""},
        {"step": "confirm"},
        {"step": "confirm", "request": "1", "code": "\0", "word": "delete"},
        {"step": "confirm", "request": "<script>", "code": "x", "typed": "1"},
        {"step": "confirm", "request": "x" * 2**20, "code": "x" * 2**20, "typed": "1"},
    ],
)
def test_malformed_form_is_refused(form: dict[str, str]) -> None:
    page = post_page(**form)
    assert page.status_code == 400
    assert "<script>" not in page.content.decode()
    assert len(page.content) < 10_000


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "text/plain", "multipart/form-data; boundary=x", "x"],
)
def test_body_of_another_type_is_refused(content_type: str) -> None:
    for body in (b"", b"{", b'{"step": "login"}', b"\xff\x00", b"--x\r\n\r\n"):
        page = JSONClient().generic("POST", PAGE, body, content_type=content_type)
        assert page.status_code == 400


def test_body_that_is_too_large_is_refused() -> None:
    page = post_page(step="login", login_id="x" * 2**22)
    assert page.status_code == 413


@pytest.mark.parametrize(
    "query", ["", "?request=1", "?code=%00", "?request=%3Cscript%3E&code=%3Cb%3E%00"]
)
def test_page_of_a_broken_link_is_shown(query: str) -> None:
    page = JSONClient().get(PAGE + query)
    assert page.status_code == 200
    assert "<script>" not in page.content.decode()


def test_landing_page_links_to_the_page(anonymous: JSONClient) -> None:
    assert f'href="{PAGE}"' in anonymous.get("/").content.decode()
