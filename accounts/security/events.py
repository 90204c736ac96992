"""Security events: log lines for operators, rows in the member's own log."""

import logging
from enum import Enum, auto
from functools import partial

from django.db import transaction

from accounts.models import SecurityLogEntry
from core.client import Client
from core.logging import current_client, member_id
from core.metrics import security_events

logger = logging.getLogger("security")


class SecurityEvent(Enum):
    ACCOUNT_CREATED = auto()
    ACCOUNT_DELETED = auto()
    EMAIL_CHANGED = auto()
    EMAIL_VERIFIED = auto()
    EXPORTED = auto()
    FACTOR_ADDED = auto()
    FACTOR_REMOVED = auto()
    IDENTITY_LINKED = auto()
    IDENTITY_REMOVED = auto()
    ID_TOKEN_REFUSED = auto()
    LINKING_REFUSED = auto()
    LIST_EXPORTED = auto()
    LOGIN = auto()
    LOGIN_FAILED = auto()
    LOGIN_THROTTLED = auto()
    LOGOUT = auto()
    PASSWORD_CHANGED = auto()
    PASSWORD_REFUSED = auto()
    PASSWORD_RESET = auto()
    PLAN_CHANGED = auto()
    RESTORED = auto()
    ROLE_CHANGED = auto()
    SECOND_FACTOR_REFUSED = auto()
    SESSIONS_ENDED = auto()
    STATUS_CHANGED = auto()
    SUPPORT_VIEWED = auto()
    TOKEN_CREATED = auto()
    TOKEN_REVOKED = auto()


def count_from_zero() -> None:
    """Create all counters: Prometheus misses the first value of a new one."""
    for event in SecurityEvent:
        security_events.labels(event.name)


def log_security_event(
    event: SecurityEvent,
    concerned_id: int | None,
    *,
    named: str = "",
    device_name: str | None = None,
    is_by_staff: bool | None = None,
    **details: object,
) -> None:
    """Log an event on commit, and at once in the member's own log.

    Call it inside the transaction of the event. `details` contain neither secrets nor
    texts of clients; only the member's own log has `named` and `device_name`.
    """
    client, actor_id = current_client.get(), member_id.get()
    kind = event.name if event.name in SecurityLogEntry.Kind.names else None
    if event is SecurityEvent.SESSIONS_ENDED and details.get("ended"):
        kind = SecurityLogEntry.Kind.SESSION_ENDED
    if concerned_id is not None and kind is not None:
        if is_by_staff is None:
            is_by_staff = actor_id not in (None, concerned_id)
        SecurityLogEntry.objects.record(
            concerned_id,
            kind,
            client or Client(),
            detail=named,
            device_name=device_name,
            is_by_staff=is_by_staff,
        )
    transaction.on_commit(
        partial(_log, logging.INFO, event, concerned_id, actor_id, client, details)
    )


def log_refusal(
    event: SecurityEvent, concerned_id: int | None, **details: object
) -> None:
    """Log a refused attempt at once, whose transaction may be rolled back."""
    actor_id, client = member_id.get(), current_client.get()
    _log(logging.WARNING, event, concerned_id, actor_id, client, details)


def _log(
    level: int,
    event: SecurityEvent,
    concerned_id: int | None,
    actor_id: int | None,
    client: Client | None,
    details: dict[str, object],
) -> None:
    fields: dict[str, object] = {"event": event.name, "memberId": concerned_id}
    if actor_id not in (None, concerned_id):
        fields["actorId"] = actor_id
    if client is not None:
        fields["address"] = client.address
    security_events.labels(event.name).inc()
    logger.log(level, "security event", extra={"fields": fields | details})
