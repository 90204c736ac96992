"""Codes that allow the deletion of an account by its page (spec 2.9).

A code is made after the password, or mailed to an account without a password.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from accounts.account_deletion import delete_account
from accounts.codes.code_mails import CodeMail, list_mailed, request_codes
from accounts.codes.codes import (
    CODE_LIFETIME,
    check_code,
    make_code,
    save_code,
    spend_code,
)
from accounts.errors import CodeInvalidError, InvalidCredentialsError
from accounts.login.identities import is_address_proved
from accounts.login.password import authenticate_member
from accounts.login.second_factor import CodeMatch, count_wrong_codes, match_code
from accounts.models import Code, CodeRequest, LinkedIdentity, Mail, Member
from accounts.security.pending_steps import end_codes
from accounts.security.rate_limits import RateLimitPolicy
from core.db.transactions import retry_on_conflict

PURPOSE = CodeRequest.Purpose.DELETE_ACCOUNT


class SecondFactorInvalidError(CodeInvalidError):
    """The code of the second factor is missing, wrong or spent."""


@dataclass(frozen=True, slots=True)
class DeletionCode:
    """A code for its page, which no mail contains."""

    request_id: uuid.UUID
    code: str
    member: Member


def _explain(member: Member) -> dict[str, str]:
    if member.has_usable_password():
        return {"login": "password", "link": f"{settings.PUBLIC_URL}/account/delete"}
    if not is_address_proved(member):
        return {"login": LinkedIdentity.Provider.GOOGLE.label}
    return {}


DELETION_MAIL = CodeMail(
    PURPOSE,
    name="account deletion",
    template="delete_account",
    page="delete",
    per_ip=RateLimitPolicy("account-deletion", 5, timedelta(hours=1)),
    per_address=RateLimitPolicy("account-deletion-address", 3, timedelta(hours=1)),
    explain=_explain,
)


def request_deletion(email: str, ip_address: str, now: datetime) -> CodeRequest:
    return request_codes(DELETION_MAIL, {"email": email}, ip_address, now)


def begin_deletion(
    login_id: str, password: str, ip_address: str, now: datetime
) -> DeletionCode:
    """Return a code for the member; raise the errors of `authenticate_member`."""
    member = authenticate_member(login_id, password, ip_address)
    return _make_code(member, now)


@retry_on_conflict
def _make_code(member: Member, now: datetime) -> DeletionCode:
    with transaction.atomic():
        # A password change or suspension waits for the lock, or is seen here.
        rows = Member.objects.select_for_update(no_key=True).filter(pk=member.pk)
        locked = rows.filter(password=member.password, status=member.status).first()
        if locked is None:
            raise InvalidCredentialsError
        end_codes(locked, PURPOSE)
        request = CodeRequest.objects.create(
            purpose=PURPOSE,
            member=locked,
            created_at=now,
            expires_at=now + CODE_LIFETIME,
            processed_at=now,
        )
        code = make_code()
        save_code(request, locked, code, email="")
    return DeletionCode(request.pk, code, locked)


def check_deletion_code(request_id: uuid.UUID, typed: str, now: datetime) -> Code:
    """Return the code with its member, not spent; a wrong one counts as a try."""
    code = check_code(PURPOSE, request_id, typed, now)
    member = Member.objects.filter(pk=code.member_id).first()
    if member is None:
        raise CodeInvalidError
    code.member = member
    return code


def confirm_deletion(
    code: Code, factor_code: str, ip_address: str, now: datetime
) -> None:
    """Delete the account of the code.

    Raises `SecondFactorInvalidError`, which leaves the code, or `CodeInvalidError`.
    """
    member = code.member
    if not member.has_second_factor:
        _delete(code, None, now)
        return
    with count_wrong_codes(member, factor_code, ip_address):
        match = match_code(member, factor_code, now)
        if match is None:
            raise SecondFactorInvalidError
        _delete(code, match, now)


def _delete(code: Code, match: CodeMatch | None, now: datetime) -> None:
    def check(member: Member) -> None:
        # A mail about several accounts is known by its codes alone.
        Mail.objects.filter(codes=code).delete()
        # Another password, role, status or address has ended the code.
        spend_code(code)
        if code.email and not _may_delete_by_mail(member, code.email):
            raise CodeInvalidError
        if member.has_second_factor and not (match and match.spend(now)):
            raise SecondFactorInvalidError

    try:
        delete_account(code.member, check=check)
    except Member.DoesNotExist:
        raise CodeInvalidError from None


def _may_delete_by_mail(member: Member, email: str) -> bool:
    """Check the locked member: one with a password proves it instead."""
    return (
        list_mailed().filter(pk=member.pk, email=email).exists()
        and not member.has_usable_password()
        and is_address_proved(member)
    )
