"""Lock of two members when an administrator changes another member."""

from accounts.models import Member
from core.api.permissions import AdminRequiredError


def lock_actor_and_target(
    actor: Member, member_id: int, *, to_delete: bool = False
) -> Member:
    """Lock the administrator and the other member; return the latter.

    Call it inside a transaction. Raises `AdminRequiredError` if the actor is no longer
    an active administrator, and `Member.DoesNotExist`. Two administrators who suspend,
    demote or delete each other at the same time are thus serialized, and the second is
    refused: at least one administrator always remains (spec 7.1).
    """
    locked = {}
    # In the order of ids, so that two such changes cannot deadlock.
    for pk in sorted({actor.pk, member_id}):
        # Only a deletion needs the stronger lock, which also excludes foreign keys.
        is_weak = pk == actor.pk or not to_delete
        rows = Member.objects.select_for_update(no_key=is_weak)
        locked[pk] = rows.filter(pk=pk).first()
    current_actor = locked[actor.pk]
    if current_actor is None or not (
        current_actor.is_active and current_actor.is_administrator
    ):
        raise AdminRequiredError
    member = locked[member_id]
    if member is None:
        raise Member.DoesNotExist
    return member
