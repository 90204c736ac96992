"""The outbox of mails: written with their reason, sealed, limited (spec 2.10)."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.errors import MailNotConfiguredError
from accounts.mail.outbox import (
    consume_mail_limits,
    is_mailable,
    queue_mail,
    queue_notice,
)
from accounts.models import Mail, Member, RateLimit
from core.errors import InvalidFieldError, RateLimitedError
from core.sealing import UnsealingError
from tests.support.mail import read_waiting_mails

pytestmark = pytest.mark.usefixtures("mail_folder")

CONTEXT = {"login_id": "minji", "code": "WDJB-MJHT", "link": "http://127.0.0.1:8000/x"}


def queue(member: Member, **options: Any) -> Mail:
    values: dict[str, Any] = {"to": member.email, "language": "en"} | options
    return queue_mail(member, "verify_email", CONTEXT, **values)


def test_mail_is_written_in_the_transaction_of_its_reason(free_member: Member) -> None:
    with transaction.atomic():
        queue(free_member)
        transaction.set_rollback(True)
    assert Mail.objects.count() == 0
    queue(free_member)
    assert Mail.objects.get().member == free_member


def test_what_a_mail_says_is_sealed(free_member: Member) -> None:
    mail = queue(free_member)
    stored = bytes(mail.content or b"")
    for secret in (free_member.email, "WDJB", "minji"):
        assert secret.encode() not in stored
    (read,) = read_waiting_mails()
    assert read.to == free_member.email
    assert "WDJB-MJHT" in read.subject
    assert "minji" in read.text


def test_content_of_another_mail_cannot_be_put_in_its_place(
    free_member: Member,
) -> None:
    first, second = queue(free_member), queue(free_member)
    Mail.objects.filter(pk=first.pk).update(content=second.content)
    with pytest.raises(UnsealingError):
        read_waiting_mails()


def test_database_keeps_content_exactly_while_a_mail_waits(free_member: Member) -> None:
    mail = queue(free_member)
    rows = Mail.objects.filter(pk=mail.pk)
    sent = {"state": "SENT"}
    for values in ({"content": None}, sent, sent | {"ended_at": timezone.now()}):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(**values)


def test_without_a_server_a_mail_is_refused(free_member: Member, settings: Any) -> None:
    settings.MAIL_SERVER = None
    with pytest.raises(MailNotConfiguredError):
        queue(free_member)
    queue_notice(free_member, "email_change")
    assert Mail.objects.count() == 0


@pytest.mark.parametrize(
    "address",
    [
        "a@example.com\nBcc: b@example.com",
        "a@example.com\r\n",
        "a\n@example.com",
        "a@example.com, b@example.com",
        "민지@example.com",
        "a",
        "",
    ],
)
def test_address_that_breaks_headers_is_refused(
    free_member: Member, address: str
) -> None:
    assert not is_mailable(address)
    with pytest.raises(InvalidFieldError):
        queue(free_member, to=address)
    # A provider may have told such an address: a notice is left out.
    free_member.email = address
    queue_notice(free_member, "email_change")
    assert Mail.objects.count() == 0


def test_newline_in_a_name_does_not_reach_a_header(
    free_member: Member, settings: Any
) -> None:
    settings.ABOUT = settings.ABOUT | {"name": "Evil\r\nBcc: b@example.com"}
    queue(free_member)
    (read,) = read_waiting_mails()
    assert len(read.subject.splitlines()) == 1


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize(
    "template", ["verify_email", "reset_password", "email_change", "password_was_reset"]
)
def test_each_template_names_the_login_id_and_loads_nothing(
    free_member: Member, language: str, template: str
) -> None:
    context = CONTEXT | {
        "accounts": [
            {"login_id": "minji", "code": "WDJB-MJHT", "link": CONTEXT["link"]},
            {"login_id": "idp-1", "provider": "Google"},
        ]
    }
    queue_mail(free_member, template, context, to="a@example.com", language=language)
    (read,) = read_waiting_mails()
    assert "minji" in read.text
    assert "minji" in read.html
    assert "<img" not in read.html
    assert "<script" not in read.html
    assert read.subject.isascii() == (language == "en")
    assert f'<html lang="{language}">' in read.html


def test_html_escapes_what_the_text_says(free_member: Member) -> None:
    context = CONTEXT | {"login_id": "<b>&"}
    queue_mail(free_member, "verify_email", context, to="a@example.com", language="en")
    (read,) = read_waiting_mails()
    assert "<b>&" in read.text
    assert "&lt;b&gt;&amp;" in read.html
    assert "<b>" not in read.html


def test_code_and_own_link_stand_out_and_no_other_text_is_a_link(
    free_member: Member, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://ledger.example"
    context = CONTEXT | {
        "login_id": "evil.example",
        "link": "https://ledger.example/account/confirm?request=1&code=WDJB-MJHT",
    }
    queue_mail(free_member, "verify_email", context, to="a@example.com", language="en")
    (read,) = read_waiting_mails()
    assert read.html.count("<a ") == 1
    assert 'href="https://ledger.example/account/confirm?request=1&amp;' in read.html


@pytest.mark.parametrize(("is_verified", "count"), [(True, 8), (False, 5)])
def test_notices_to_an_unverified_address_are_limited(
    free_member: Member, is_verified: bool, count: int
) -> None:
    # Whoever signs up with a stranger's address makes us their sender.
    free_member.verified_email = free_member.email if is_verified else ""
    for _ in range(4):
        queue_notice(free_member, "email_change")
        queue_notice(free_member, "factor_added")
    mails = read_waiting_mails()
    assert len(mails) == count
    assert free_member.login_id in mails[0].text
    assert free_member.display_name not in mails[0].text


def test_one_recipient_gets_five_mails_an_hour() -> None:
    for _ in range(5):
        consume_mail_limits("a@example.com")
    with pytest.raises(RateLimitedError):
        consume_mail_limits("A@Example.com")
    consume_mail_limits("b@example.com")
    assert not RateLimit.objects.filter(key__contains="example").exists()


def test_mails_go_with_the_account(free_member: Member) -> None:
    queue(free_member)
    free_member.delete()
    assert Mail.objects.count() == 0


def test_notices_of_one_kind_are_five_a_day_and_the_next_tells_the_rest(
    verified_member: Member,
) -> None:
    for _ in range(8):
        queue_notice(verified_member, "factor_added")
    queue_notice(verified_member, "factor_removed")
    texts = [mail.text for mail in read_waiting_mails()]
    assert len(texts) == 6
    assert not any("left out" in text for text in texts)
    RateLimit.objects.filter(key__startswith="notice:").delete()
    for _ in range(2):
        queue_notice(verified_member, "factor_added")
    told, again = read_waiting_mails()[-2:]
    assert "3 more mails of this kind were left out" in told.text
    assert "left out" not in again.text
