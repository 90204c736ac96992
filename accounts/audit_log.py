"""Audit log of administrators: one log for the API and Django admin.

It names members by id only, because its rows outlive deleted members.
"""

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model

from accounts.models import Member

__all__ = ["ADDITION", "CHANGE", "DELETION", "log_admin_action"]

MAX_REPR_LENGTH = 200


def log_admin_action(
    actor: Member, target: Model, action_flag: int, message: str = ""
) -> None:
    """Write an administrator's action to Django admin's log.

    Call it inside the transaction of the action. `action_flag` is ADDITION, CHANGE or
    DELETION.
    """
    # Without personal data of members.
    label = f"member {target.pk}" if isinstance(target, Member) else str(target)
    LogEntry.objects.create(
        user_id=actor.pk,
        content_type=ContentType.objects.get_for_model(target),
        object_id=str(target.pk),
        object_repr=label[:MAX_REPR_LENGTH],
        action_flag=action_flag,
        change_message=message,
    )
