"""Security events: log lines about accounts, with the client's address, no secrets."""

import logging
from enum import Enum, auto
from typing import Any

from django.db import transaction

from core.logging import client_address, member_id

logger = logging.getLogger("security")


class SecurityEvent(Enum):
    """The subject of a line of the log; its name is the `event`."""

    ACCOUNT_CREATED = auto()
    ACCOUNT_DELETED = auto()
    EMAIL_CHANGED = auto()
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
    PLAN_CHANGED = auto()
    ROLE_CHANGED = auto()
    SESSIONS_ENDED = auto()
    STATUS_CHANGED = auto()


def log_security_event(
    event: SecurityEvent, concerned_id: int | None, **details: object
) -> None:
    """Log a deed after its commit; call it inside the transaction of the deed.

    `concerned_id` is the id of the member whose account it is about, None if there is
    none. `details` must not hold secrets nor what a client typed.
    """
    fields = _make_fields(event, concerned_id, details)
    transaction.on_commit(
        lambda: logger.info("security event", extra={"fields": fields})
    )


def log_refusal(
    event: SecurityEvent, concerned_id: int | None, **details: object
) -> None:
    """Log a refused attempt at once: its transaction may be rolled back."""
    fields = _make_fields(event, concerned_id, details)
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
