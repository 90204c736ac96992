"""Verified addresses: a code proves that mails to an address reach the member.

The rules are in spec 2.11.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from accounts.codes import (
    CODE_LIFETIME,
    check_code,
    end_codes,
    format_code,
    make_code,
    make_link,
    save_code,
    spend_code,
)
from accounts.errors import (
    AlreadyVerifiedError,
    CodeInvalidError,
    EmailNotVerifiedError,
)
from accounts.mail.outbox import (
    consume_mail_limits,
    queue_mail,
    require_mail_configured,
)
from accounts.models import Code, CodeRequest, Member
from accounts.rate_limits import RateLimitPolicy, consume_attempt
from accounts.security_events import SecurityEvent, log_security_event
from core.db.transactions import retry_on_conflict

RESEND_INTERVAL = timedelta(minutes=1)
RESEND_LIMIT = RateLimitPolicy("email-verification", 1, RESEND_INTERVAL)
PURPOSE = CodeRequest.Purpose.VERIFY_EMAIL


@dataclass(frozen=True, slots=True)
class SentCode:
    """A code on its way to an address; `resend_after` is when to ask again."""

    request_id: uuid.UUID
    expires_at: datetime
    resend_after: datetime


def own_email_condition() -> Q:
    """Return the condition that the address is taken for the member's own.

    It is verified, that of the sign-up, or written with fresh authentication. Any other
    may be that of a thief of a session, or of an administrator.
    """
    is_proved = Q(verified_email=F("email")) | Q(authenticated_email=F("email"))
    return Q(email_changed_at=None) | (is_proved & ~Q(email=""))


def is_email_unproved(member: Member) -> bool:
    """Return True if the address to be verified may be that of another person."""
    return (
        not member.pending_email
        and member.email_changed_at is not None
        and member.email != member.authenticated_email
    )


def require_verified_email(member: Member) -> None:
    """Raise `EmailNotVerifiedError` if the board asks for a verified address."""
    if not settings.BOARD_NEEDS_VERIFIED_EMAIL:
        return
    # A session knows only some fields of its member.
    if not Member.objects.get(pk=member.pk).is_email_verified:
        raise EmailNotVerifiedError


def request_verification(member: Member, ip_address: str, now: datetime) -> SentCode:
    """Send a code to the pending address, else to the unverified one.

    Raises `MailNotConfiguredError`, `AlreadyVerifiedError` or `RateLimitedError`.
    """
    require_mail_configured()
    address = _address_to_verify(member)
    consume_attempt(RESEND_LIMIT, str(member.pk))
    consume_mail_limits(address, ip_address)
    request = _send_code(member, now)
    return SentCode(request.pk, request.expires_at, now + RESEND_INTERVAL)


@retry_on_conflict
def _send_code(member: Member, now: datetime) -> CodeRequest:
    with transaction.atomic():
        locked = Member.objects.select_for_update(no_key=True).get(pk=member.pk)
        address = _address_to_verify(locked)
        end_codes(locked, PURPOSE)
        request = CodeRequest.objects.create(
            purpose=PURPOSE,
            member=locked,
            created_at=now,
            expires_at=now + CODE_LIFETIME,
            processed_at=now,
        )
        code = make_code()
        mail = queue_mail(
            locked,
            "verify_email",
            {
                "login_id": locked.login_id,
                "code": format_code(code),
                "link": make_link("confirm", request.pk, code),
            },
            to=address,
            language=locked.locale,
            expires_at=request.expires_at,
        )
        save_code(request, locked, code, email=address, mail=mail)
    return request


def confirm_verification(request_id: uuid.UUID, typed: str, now: datetime) -> Member:
    """Verify the address to which the code was sent; return its member.

    A pending address takes the place of the one before. Raises `CodeInvalidError`.
    """
    return _spend(check_code(PURPOSE, request_id, typed, now))


@retry_on_conflict
def _spend(code: Code) -> Member:
    with transaction.atomic():
        rows = Member.objects.select_for_update(no_key=True)
        member = rows.filter(pk=code.member_id, status=Member.Status.ACTIVE).first()
        if member is None or code.email != (member.pending_email or member.email):
            raise CodeInvalidError
        spend_code(code)
        is_changed = member.email != code.email
        member.email = member.verified_email = code.email
        member.pending_email = ""
        member.save_fields("email", "verified_email", "pending_email")
        if is_changed:
            # Codes that went to the address before.
            end_codes(member)
            log_security_event(SecurityEvent.EMAIL_CHANGED, member.pk)
        log_security_event(SecurityEvent.EMAIL_VERIFIED, member.pk)
    return member


def _address_to_verify(member: Member) -> str:
    if not member.pending_email and member.is_email_verified:
        raise AlreadyVerifiedError
    return member.pending_email or member.email
