"""Logins with a second factor: a ticket stands for the first step (spec 2.16)."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import F

from accounts.errors import CodeInvalidError, SecondFactorRequiredError
from accounts.login import start_session
from accounts.models import LoginTicket, Member
from accounts.recovery_codes import list_code_methods
from accounts.second_factor import CodeMatch, count_wrong_codes, match_code
from accounts.sessions import hash_session_key
from core.db.transactions import retry_on_conflict

TICKET_TIME = timedelta(minutes=5)
MAX_ATTEMPTS = 5
TICKET_BYTES = 32
PURGE_BATCH = 5_000

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class CompletedLogin:
    """The member, the key and expiry of the session, and what the answer adds."""

    member: Member
    key: str
    expires_at: datetime
    extra: dict[str, Any]


def require_second_factor(
    member: Member, now: datetime, *, device_name: str = "", extra: dict[str, Any]
) -> None:
    """Raise `SecondFactorRequiredError` with a ticket if the member has a factor.

    Call it after the first step, of whatever kind, and before the session is created.
    """
    if not member.has_second_factor:
        return
    key = secrets.token_urlsafe(TICKET_BYTES)
    expires_at = now + TICKET_TIME
    LoginTicket.objects.create(
        digest=hash_session_key(key),
        member=member,
        auth_hash=member.get_session_auth_hash(),
        expires_at=expires_at,
        device_name=device_name,
        extra=extra,
    )
    raise SecondFactorRequiredError(
        members={
            "ticket": key,
            "methods": list_code_methods(member),
            "expiresAt": expires_at,
        }
    )


def complete_login(
    ticket_key: str, code: str, *, ip_address: str, user_agent: str, now: datetime
) -> CompletedLogin:
    """Create the session of a ticket and a code of the second factor.

    Raises as `spend_ticket` does.
    """

    def start(member: Member, ticket: LoginTicket) -> CompletedLogin:
        key, expires_at = start_session(
            member,
            ip_address=ip_address or None,
            user_agent=user_agent,
            device_name=ticket.device_name,
        )
        return CompletedLogin(member, key, expires_at, ticket.extra)

    return spend_ticket(ticket_key, code, ip_address, now, start)


def spend_ticket(
    ticket_key: str,
    code: str,
    ip_address: str,
    now: datetime,
    start: Callable[[Member, LoginTicket], Result],
) -> Result:
    """Spend a ticket and a code, and return the result of `start`, in one transaction.

    Raises `CodeInvalidError` for a wrong or spent code and for a ticket that is wrong
    or dead, or `RateLimitedError`.
    """
    digest = hash_session_key(ticket_key)
    tickets = LoginTicket.objects.filter(digest=digest, expires_at__gt=now)
    ticket = tickets.select_related("member").first()
    if ticket is None:
        raise CodeInvalidError
    with count_wrong_codes(ticket.member, ip_address):
        # Counted before the code is looked at: guesses at once are as many.
        if not tickets.filter(attempts__lt=MAX_ATTEMPTS).update(
            attempts=F("attempts") + 1
        ):
            raise CodeInvalidError
        match = match_code(ticket.member, code, now)
        if match is None:
            raise CodeInvalidError
        return _spend(ticket, match, now, start)


@retry_on_conflict
def _spend(
    ticket: LoginTicket,
    match: CodeMatch,
    now: datetime,
    start: Callable[[Member, LoginTicket], Result],
) -> Result:
    with transaction.atomic():
        rows = Member.objects.select_for_update(no_key=True)
        member = rows.filter(pk=ticket.member_id).first()
        # Suspended, or with another password since the first step.
        if (
            member is None
            or not member.is_active
            or member.get_session_auth_hash() != ticket.auth_hash
        ):
            raise CodeInvalidError
        if not LoginTicket.objects.filter(pk=ticket.pk).delete()[0]:
            raise CodeInvalidError
        if not match.spend(now):
            raise CodeInvalidError
        return start(member, ticket)


def purge_login_tickets(now: datetime) -> int:
    """Delete the tickets that have expired, in batches; return their number."""
    purged = 0
    while True:
        expired = LoginTicket.objects.filter(expires_at__lte=now).order_by()
        digests = list(expired.values_list("pk", flat=True)[:PURGE_BATCH])
        if not digests:
            return purged
        purged += LoginTicket.objects.filter(pk__in=digests).delete()[0]
