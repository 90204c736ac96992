"""Undo beside other writers: each race is shown first without the ledger's lock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import pytest

from accounts.models import Member
from ledger.base import ledger_write
from ledger.models import Entry, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet
from tests.support.operations import OPERATIONS
from tests.support.races import call_before, caller, run_concurrently, sorted_statuses
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db(transaction=True)

ENTRIES = "/api/account/entries"
WALLETS = "/api/account/wallets"


def run_without_and_with_lock(race: Callable[[Any], Any]) -> tuple[Any, Any]:
    """`race` gets a context in which writes have no lock, then one that does nothing."""
    return race(without_lock), race(nullcontext)


@contextmanager
def without_lock() -> Iterator[None]:
    with mock.patch.object(ledger_write, "advisory_xact_lock"):
        yield


def change_memos(phone: JSONClient, member: Member) -> tuple[list[int], str]:
    """Change two entries; return them and the path of the undo."""
    ids = [make_entry(member, memo="before").pk for _ in range(2)]
    answer = phone.send("PATCH", ENTRIES, {"ids": ids, "set": {"memo": "bulk"}})
    assert answer.status_code == 200, answer.content
    return ids, f"{OPERATIONS}/{answer.data['operationId']}/undo"


def test_an_edit_beside_the_undo_is_not_lost(
    premium_member: Member,
) -> None:
    phones = [JSONClient(premium_member) for _ in range(2)]

    def edit_while_undoing(open_: Any) -> tuple[int, int, str]:
        ids, path = change_memos(phones[0], premium_member)

        def edit() -> Any:
            return phones[1].send("PATCH", f"{ENTRIES}/{ids[0]}", {"memo": "edited"})

        # After the versions were compared.
        with open_(), call_before("WITH kept AS", edit) as edited:
            undone = phones[0].send("POST", path, {})
        memo = Entry.objects.get(member=premium_member, pk=ids[0]).memo
        return undone.status_code, edited.result().status_code, memo

    without, with_lock = run_without_and_with_lock(edit_while_undoing)
    assert without == (200, 200, "before")
    assert with_lock == (200, 200, "edited")


def test_two_undos_of_one_operation(
    premium_member: Member,
) -> None:
    phones = [JSONClient(premium_member) for _ in range(2)]

    def undo_twice(open_: Any) -> tuple[int, int]:
        _, path = change_memos(phones[0], premium_member)
        with (
            open_(),
            call_before(
                "account_entry_snapshots", caller(phones[1], "POST", path, {})
            ) as other,
        ):
            first = phones[0].send("POST", path, {})
        return first.status_code, other.result().status_code

    without, with_lock = run_without_and_with_lock(undo_twice)
    assert without == (200, 200)
    assert with_lock == (200, 409)


def test_of_16_undos_of_one_operation_one_succeeds(premium_member: Member) -> None:
    phones = [JSONClient(premium_member) for _ in range(16)]
    ids, path = change_memos(phones[0], premium_member)
    answers = run_concurrently([caller(phone, "POST", path, {}) for phone in phones])
    assert sorted_statuses(answers) == [200] + [409] * 15
    assert {answer.data.get("code") for answer in answers} == {None, "NOT_UNDOABLE"}
    memos = Entry.objects.filter(member=premium_member, pk__in=ids)
    assert set(memos.values_list("memo", flat=True)) == {"before"}


def test_a_write_beside_the_undo_of_a_restore_is_not_lost(
    premium_member: Member,
) -> None:
    phones = [JSONClient(premium_member) for _ in range(2)]
    make_entry(premium_member, tags=("t",))
    backup = download_backup(premium_member)

    def write_while_undoing(open_: Any) -> tuple[int, int, bool]:
        restored = upload(phones[0], backup)
        assert restored.status_code == 200
        path = f"{OPERATIONS}/{restored.headers['Operation-Id']}/undo"
        body = {"date": "2026-11-02", "type": "expense", "amount": 5}
        write = caller(phones[1], "POST", ENTRIES, body)
        # After the undo has looked for later writes.
        fragment = "INSERT INTO account_deleted_client_id"
        with open_(), call_before(fragment, write) as written:
            undone = phones[0].send("POST", path, {})
        entry_id = written.result().data["id"]
        exists = Entry.objects.filter(member=premium_member, pk=entry_id).exists()
        return undone.status_code, written.result().status_code, exists

    without, with_lock = run_without_and_with_lock(write_while_undoing)
    assert without == (200, 201, False)
    assert with_lock == (200, 201, True)
    assert_rollups_are_right()


def test_deletions_of_wallets_beside_their_undo(premium_member: Member) -> None:
    phones = [JSONClient(premium_member) for _ in range(2)]
    for number in range(scaled(6, 60)):
        first, second, third = (make_wallet(premium_member) for _ in range(3))
        make_entry(premium_member, wallet=first)
        make_entry(premium_member, type="transfer", wallet=first, to_wallet=third)
        path = f"{WALLETS}/{first.pk}?moveTo={second.pk}"
        moved = phones[0].send("DELETE", path)
        undo = f"{OPERATIONS}/{moved.headers['Operation-Id']}/undo"
        away = f"{WALLETS}/{second.pk}?moveTo={third.pk}"
        calls = [
            caller(phones[0], "POST", undo, {}),
            caller(phones[1], "DELETE", away),
        ]
        answers = run_concurrently(calls[:: -1 if number % 2 else 1])
        assert sorted_statuses(answers) == [200, 204], [a.content for a in answers]
        assert_rollups_are_right()
        # The wallet is there again, with its entries if nothing moved them on.
        assert Wallet.objects.filter(member=premium_member, pk=first.pk).exists()
        Entry.objects.filter(member=premium_member).delete()
