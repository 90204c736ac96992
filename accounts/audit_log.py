"""The log of what administrators changed, by the API and by Django admin alike.

It names members by id only: what it keeps outlives a member who was deleted.
"""

from typing import Any

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model

from accounts.models import Member

__all__ = ["ADDITION", "CHANGE", "DELETION", "log_admin_action"]

MAX_REPR_LENGTH = 200


def log_admin_action(actor: Member, changed: Model, kind: int, text: str = "") -> None:
    """Put into Django admin's log what `actor` did; inside the same transaction."""
    LogEntry.objects.create(
        user_id=actor.pk,
        content_type=ContentType.objects.get_for_model(changed),
        object_id=str(changed.pk),
        object_repr=object_label(changed)[:MAX_REPR_LENGTH],
        action_flag=kind,
        change_message=text,
    )


def object_label(changed: Any) -> str:
    """What the log calls the object."""
    if isinstance(changed, Member):
        return f"member {changed.pk}"
    return str(changed)
