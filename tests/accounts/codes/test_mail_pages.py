"""The pages of the links in mails: they show a button, and spend nothing (spec 2.11)."""

import json
from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.mail import (
    NEW_PASSWORD,
    ReadMail,
    ask_reset,
    confirm_reset,
    log_in,
    process_resets,
    read_waiting_mails,
)

pytestmark = pytest.mark.usefixtures("mail_folder")


def page_of(mail: ReadMail) -> str:
    return mail.links[0].removeprefix("http://127.0.0.1:8000")


def post_form(path: str, **values: str) -> Any:
    return JSONClient().post(path, values)


@pytest.fixture
def reset_mail(free_member: Member, settings: Any) -> ReadMail:
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    ask_reset(loginId=free_member.login_id)
    (mail,) = process_resets()
    return mail


def test_get_and_head_of_a_link_spend_nothing(reset_mail: ReadMail) -> None:
    path = page_of(reset_mail)
    for _ in range(3):
        page = JSONClient().get(path)
        assert page.status_code == 200
        assert JSONClient().head(path).status_code == 200
    assert confirm_reset(reset_mail).status_code == 204


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
def test_page_of_a_broken_link_says_so(page: str) -> None:
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
