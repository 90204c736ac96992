"""Audit log of administrators.

Rows name deleted members by id only.
"""

from collections.abc import Iterable

from django.db.models import Model

from accounts.models import AuditLogEntry, Member
from core.logging import request_id

__all__ = [
    "ADDITION",
    "CHANGE",
    "DELETION",
    "READ",
    "REASON_MARK",
    "log_admin_action",
    "log_admin_actions",
    "log_use_of_list",
    "with_reason",
]

ADDITION = AuditLogEntry.Action.ADDITION
CHANGE = AuditLogEntry.Action.CHANGE
DELETION = AuditLogEntry.Action.DELETION
READ = AuditLogEntry.Action.READ
MAX_LABEL_LENGTH = 200
MAX_TEXT_LENGTH = 500
# Between the text of an entry and the words of staff.
REASON_MARK = " Reason: "


def log_admin_action(actor: Member, target: Model, action: str, text: str = "") -> None:
    log_admin_actions(actor, action, [(target, text)])


def log_admin_actions(
    actor: Member, action: str, changes: Iterable[tuple[Model, str]]
) -> None:
    """Log an action on several targets, each with a text of its own."""
    AuditLogEntry.objects.bulk_create(
        [
            AuditLogEntry(
                actor_id=actor.pk,
                actor_name=actor.login_id,
                action=action,
                target_type=target._meta.label,
                target_id=str(target.pk),
                target_label=_label(target)[:MAX_LABEL_LENGTH],
                text=text[:MAX_TEXT_LENGTH],
                request_id=request_id.get() or "",
            )
            for target, text in changes
        ]
    )


def log_use_of_list(actor: Member, model: type[Model], action: str, text: str) -> None:
    """Log that somebody read a list, or got it as a file."""
    AuditLogEntry.objects.create(
        actor_id=actor.pk,
        actor_name=actor.login_id,
        action=action,
        target_type=model._meta.label,
        target_id="",
        target_label=str(model._meta.verbose_name_plural)[:MAX_LABEL_LENGTH],
        text=text[:MAX_TEXT_LENGTH],
        request_id=request_id.get() or "",
    )


def with_reason(text: str, reason: str) -> str:
    """Return the text of an entry with the reason that staff gave."""
    return f"{text}{REASON_MARK}{reason}" if reason else text


def _label(target: Model) -> str:
    return f"member {target.pk}" if isinstance(target, Member) else str(target)
