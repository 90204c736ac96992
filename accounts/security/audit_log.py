"""Audit log of administrators.

Rows name deleted members by id only.
"""

from django.db.models import Model

from accounts.models import AuditLogEntry, Member
from core.logging import request_id

__all__ = ["ADDITION", "CHANGE", "DELETION", "log_admin_action"]

ADDITION = AuditLogEntry.Action.ADDITION
CHANGE = AuditLogEntry.Action.CHANGE
DELETION = AuditLogEntry.Action.DELETION
MAX_LABEL_LENGTH = 200
MAX_TEXT_LENGTH = 500


def log_admin_action(actor: Member, target: Model, action: str, text: str = "") -> None:
    label = f"member {target.pk}" if isinstance(target, Member) else str(target)
    AuditLogEntry.objects.create(
        actor_id=actor.pk,
        actor_name=actor.login_id,
        action=action,
        target_type=target._meta.label,
        target_id=str(target.pk),
        target_label=label[:MAX_LABEL_LENGTH],
        text=text[:MAX_TEXT_LENGTH],
        request_id=request_id.get() or "",
    )
