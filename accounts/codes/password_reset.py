"""Forgotten passwords: a code by mail allows a new password (spec 2.12)."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from accounts.codes.code_mails import (
    CodeMail,
    list_mailed,
    request_codes,
    store_request,
)
from accounts.codes.codes import check_code, spend_code
from accounts.errors import CodeInvalidError
from accounts.login.identities import remove_unproved_identities
from accounts.mail.outbox import queue_notice, require_mail_configured
from accounts.members.passwords import validate_new_password
from accounts.models import Code, CodeRequest, LinkedIdentity, Member
from accounts.security.events import SecurityEvent, log_security_event
from accounts.security.pending_steps import end_codes
from accounts.security.rate_limits import RateLimitPolicy
from accounts.sessions.store import revoke_sessions
from core.db.transactions import retry_on_conflict

PURPOSE = CodeRequest.Purpose.RESET_PASSWORD


def _explain(member: Member) -> dict[str, str]:
    if member.provider == Member.Provider.IDP:
        return {"provider": LinkedIdentity.Provider.GOOGLE.label}
    return {}


RESET_MAIL = CodeMail(
    PURPOSE,
    name="password reset",
    template="reset_password",
    page="reset",
    per_ip=RateLimitPolicy("password-reset", 5, timedelta(hours=1)),
    per_address=RateLimitPolicy("password-reset-address", 3, timedelta(hours=1)),
    explain=_explain,
)


def request_reset(
    target: Mapping[str, str], ip_address: str, now: datetime
) -> CodeRequest:
    """Store a request for a typed `login_id` or `email`."""
    return request_codes(RESET_MAIL, target, ip_address, now)


def request_reset_for(member: Member, now: datetime) -> CodeRequest:
    """Store an administrator's request, in the transaction of its log."""
    require_mail_configured()
    return store_request(RESET_MAIL, now, member=member)


def confirm_reset(
    request_id: uuid.UUID, typed: str, new_password: str, now: datetime
) -> None:
    code = check_code(PURPOSE, request_id, typed, now)
    member = _list_resettable().filter(pk=code.member_id).first()
    if member is None:
        raise CodeInvalidError
    validate_new_password(new_password, member, field="newPassword")
    member.set_password(new_password)
    _set_password(member, code, now)


@retry_on_conflict
def _set_password(member: Member, code: Code, now: datetime) -> None:
    with transaction.atomic():
        rows = _list_resettable().select_for_update(no_key=True)
        locked = rows.filter(pk=member.pk, email=code.email).first()
        if locked is None:
            raise CodeInvalidError
        spend_code(code)
        if not locked.is_email_verified:
            remove_unproved_identities(locked, code.email)
        locked.password = member.password
        locked.verified_email = code.email
        locked.pending_email = ""
        locked.save_fields("password", "verified_email", "pending_email")
        end_codes(locked)
        revoke_sessions(locked)
        log_security_event(SecurityEvent.PASSWORD_RESET, locked.pk)
        queue_notice(locked, "password_was_reset")


def _list_resettable() -> QuerySet[Member]:
    return list_mailed().exclude(provider=Member.Provider.IDP)
