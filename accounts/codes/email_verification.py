"""Verification of email addresses by code (spec 2.11)."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from accounts.codes.codes import (
    CODE_LIFETIME,
    check_code,
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
    MAIL_PER_IP,
    consume_mail_limits,
    queue_mail,
    require_mail_configured,
)
from accounts.models import Code, CodeRequest, Member
from accounts.security.events import SecurityEvent, log_security_event
from accounts.security.pending_steps import end_codes
from accounts.security.rate_limits import RateLimitPolicy
from core.client_ip import rate_limit_key
from core.db.transactions import retry_on_conflict

RESEND_INTERVAL = timedelta(minutes=1)
RESEND_LIMIT = RateLimitPolicy("email-verification", 1, RESEND_INTERVAL)
PURPOSE = CodeRequest.Purpose.VERIFY_EMAIL


@dataclass(frozen=True, slots=True)
class SentCode:
    request_id: uuid.UUID
    expires_at: datetime
    resend_after: datetime


def is_email_unproved(member: Member) -> bool:
    return (
        not member.pending_email
        and member.email_changed_at is not None
        and member.email != member.authenticated_email
    )


def require_verified_email(member: Member) -> None:
    if not settings.BOARD_NEEDS_VERIFIED_EMAIL:
        return
    # The session's copy of the member has no address.
    if not Member.objects.get(pk=member.pk).is_email_verified:
        raise EmailNotVerifiedError


def request_verification(member: Member, ip_address: str, now: datetime) -> SentCode:
    require_mail_configured()
    address = _address_to_verify(member)
    RESEND_LIMIT.consume(str(member.pk))
    MAIL_PER_IP.consume(rate_limit_key(ip_address))
    consume_mail_limits(address)
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


def confirm_verification(
    request_id: uuid.UUID, typed: str, now: datetime, *, caller: Member | None = None
) -> Member:
    """Verify the address; one that staff have entered only if its member calls."""
    return _spend(check_code(PURPOSE, request_id, typed, now), caller)


@retry_on_conflict
def _spend(code: Code, caller: Member | None) -> Member:
    with transaction.atomic():
        rows = Member.objects.select_for_update(no_key=True)
        member = rows.filter(pk=code.member_id, status=Member.Status.ACTIVE).first()
        if member is None or code.email != (member.pending_email or member.email):
            raise CodeInvalidError
        is_own_entry = bool(member.pending_email) or not member.is_email_from_staff
        if not (is_own_entry or (caller is not None and caller.pk == member.pk)):
            raise CodeInvalidError
        spend_code(code)
        is_changed = member.email != code.email
        member.email = member.verified_email = code.email
        member.pending_email, member.is_email_from_staff = "", False
        member.save_fields(
            "email", "verified_email", "pending_email", "is_email_from_staff"
        )
        if is_changed:
            end_codes(member)
            log_security_event(SecurityEvent.EMAIL_CHANGED, member.pk)
        log_security_event(SecurityEvent.EMAIL_VERIFIED, member.pk)
    return member


def _address_to_verify(member: Member) -> str:
    if not member.pending_email and member.is_email_verified:
        raise AlreadyVerifiedError
    return member.pending_email or member.email
