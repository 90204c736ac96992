"""Notices by mail about how an account is accessed."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.utils import timezone

from accounts.models import AuthSession, Mail, Member, SecurityLogEntry
from accounts.security.log import Kind
from accounts.tokens.tokens import notify_of_expiring_tokens
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD
from tests.support.mail import ReadMail, read_waiting_mails
from tests.support.second_factors import give_totp
from tests.support.smtp import Inbox

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("inbox")]

LURE = "visit-evil.example"


@pytest.fixture
def member(free_member: Member, inbox: Inbox) -> Member:
    """Return a member with a verified address."""
    free_member.verified_email = free_member.email
    free_member.save_fields("verified_email")
    return free_member


def log_in(member: Member, user_agent: str = "", **body: Any) -> JSONClient:
    client = JSONClient(HTTP_USER_AGENT=user_agent)
    credentials = {"loginId": member.login_id, "password": PASSWORD}
    answer = client.send("POST", "/api/auth/login", credentials | body)
    client.use_token(answer.data["token"])
    client.cookies.clear()
    return client


def read_one() -> ReadMail:
    (mail,) = read_waiting_mails()
    return mail


def test_first_login_is_not_told(member: Member) -> None:
    log_in(member)
    assert not Mail.objects.exists()


@pytest.mark.parametrize("locale", ["en", "ko"])
def test_login_from_a_new_device_is_told(member: Member, locale: str) -> None:
    Member.objects.filter(pk=member.pk).update(locale=locale)
    log_in(member, "Chrome/1 Windows")
    log_in(member, "Chrome/1 Windows")
    assert not Mail.objects.exists()
    log_in(member, "Firefox/1 Linux")
    mail = read_one()
    assert mail.to == member.email
    assert member.login_id in mail.text
    assert "Firefox, Linux" in mail.text
    assert "127.0.0.1" in mail.text


def test_mail_has_no_words_of_who_logs_in(member: Member) -> None:
    SecurityLogEntry.objects.create(member=member, kind=Kind.LOGIN)
    log_in(member, LURE, deviceName=LURE)
    assert LURE not in read_one().text


def test_factor_is_told_when_it_comes_and_goes(member: Member) -> None:
    give_totp(member)
    call_command("end_factors", member.login_id)
    assert "Staff" in read_one().text
    assert Mail.objects.get().template == "factor_removed"


def test_new_token_is_told(member: Member) -> None:
    body = {"name": LURE, "scopes": ["board:read"]}
    JSONClient(member).send("POST", "/api/auth/tokens", body)
    assert Mail.objects.get().template == "token_created"
    assert LURE not in read_one().text


@pytest.mark.parametrize("is_verified", [True, False])
def test_changed_password_lists_the_tokens_that_stay(
    member: Member, is_verified: bool
) -> None:
    client = JSONClient(member)
    body = {"name": "Porch tablet", "scopes": ["board:read"]}
    client.send("POST", "/api/auth/tokens", body)
    Mail.objects.all().delete()
    if not is_verified:
        Member.objects.filter(pk=member.pk).update(verified_email="")
    change = {"currentPassword": PASSWORD, "newPassword": "another-horse-9"}
    client.send("PUT", "/api/auth/password", change)
    mail = read_one()
    assert "1 personal token" in mail.text
    # The name is the member's own word, and the address perhaps a stranger's.
    assert ("Porch tablet" in mail.text) == is_verified


def test_token_is_told_once_two_weeks_before_its_end(member: Member) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for days in (90, 10):
            body = {"name": "T", "scopes": ["board:read"], "expiresInDays": days}
            JSONClient(member).send("POST", "/api/auth/tokens", body)
        Mail.objects.all().delete()
        assert notify_of_expiring_tokens(timezone.now()) == 0
        clock.shift(timedelta(days=76, minutes=1))
        assert notify_of_expiring_tokens(timezone.now()) == 1
        assert notify_of_expiring_tokens(timezone.now()) == 0
        end = AuthSession.objects.filter(kind="TOKEN").latest("expires_at").expires_at
    assert f"{end:%Y-%m-%d}" in read_one().text
