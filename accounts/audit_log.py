"""Audit log of administrators: one log for the API and Django admin.

It names members by id only, because its rows outlive deleted members; of the
administrator who acted it keeps the login id too.
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
    """Write an administrator's action to the audit log.

    Call it inside the transaction of the action. `action` is ADDITION, CHANGE or
    DELETION.
    """
    # Without personal data of members.
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
