"""The last step of every login (spec 2.16)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.inbox.items import add_items
from accounts.inbox.kinds import SECURITY
from accounts.login import identities
from accounts.login.identity_provider import Identity
from accounts.login.tickets import (
    SecondFactorRequired,
    create_ticket,
    read_identity,
    spend_ticket,
)
from accounts.mail.outbox import is_mail_configured, queue_notice
from accounts.models import LoginTicket, Member
from accounts.security.events import SecurityEvent, log_security_event
from accounts.security.log import is_unusual_login
from accounts.sessions.store import create_session
from core.client import Client
from core.db.transactions import retry_on_conflict
from core.logging import current_client


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """A new session, and further members of the response."""

    member: Member
    key: str
    expires_at: datetime
    extra: dict[str, Any] = field(default_factory=dict)


@retry_on_conflict
def log_in(
    member: Member,
    *,
    device_name: str = "",
    extra: dict[str, Any] | None = None,
    identity: Identity | None = None,
    is_second_step: bool = False,
) -> LoggedIn | SecondFactorRequired:
    """Create the session, or a ticket for the second step."""
    extra, now = extra or {}, timezone.now()
    if member.has_second_factor and not is_second_step:
        return create_ticket(
            member, now, device_name=device_name, extra=extra, identity=identity
        )
    with transaction.atomic():
        key, expires_at = create_session(
            member,
            device_name=device_name,
            has_shown_factor=is_second_step,
            identity_provider=identity.provider if identity else "",
        )
        if is_unusual_login(member, device_name, now):
            add_items([member.pk], SECURITY)
            if is_mail_configured():
                client = current_client.get() or Client()
                # Mails contain no text of the client.
                context = {"client": client.browser, "address": client.address}
                queue_notice(member, "new_login", context)
        log_security_event(SecurityEvent.LOGIN, member.pk, device_name=device_name)
    return LoggedIn(member, key, expires_at, extra)


def complete_login(
    ticket_key: str, code: str, ip_address: str, now: datetime
) -> LoggedIn | SecondFactorRequired:
    """Log in with a ticket and a code; raise `LinkingRefusedError` as `/idp` does."""

    def start(member: Member, ticket: LoginTicket) -> LoggedIn | SecondFactorRequired:
        identity, extra = read_identity(ticket), ticket.extra
        if identity is not None:
            linked = identities.complete_login(member, identity, now)
            extra = {"created": False, "linked": linked}
        return log_in(
            member,
            device_name=ticket.device_name,
            extra=extra,
            identity=identity,
            is_second_step=True,
        )

    return spend_ticket(ticket_key, code, ip_address, now, start)
