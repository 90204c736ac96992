"""Blocks at once, and beside the deletion of the other account."""

from unittest import mock

import pytest

from accounts.account_deletion import delete_account
from accounts.blocks import blocks
from accounts.models import Block, Member
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.races import call_before, caller, run_concurrently, sorted_statuses

pytestmark = pytest.mark.django_db(transaction=True)
COUNT = "SELECT COUNT(*)"


def path_of(member: Member) -> str:
    return f"/api/members/{member.pk}/block"


def test_of_blocks_at_once_as_many_count_as_may(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCKS", 1)
    phones = [JSONClient(free_member) for _ in range(2)]
    first, second = make_member(), make_member()
    # Without the lock both count before they insert.
    unlocked = mock.patch.object(blocks, "_lock_blocks")
    later = caller(phones[1], "PUT", path_of(second))
    with unlocked, call_before('INSERT INTO "member_block"', later) as other:
        answers = [phones[0].send("PUT", path_of(first)), other]
    assert answers[0].status_code == other.result().status_code == 204
    Block.objects.all().delete()
    with call_before('INSERT INTO "member_block"', later) as other:
        answer = phones[0].send("PUT", path_of(first))
    assert (answer.status_code, other.result().status_code) == (204, 409)


def test_two_members_block_each_other_at_once() -> None:
    members = [make_member(), make_member()]
    phones = [JSONClient(member) for member in members]
    for _ in range(10):
        answers = run_concurrently(
            [
                caller(phones[0], "PUT", path_of(members[1])),
                caller(phones[1], "PUT", path_of(members[0])),
            ]
        )
        assert sorted_statuses(answers) == [204, 204]
        assert Block.objects.count() == 2
        Block.objects.all().delete()


def test_a_block_beside_the_deletion_of_the_other_account(free_member: Member) -> None:
    other = make_member()
    phone = JSONClient(free_member)
    with call_before(
        'INSERT INTO "member_block"', lambda: delete_account(other)
    ) as gone:
        answer = phone.send("PUT", path_of(other))
    gone.result()
    assert answer.status_code in {204, 404}
    assert not Block.objects.exists()
    assert not Member.objects.filter(pk=other.pk).exists()
