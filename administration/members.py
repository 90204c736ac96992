"""What administrators do with members; role, status, plan, delete never their own.

Whoever changes another's role, status or plan, or deletes them, is checked again under
a lock (`accounts.locking`), so that one who may administer always remains
(service.md, Administrator).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

import accounts.signup
import billing.subscriptions
from accounts.account_deletion import erase_member
from accounts.audit_log import ADDITION, CHANGE, DELETION, record
from accounts.errors import SelfChange
from accounts.locking import lock_other
from accounts.models import Member
from accounts.profile import change_profile
from accounts.sessions import announce_change, end_sessions
from core.errors import NotFound

NO_MEMBER = "There is no such member."


def find_member(member_id: int) -> Member:
    try:
        return Member.objects.get(pk=member_id)
    except Member.DoesNotExist:
        raise NotFound(NO_MEMBER) from None


def find_other(actor: Member, member_id: int) -> Member:
    """The member to be changed; `SelfChange` for the administrator's own account."""
    if not Member.objects.filter(pk=member_id).exists():
        raise NotFound(NO_MEMBER)
    if member_id == actor.pk:
        raise SelfChange
    return Member(pk=member_id)


def create_member(actor: Member, new: accounts.signup.NewMember) -> Member:
    """A LOCAL member by the rules of sign-up, its switch and limit aside."""
    with transaction.atomic():
        member = accounts.signup.create_member(new)
        record(actor, member, ADDITION)
    return member


def set_profile(actor: Member, member_id: int, changes: dict[str, str]) -> Member:
    """Display name and email, as far as given; one's own as well."""
    with transaction.atomic():
        try:
            member = change_profile(find_member(member_id), changes)
        except Member.DoesNotExist:
            raise NotFound(NO_MEMBER) from None
        if changes:
            record(actor, member, CHANGE, "Name or email.")
    return member


def set_role(actor: Member, member_id: int, role: str) -> Member:
    """MEMBER or ADMIN; it counts at once in live sessions."""
    with _change(actor, member_id) as member:
        member.role = role
        member.store("role")
        record(actor, member, CHANGE, f"Role {role}.")
    return member


def set_status(actor: Member, member_id: int, status: str) -> Member:
    """ACTIVE or SUSPENDED; a suspension ends the member's sessions at once."""
    with _change(actor, member_id) as member:
        member.status = status
        member.store("status")
        if status == Member.Status.SUSPENDED:
            end_sessions(member)
        record(actor, member, CHANGE, f"Status {status}.")
    return member


def set_plan(actor: Member, member_id: int, plan: str) -> Member:
    """FREE or PREMIUM for good, at once in live sessions.

    What that means for expiry and subscription is in `billing.subscriptions`.
    """
    with _change(actor, member_id) as member:
        changed = billing.subscriptions.set_plan(member, plan)
        record(actor, member, CHANGE, f"Plan {plan}.")
    return changed


def delete_member(actor: Member, member_id: int) -> None:
    """Delete the account and all its data, as self-deletion does."""
    member = find_other(actor, member_id)
    try:
        with transaction.atomic():
            erase_member(member, by=actor)
            record(actor, member, DELETION)
    except Member.DoesNotExist:
        raise NotFound(NO_MEMBER) from None


@contextmanager
def _change(actor: Member, member_id: int) -> Iterator[Member]:
    """The other member, locked; at the end of the block live sessions are told."""
    find_other(actor, member_id)
    with transaction.atomic():
        try:
            member = lock_other(actor, member_id)
        except Member.DoesNotExist:
            raise NotFound(NO_MEMBER) from None
        yield member
        announce_change(member_id)
