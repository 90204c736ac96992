"""What administrators do with members; role, status, plan, delete never their own.

Whoever changes another's role, status or plan, or deletes them, is checked again under
a lock (`accounts.locking`), so that one who may administer always remains
(spec 7.1).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

import accounts.signup
import billing.subscriptions
from accounts.account_deletion import delete_account
from accounts.audit_log import ADDITION, CHANGE, DELETION, log_admin_action
from accounts.errors import SelfChangeError
from accounts.locking import lock_actor_and_target
from accounts.models import Member
from accounts.profile import update_profile
from accounts.sessions import invalidate_member_session_cache, revoke_sessions
from core.errors import NotFoundError

MEMBER_NOT_FOUND = "There is no such member."


def get_member(member_id: int) -> Member:
    try:
        return Member.objects.get(pk=member_id)
    except Member.DoesNotExist:
        raise NotFoundError(MEMBER_NOT_FOUND) from None


def get_other_member(actor: Member, member_id: int) -> Member:
    """The member to be changed; `SelfChangeError` for the administrator's own account."""
    if not Member.objects.filter(pk=member_id).exists():
        raise NotFoundError(MEMBER_NOT_FOUND)
    if member_id == actor.pk:
        raise SelfChangeError
    return Member(pk=member_id)


def create_member(actor: Member, new: accounts.signup.SignupData) -> Member:
    """A LOCAL member by the rules of sign-up, its switch and limit aside."""
    with transaction.atomic():
        member = accounts.signup.create_member(new)
        log_admin_action(actor, member, ADDITION)
    return member


def update_member_profile(
    actor: Member, member_id: int, changes: dict[str, str]
) -> Member:
    """Display name and email, as far as given; one's own as well."""
    with transaction.atomic():
        try:
            member = update_profile(get_member(member_id), changes)
        except Member.DoesNotExist:
            raise NotFoundError(MEMBER_NOT_FOUND) from None
        if changes:
            log_admin_action(actor, member, CHANGE, "Name or email.")
    return member


def set_member_role(actor: Member, member_id: int, role: str) -> Member:
    """MEMBER or ADMIN; it counts at once in live sessions."""
    with _locked_member(actor, member_id) as member:
        member.role = role
        member.save_fields("role")
        log_admin_action(actor, member, CHANGE, f"Role {role}.")
    return member


def set_member_status(actor: Member, member_id: int, status: str) -> Member:
    """ACTIVE or SUSPENDED; a suspension ends the member's sessions at once."""
    with _locked_member(actor, member_id) as member:
        member.status = status
        member.save_fields("status")
        if status == Member.Status.SUSPENDED:
            revoke_sessions(member)
        log_admin_action(actor, member, CHANGE, f"Status {status}.")
    return member


def set_member_plan(actor: Member, member_id: int, plan: str) -> Member:
    """FREE or PREMIUM for good, at once in live sessions.

    What that means for expiry and subscription is in `billing.subscriptions`.
    """
    with _locked_member(actor, member_id) as member:
        changed = billing.subscriptions.override_plan(member, plan)
        log_admin_action(actor, member, CHANGE, f"Plan {plan}.")
    return changed


def delete_member(actor: Member, member_id: int) -> None:
    """Delete the account and all its data, as self-deletion does."""
    member = get_other_member(actor, member_id)
    try:
        with transaction.atomic():
            delete_account(member, by=actor)
            log_admin_action(actor, member, DELETION)
    except Member.DoesNotExist:
        raise NotFoundError(MEMBER_NOT_FOUND) from None


@contextmanager
def _locked_member(actor: Member, member_id: int) -> Iterator[Member]:
    """The other member, locked; at the end of the block live sessions are told."""
    get_other_member(actor, member_id)
    with transaction.atomic():
        try:
            member = lock_actor_and_target(actor, member_id)
        except Member.DoesNotExist:
            raise NotFoundError(MEMBER_NOT_FOUND) from None
        yield member
        invalidate_member_session_cache(member_id)
