"""Tickets: the first step of a login with a second factor (spec 2.16)."""

import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

import orjson
from django.db import transaction
from django.db.models import F

from accounts.errors import CodeInvalidError, HashingBusyError, TooManyHashesError
from accounts.login.identity_provider import Identity
from accounts.login.recovery_codes import list_code_methods
from accounts.login.second_factor import CodeMatch, count_wrong_codes, match_code
from accounts.models import LoginTicket, Member
from accounts.models.purging import purge
from accounts.sessions.store import hash_session_key
from core.db.transactions import retry_on_conflict
from core.sealing import seal, unseal

TICKET_TIME = timedelta(minutes=5)
MAX_ATTEMPTS = 5
TICKET_BYTES = 32

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class SecondFactorRequired:
    """A login that waits for a code; `methods` are its possible kinds.

    `is_address_proved` is False if the code would link an identity to an account that
    has never verified the address.
    """

    ticket: str
    methods: list[str]
    expires_at: datetime
    is_address_proved: bool = True


def create_ticket(
    member: Member,
    now: datetime,
    *,
    device_name: str = "",
    extra: dict[str, Any] | None = None,
    identity: Identity | None = None,
) -> SecondFactorRequired:
    key = secrets.token_urlsafe(TICKET_BYTES)
    ticket = LoginTicket(
        digest=hash_session_key(key),
        member=member,
        auth_hash=member.get_session_auth_hash(),
        expires_at=now + TICKET_TIME,
        device_name=device_name,
        extra=extra or {},
    )
    is_proved = True
    if identity is not None:
        ticket.sealed_identity = seal(
            orjson.dumps(asdict(identity)), ticket.sealing_context
        )
        is_proved = member.idp_id == identity.subject or member.is_email_verified
    ticket.save(force_insert=True)
    methods = list_code_methods(member)
    return SecondFactorRequired(key, methods, ticket.expires_at, is_proved)


def read_identity(ticket: LoginTicket) -> Identity | None:
    if ticket.sealed_identity is None:
        return None
    text = unseal(ticket.sealed_identity, ticket.sealing_context)
    return Identity(**orjson.loads(text))


def spend_ticket(
    ticket_key: str,
    code: str,
    ip_address: str,
    now: datetime,
    start: Callable[[Member, LoginTicket], Result],
) -> Result:
    """Spend ticket and code, and call `start`, in one transaction."""
    digest = hash_session_key(ticket_key)
    tickets = LoginTicket.objects.filter(digest=digest, expires_at__gt=now)
    ticket = tickets.select_related("member").first()
    if ticket is None:
        raise CodeInvalidError
    with count_wrong_codes(ticket.member, code, ip_address):
        # Counting comes first: concurrent guesses cannot exceed the limit.
        if not tickets.filter(attempts__lt=MAX_ATTEMPTS).update(
            attempts=F("attempts") + 1
        ):
            raise CodeInvalidError
        try:
            match = match_code(ticket.member, code, now)
        except (TooManyHashesError, HashingBusyError):
            # A code that was not compared is no attempt.
            tickets.update(attempts=F("attempts") - 1)
            raise
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
    return purge(LoginTicket.objects.filter(expires_at__lte=now))
