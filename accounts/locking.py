"""Administrators who change other members, checked again under a lock.

Two who take each other's role away, suspend or delete each other at once are one
after the other, and the second is no administrator by then. So one always remains.
"""

from accounts.models import Member
from core.api.permissions import AdminRequiredError


def lock_actor_and_target(
    actor: Member, member_id: int, *, to_delete: bool = False
) -> Member:
    """The other member, locked together with the administrator who changes them.

    Rows are locked in the order of their ids, so that no two wait crosswise. Raises
    `AdminRequiredError` for one who is no administrator any more, and
    `Member.DoesNotExist`. Call inside a transaction.
    """
    locked = {}
    for pk in sorted({actor.pk, member_id}):
        is_weak = pk == actor.pk or not to_delete
        rows = Member.objects.select_for_update(no_key=is_weak)
        locked[pk] = rows.filter(pk=pk).first()
    present = locked[actor.pk]
    if present is None or not (present.is_active and present.is_administrator):
        raise AdminRequiredError
    member = locked[member_id]
    if member is None:
        raise Member.DoesNotExist
    return member
