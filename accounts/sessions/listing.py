"""The list of a member's sessions (spec 2.14)."""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import AuthSession, Member
from accounts.security.events import SecurityEvent, log_security_event
from accounts.security.pending_steps import end_codes
from accounts.sessions.store import revoke_session, revoke_sessions
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError


def list_sessions(member: Member, now: datetime) -> QuerySet[AuthSession]:
    """Return live sessions without tokens, the last used first."""
    rows = AuthSession.objects.filter(
        member=member,
        kind=AuthSession.Kind.SESSION,
        expires_at__gt=now,
        created_at__gt=now - timedelta(days=settings.SESSION_MAX_DAYS),
    )
    return rows.order_by("-last_seen_at", "key_hash")


@retry_on_conflict
def end_session(member: Member, session_id: UUID, now: datetime) -> str:
    with transaction.atomic():
        session = list_sessions(member, now).filter(public_id=session_id).first()
        if session is None:
            raise NotFoundError
        revoke_session(session.key_hash)
        log_security_event(
            SecurityEvent.SESSIONS_ENDED, member.pk, named=session.name, ended=1
        )
    return session.key_hash


@retry_on_conflict
def end_other_sessions(member: Member, kept_key_hash: str) -> int:
    with transaction.atomic():
        rows = Member.objects.select_for_update(no_key=True)
        end_codes(rows.only("pk").get(pk=member.pk))
        ended = revoke_sessions(member, except_key_hash=kept_key_hash, keep_tokens=True)
        log_security_event(SecurityEvent.SESSIONS_ENDED, member.pk, ended=ended)
    return ended


@retry_on_conflict
def log_out(member: Member, key_hash: str) -> None:
    with transaction.atomic():
        log_security_event(SecurityEvent.LOGOUT, member.pk)
        revoke_session(key_hash)
