"""Restore and deletion of the account end a move."""

from collections.abc import Iterator
from typing import Any

import pytest

from accounts import account_deletion
from accounts.tasks import delete_closed_accounts
from ledger import move_job
from ledger.models import Entry
from ledger.move_job import list_moves, run_moves
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of
from tests.support.moves import A, MovingLedger, dump_ledger
from tests.support.rollups import assert_rollups_are_right
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db


def steps_of(source: Any) -> Iterator[int]:
    """Return the batches of a move that follow the first one."""
    batches = move_job._move_in_batches(source)
    next(batches)
    return batches


def test_restore_in_the_middle_ends_the_move(
    moving: MovingLedger, client: JSONClient
) -> None:
    batches = steps_of(moving.source)
    book = download_backup(moving.member)
    assert upload(client, book).status_code == 200
    restored = dump_ledger(moving.member)
    assert sum(batches) == 0
    assert dump_ledger(moving.member) == restored
    assert not list_moves()
    # The backup shows the moment, with entries in both, and no move.
    rows = client.get_json(f"{A}/{moving.kind}")
    assert {moving.source.name, moving.target.name} <= {row["name"] for row in rows}
    assert not any(row["moving"] for row in rows)
    assert_rollups_are_right()


def test_backup_in_the_middle_has_all_entries(moving: MovingLedger) -> None:
    count = Entry.objects.count()
    steps_of(moving.source)
    member = moving.member
    client = JSONClient(member)
    assert upload(client, download_backup(member)).data["entries"] == count
    both = Entry.objects.exclude(**{moving.field: None})
    assert both.values_list(moving.field).distinct().count() == 2


@pytest.mark.parametrize("is_large", [False, True])
def test_deletion_of_the_account_in_the_middle_ends_the_move(
    moving: MovingLedger,
    client: JSONClient,
    monkeypatch: pytest.MonkeyPatch,
    is_large: bool,
) -> None:
    monkeypatch.setattr(account_deletion, "MAX_ROWS_OF_REQUEST", 0 if is_large else 99)
    batches = steps_of(moving.source)
    assert client.send("DELETE", "/api/auth/me").status_code == 204
    assert not list_moves()
    if is_large:
        next(batches)
        delete_closed_accounts()
    assert sum(batches) == 0
    assert not any(count_rows_of(moving.member).values())


def test_move_of_a_closed_account_is_left_to_its_deletion(
    moving: MovingLedger, client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_deletion, "MAX_ROWS_OF_REQUEST", 0)
    assert client.send("DELETE", "/api/auth/me").status_code == 204
    assert run_moves() == move_job.MovesResult(0, 0)
    assert type(moving.source).objects.filter(moving_to__isnull=False).exists()
    delete_closed_accounts()
    assert not any(count_rows_of(moving.member).values())
