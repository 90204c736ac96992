"""Administrators who change each other at once: one stays."""

from functools import partial
from typing import Any

import pytest

from accounts.models import Member
from tests.support.accounts import MEMBERS, put
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.races import run_concurrently, sorted_statuses
from tests.support.scale import scaled

ROUNDS = scaled(4, 15)


def race(method: str, path: str, body: Any, one: Member, two: Member) -> list[int]:
    """Let each change the other at once; return the two status codes."""
    calls = [
        partial(JSONClient(actor).send, method, path.format(other.pk), body)
        for actor, other in ((one, two), (two, one))
    ]
    return sorted_statuses(run_concurrently(calls))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "body", [{"role": "MEMBER"}, {"status": "SUSPENDED"}], ids=["role", "status"]
)
def test_two_administrators_who_change_each_other_leave_one(
    body: dict[str, Any],
) -> None:
    for _ in range(ROUNDS):
        one, two = make_member(role="ADMIN"), make_member(role="ADMIN")
        statuses = race("PUT", f"{MEMBERS}/{{}}/{next(iter(body))}", body, one, two)
        assert statuses in ([200, 403], [200, 401]), statuses
        pair = Member.objects.filter(pk__in=[one.pk, two.pk])
        assert pair.filter(role="ADMIN", status="ACTIVE").count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", [MEMBERS, "/api/users"])
def test_two_administrators_who_delete_each_other_leave_one(path: Any) -> None:
    for _ in range(ROUNDS):
        one, two = make_member(role="ADMIN"), make_member(role="ADMIN")
        statuses = race("DELETE", path + "/{}", None, one, two)
        assert statuses in ([204, 403], [204, 401]), statuses
        assert Member.objects.filter(pk__in=[one.pk, two.pk]).count() == 1


@pytest.mark.django_db(transaction=True)
def test_three_administrators_in_a_circle_leave_one() -> None:
    for _ in range(ROUNDS):
        trio = [make_member(role="ADMIN") for _ in range(3)]
        clients = [JSONClient(member) for member in trio]
        run_concurrently(
            [
                partial(put, client, trio[(place + 1) % 3], role="MEMBER")
                for place, client in enumerate(clients)
            ]
        )
        left = Member.objects.filter(pk__in=[m.pk for m in trio], role="ADMIN")
        assert left.exists()


@pytest.mark.django_db(transaction=True)
def test_without_the_lock_both_administrators_would_be_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Show the race without the lock: both are read as administrators first."""
    from administration import members

    def read_unlocked(actor: Any, member_id: Any) -> Any:
        return Member.objects.get(pk=member_id)

    monkeypatch.setattr(members, "lock_actor_and_target", read_unlocked)
    one, two = make_member(role="ADMIN"), make_member(role="ADMIN")
    members.set_member_role(one, two.pk, "MEMBER")
    members.set_member_role(two, one.pk, "MEMBER")
    assert not Member.objects.filter(role="ADMIN").exists()
