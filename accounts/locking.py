"""Lock of an administrator and another member."""

from accounts.errors import MemberNotFoundError
from accounts.models import Member
from core.api.permissions import AdminRequiredError


def lock_actor_and_target(
    actor: Member, member_id: int, *, to_delete: bool = False
) -> Member:
    """Lock both and return the member; raise `MemberNotFoundError`.

    Raises `AdminRequiredError` for an actor who is no longer an active administrator:
    if two suspend each other, one remains (spec 7.1).
    """
    locked = {}
    # Two changes lock in this order and cannot deadlock.
    for pk in sorted({actor.pk, member_id}):
        # The lock for deletions excludes new foreign keys to the row.
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
        raise MemberNotFoundError
    return member
