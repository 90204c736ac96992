"""Personal tokens: sessions with scopes and an end (spec 2.15)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet

from accounts.login.fresh import lock_freshly_authenticated
from accounts.mail.outbox import is_mail_configured, queue_notice
from accounts.models import AuthSession, Member
from accounts.security.events import SecurityEvent, log_security_event
from accounts.sessions.store import hash_session_key, revoke_session
from accounts.sessions.token_keys import make_token_key
from core.db.transactions import retry_on_conflict
from core.errors import LimitReachedError, NotFoundError

MAX_TOKENS = 20
DEFAULT_DAYS = 90
MAX_DAYS = 366
# From the notice to the end of a token.
WARNING_TIME = timedelta(days=14)
WARNING_BATCH = 500


@dataclass(frozen=True, slots=True)
class NewToken:
    key: str
    token: AuthSession


def list_tokens(member: Member, now: datetime) -> QuerySet[AuthSession]:
    rows = AuthSession.objects.filter(
        member=member, kind=AuthSession.Kind.TOKEN, expires_at__gt=now
    )
    return rows.order_by("-created_at", "key_hash")


@retry_on_conflict
def create_token(
    member: Member,
    session_key_hash: str,
    *,
    name: str,
    scopes: Sequence[str],
    expires_in_days: int,
    now: datetime,
) -> NewToken:
    key = make_token_key()
    with transaction.atomic():
        locked = lock_freshly_authenticated(member, session_key_hash, now)
        if list_tokens(locked, now).count() >= MAX_TOKENS:
            raise LimitReachedError
        token = AuthSession.objects.create(
            key_hash=hash_session_key(key),
            kind=AuthSession.Kind.TOKEN,
            scopes=sorted(set(scopes)),
            name=name,
            member=locked,
            plan=locked.plan,
            display_name=locked.display_name,
            created_at=now,
            expires_at=now + timedelta(days=expires_in_days),
        )
        log_security_event(SecurityEvent.TOKEN_CREATED, locked.pk, named=name)
        queue_notice(locked, "token_created")
    return NewToken(key, token)


@retry_on_conflict
def delete_token(
    member: Member, session_key_hash: str, token_id: UUID, now: datetime
) -> None:
    with transaction.atomic():
        locked = lock_freshly_authenticated(member, session_key_hash, now)
        token = list_tokens(locked, now).filter(public_id=token_id).first()
        if token is None:
            raise NotFoundError
        revoke_session(token.key_hash)
        log_security_event(SecurityEvent.TOKEN_REVOKED, locked.pk, named=token.name)


def notify_of_expiring_tokens(now: datetime) -> int:
    if not is_mail_configured():
        return 0
    rows = AuthSession.objects.filter(
        kind=AuthSession.Kind.TOKEN,
        expires_at__gt=now,
        expires_at__lte=now + WARNING_TIME,
        expiry_notified_at=None,
        created_at__lt=F("expires_at") - WARNING_TIME,
    )
    notified = 0
    for key_hash in rows.order_by().values_list("key_hash", flat=True)[:WARNING_BATCH]:
        notified += _notify_of_expiry(key_hash, now)
    return notified


@retry_on_conflict
def _notify_of_expiry(key_hash: str, now: datetime) -> bool:
    with transaction.atomic():
        rows = AuthSession.objects.filter(key_hash=key_hash, expiry_notified_at=None)
        # A concurrent run was faster, or the token has ended.
        if not rows.update(expiry_notified_at=now):
            return False
        token = AuthSession.objects.select_related("member").get(key_hash=key_hash)
        assert token.member is not None  # noqa: S101  # a constraint of the table
        queue_notice(
            token.member, "token_expires", {"day": f"{token.expires_at:%Y-%m-%d}"}
        )
    return True
