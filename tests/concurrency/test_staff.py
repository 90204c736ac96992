"""Administrators beside each other: roles taken at once, bulk beside a demotion."""

from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditLogEntry, Member
from administration.bulk import BulkAction, BulkChange, change_members
from administration.members import set_member_role
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.races import (
    call_before,
    run_concurrently,
    sorted_statuses,
    without_locks,
)
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = scaled(4, 15)
MEMBERS = "/api/admin/members"
DEMOTION = {"role": "MEMBER"}


def make_pair() -> tuple[Member, Member]:
    return make_member(role="ADMIN"), make_member(role="ADMIN")


def demote(actor: Member, member_id: int) -> Any:
    path = f"{MEMBERS}/{member_id}/role"
    return JSONClient(actor).send("PUT", path, DEMOTION)


def suspend_all(actor: Member, targets: list[Member]) -> list[str | None]:
    """Return the codes of the results, None where it is done."""
    change = BulkChange(BulkAction.SUSPEND, "spam")
    ids = [member.pk for member in targets]
    results = change_members(actor, ids, change, timezone.now())
    return [result.code for result in results]


def test_two_who_take_each_others_role_leave_one_and_the_loser_fails() -> None:
    for _ in range(ROUNDS):
        one, two = make_pair()
        calls = [partial(demote, one, two.pk), partial(demote, two, one.pk)]
        statuses = sorted_statuses(run_concurrently(calls))
        assert statuses == [200, 403], statuses
        left = Member.objects.get(pk__in=[one.pk, two.pk], role="ADMIN")
        pair = AuditLogEntry.objects.filter(target_id__in=[one.pk, two.pk])
        assert [entry.actor_id for entry in pair] == [left.pk]


def count_after_demotion(actor: Member) -> int:
    """Return how many deeds of the actor are in the log after their demotion."""
    demotion = AuditLogEntry.objects.get(target_id=actor.pk, text="Role MEMBER.")
    return AuditLogEntry.objects.filter(actor_id=actor.pk, pk__gt=demotion.pk).count()


def test_demotion_in_the_midst_stops_a_bulk_change() -> None:
    update = 'UPDATE "member" SET "status"'
    for is_locked in (False, True):
        boss, actor = make_pair()
        targets = [make_member() for _ in range(3)]
        demotion = partial(set_member_role, boss, actor.pk, "MEMBER")
        guard = nullcontext() if is_locked else without_locks()
        with guard, call_before(update, demotion):
            codes = suspend_all(actor, targets)
        # The first member is between the check of the role and the change.
        assert codes == [None, "ADMIN_REQUIRED", "ADMIN_REQUIRED"]
        assert count_after_demotion(actor) == (0 if is_locked else 1)


def test_bulk_change_beside_a_demotion_of_the_actor() -> None:
    for _ in range(ROUNDS):
        boss, actor = make_pair()
        targets = [make_member() for _ in range(6)]
        calls: list[Any] = [
            partial(suspend_all, actor, targets),
            partial(set_member_role, boss, actor.pk, "MEMBER"),
        ]
        codes, _ = run_concurrently(calls)
        done = codes.count(None)
        # Those before the demotion are done, nobody after it.
        assert codes == [None] * done + ["ADMIN_REQUIRED"] * (6 - done)
        suspended = Member.objects.filter(
            pk__in=[member.pk for member in targets], status="SUSPENDED"
        )
        assert suspended.count() == done
        log = AuditLogEntry.objects.filter(actor_id=actor.pk)
        assert log.count() == done
        assert count_after_demotion(actor) == 0
