"""Security events: log lines about accounts, with the client's address, no secrets.

Deeds that concern how an account is accessed are in the member's own log, too.
"""

import logging
from enum import Enum, auto
from typing import Any

from django.db import transaction

from accounts.security_log import Kind, record_event
from core.logging import client_address, member_id
from core.metrics import security_events

logger = logging.getLogger("security")


class SecurityEvent(Enum):
    """The subject of a line of the log; its name is the `event`."""

    ACCOUNT_CREATED = auto()
    ACCOUNT_DELETED = auto()
    EMAIL_CHANGED = auto()
    EMAIL_VERIFIED = auto()
    EXPORTED = auto()
    FACTOR_ADDED = auto()
    FACTOR_REMOVED = auto()
    IDENTITY_LINKED = auto()
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
    ROLE_CHANGED = auto()
    SECOND_FACTOR_REFUSED = auto()
    SESSIONS_ENDED = auto()
    STATUS_CHANGED = auto()
    TOKEN_CREATED = auto()
    TOKEN_REVOKED = auto()


def log_security_event(
    event: SecurityEvent,
    concerned_id: int | None,
    *,
    named: str = "",
    device_name: str | None = None,
    is_by_staff: bool | None = None,
    **details: object,
) -> None:
    """Log a deed after its commit; call it inside the transaction of the deed.

    `concerned_id` is the id of the member whose account it is about, None if there is
    none. `details` must not hold secrets nor what a client typed. What the member named
    (`named`, `device_name`) is only for the member's own log, where the deed is written
    at once.
    """
    kind = get_log_kind(event, details)
    if concerned_id is not None and kind is not None:
        if is_by_staff is None:
            is_by_staff = member_id.get() not in (None, concerned_id)
        record_event(
            concerned_id,
            kind,
            detail=named,
            device_name=device_name,
            is_by_staff=is_by_staff,
        )
    fields = _make_fields(event, concerned_id, details)

    def log() -> None:
        security_events.labels(event.name).inc()
        logger.info("security event", extra={"fields": fields})

    transaction.on_commit(log)


def get_log_kind(event: SecurityEvent, details: dict[str, object]) -> str | None:
    """Return the kind of the entry in the member's own log, None without one."""
    if event is SecurityEvent.SESSIONS_ENDED:
        return Kind.SESSION_ENDED if details.get("ended") else None
    return event.name if event.name in Kind.names else None


def log_refusal(
    event: SecurityEvent, concerned_id: int | None, **details: object
) -> None:
    """Log a refused attempt at once: its transaction may be rolled back."""
    fields = _make_fields(event, concerned_id, details)
    security_events.labels(event.name).inc()
    logger.warning("security event", extra={"fields": fields})


def _make_fields(
    event: SecurityEvent, concerned_id: int | None, details: dict[str, object]
) -> dict[str, Any]:
    fields: dict[str, Any] = {"event": event.name, "memberId": concerned_id}
    actor_id = member_id.get()
    if actor_id is not None and actor_id != concerned_id:
        fields["actorId"] = actor_id
    # None for jobs and commands.
    if (address := client_address.get()) is not None:
        fields["address"] = address
    return fields | details
