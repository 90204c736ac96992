"""The job that moves the entries of a wallet or category in batches."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Member
from config.celery import app
from core.jobs.models import JobRun
from ledger import move_job, moves
from ledger.models import Budget, Category, Entry, MemoRollup
from ledger.move_job import list_moves, run_moves
from ledger.rollup_repair import count_wrong_rows, repair_rollups
from ledger.rollups import without_triggers
from ledger.tasks import MovesFailedError
from ledger.tasks import move_entries as move_entries_task
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of, make_category, make_entry
from tests.support.moves import (
    BATCH_SIZE,
    LIMIT,
    MOVED_ENTRIES,
    A,
    MovingLedger,
    dump_ledger,
    entries_of,
    interrupt,
    make_moving_ledger,
    read_sums,
)
from tests.support.rollups import assert_rollups_are_right
from tests.support.whole_accounts import give_everything

pytestmark = pytest.mark.django_db


def assert_moved(ledger: MovingLedger, client: JSONClient) -> None:
    """Assert that all is as if it had moved in the request."""
    assert client.get(ledger.path).status_code == 404
    # With the one that the target had; a wallet also has an income.
    count = MOVED_ENTRIES + 1 + (ledger.kind == "wallets")
    assert entries_of(ledger.target).count() == count
    if ledger.kind == "categories":
        rows = Budget.objects.filter(member_id=ledger.member.pk).order_by("amount")
        budgets = rows.values_list("category", "amount")
        assert list(budgets) == [(ledger.target.pk, 5), (ledger.target.pk, 80)]
        assert not MemoRollup.objects.filter(category_id=ledger.source.pk).exists()
    else:
        confirmed = sum(10 + n for n in range(MOVED_ENTRIES) if n != 1)
        balance = client.get_json(ledger.target_path)["balance"]
        assert balance == 100 - 7 + 500 - confirmed
    assert_rollups_are_right()
    call_command("check_totals")


def test_job_moves_everything_and_nothing_of_others(
    moving: MovingLedger, client: JSONClient, other_member: Member
) -> None:
    give_everything(other_member)
    make_moving_ledger(other_member, moving.kind)
    theirs, others = dump_ledger(other_member), count_rows_of(other_member)
    own = Entry.objects.filter(member_id=moving.member.pk)
    unmoved = own.exclude(**{moving.field: moving.source.pk})
    before = list(unmoved.order_by("pk").values())
    ids = [row["id"] for row in before]
    move_entries_task()
    run = JobRun.objects.get(job="move_entries")
    moved = MOVED_ENTRIES + (moving.kind == "wallets")
    assert (run.state, run.count) == (JobRun.State.DONE, moved)
    assert_moved(moving, client)
    assert list(Entry.objects.filter(pk__in=ids).order_by("pk").values()) == before
    assert (dump_ledger(other_member), count_rows_of(other_member)) == (theirs, others)


def test_result_is_that_of_one_transaction(
    ledger: MovingLedger, client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(moves, "MAX_ENTRIES_OF_REQUEST", 1_000)
        assert client.send("DELETE", ledger.deletion).status_code == 204
    assert_moved(ledger, client)


def test_batches_are_small(moving: MovingLedger) -> None:
    batches = list(move_job._move_in_batches(moving.source))
    assert max(batches) <= BATCH_SIZE
    assert len([each for each in batches if each]) > LIMIT


def test_sums_are_right_after_each_batch(
    moving: MovingLedger, client: JSONClient, premium_member: Member
) -> None:
    before = read_sums(client)
    parts = set()
    for _ in move_job._move_in_batches(moving.source):
        parts.add(entries_of(moving.source).count())
        # The opening balance goes with the wallet, as in a small move.
        assert read_sums(client) == before
        assert count_wrong_rows(premium_member.pk).total() == 0
        assert_rollups_are_right()
    assert len(parts) > LIMIT
    after = read_sums(client)
    for sums in (before, after):
        for name in ("worth", "balance", "trend") if moving.kind == "wallets" else ():
            del sums[name]
    if moving.kind == "wallets":
        assert after == before


def test_totals_by_memo_go_with_their_entries(
    premium_member: Member, client: JSONClient
) -> None:
    # The last transaction must not look for them: a member has millions.
    ledger = make_moving_ledger(premium_member, "categories")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    memos = MemoRollup.objects.owned_by(premium_member).filter(
        category_id=ledger.source.pk
    )
    counts = {memos.count()}
    for _ in move_job._move_in_batches(ledger.source):
        counts.add(memos.count())
        if not entries_of(ledger.source).exists():
            break
    assert counts > {0, 1}

    with CaptureQueriesContext(connection) as queries:
        move_job._delete_source(ledger.source)
    assert not Category.objects.filter(pk=ledger.source.pk).exists()
    written = " ".join(query["sql"] for query in queries)
    assert "account_category_total" in written
    assert "account_memo_total" not in written
    assert_rollups_are_right()


@pytest.mark.parametrize("kind", ["wallets", "categories"])
def test_last_transaction_reads_few_rows(
    premium_member: Member,
    client: JSONClient,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Writers of the ledger wait for it, however many entries have moved.
    monkeypatch.setattr(move_job, "BATCH_SIZE", 10_000)
    ledger = make_moving_ledger(premium_member, kind)
    with without_triggers():
        Entry.objects.bulk_create(
            Entry(
                member=premium_member,
                date=date(2026, 1, 1) + timedelta(number // 20),
                type="expense",
                amount=1,
                wallet=ledger.wallet,
                category=ledger.category,
                memo=f"memo {number}",
            )
            for number in range(4_000)
        )
    repair_rollups(premium_member.pk)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE account_entry, account_memo_total")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    _, after = move_job._move_batch(ledger.source, 0)
    assert after is None

    before = count_rows_read()
    move_job._delete_source(ledger.source)
    assert not type(ledger.source).objects.filter(pk=ledger.source.pk).exists()
    assert count_rows_read() - before < 200
    assert count_wrong_rows(premium_member.pk).total() == 0


def count_rows_read() -> int:
    """Return the number of rows that the transaction has read of large tables."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(seq_tup_read + idx_tup_fetch)::int FROM pg_stat_xact_user_tables"
            " WHERE relname IN ('account_entry', 'account_memo_total')"
        )
        count: int = cursor.fetchone()[0]
    return count


@pytest.mark.parametrize("has_target", [False, True])
def test_deletion_of_a_small_category_does_not_look_for_its_memos(
    premium_member: Member, client: JSONClient, has_target: bool
) -> None:
    source, target = make_category(premium_member), make_category(premium_member)
    entry = make_entry(premium_member, category=source, memo="Shop")
    path = f"{A}/categories/{source.pk}"
    if has_target:
        path += f"?moveTo={target.pk}"
    else:
        client.send("DELETE", f"{A}/entries/{entry.pk}")

    with CaptureQueriesContext(connection) as queries:
        assert client.send("DELETE", path).status_code == 204
    deletions = [query["sql"] for query in queries if query["sql"].startswith("DELETE")]
    assert any("account_category_total" in each for each in deletions)
    assert not any("account_memo_total" in each for each in deletions)
    assert_rollups_are_right()


@pytest.mark.parametrize("stored", [None, 0, 1, 9])
def test_wrong_totals_of_the_source_stay_as_wrong_as_they_are(
    premium_member: Member, client: JSONClient, stored: int | None
) -> None:
    # A repair adds what it computed before the batch (`ledger.rollup_repair`).
    ledger = make_moving_ledger(premium_member, "categories")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    wrong = MemoRollup.objects.owned_by(premium_member).filter(
        category_id=ledger.source.pk, memo="shop0"
    )
    assert wrong.get().entry_count == 2
    if stored is None:
        wrong.delete()
    else:
        wrong.update(entry_count=stored)
    for _ in move_job._move_in_batches(ledger.source):
        assert count_wrong_rows(premium_member.pk) == {"account_memo_total": 1}
    assert wrong.get().entry_count == (stored or 0) - 2


def test_killed_job_is_continued_from_any_batch(
    moving: MovingLedger,
    client: JSONClient,
    other_member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give_everything(other_member)
    others = dump_ledger(other_member)
    left, runs = entries_of(moving.source).count(), 0
    while list_moves():
        with monkeypatch.context() as patch:
            # The second batch is rolled back.
            interrupt(patch, "move_entries", after=1)
            failed = run_moves().failed
        remaining = entries_of(moving.source).count()
        assert remaining < left or not failed
        left = remaining
        assert count_wrong_rows(moving.member.pk).total() == 0
        assert_rollups_are_right()
        runs += 1
    assert runs > LIMIT
    assert_moved(moving, client)
    assert dump_ledger(other_member) == others


@pytest.mark.parametrize(
    "step",
    ["_pass_moved_entries", "_delete_source", "delete_moved_{}"],
)
def test_job_that_is_killed_later_is_continued(
    moving: MovingLedger,
    client: JSONClient,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    with monkeypatch.context() as patch:
        interrupt(patch, step.format(moving.field))
        assert run_moves().failed == 1
    assert_rollups_are_right()
    # After the transaction that deletes it, nothing is left to do.
    is_deleted = step == "_delete_source"
    assert bool(list_moves()) is not is_deleted
    assert run_moves().failed == 0
    assert_moved(moving, client)


def test_move_that_fails_does_not_keep_the_others(
    ledger: MovingLedger,
    client: JSONClient,
    other_member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = make_moving_ledger(other_member, ledger.kind)
    for each, sender in ((ledger, client), (theirs, JSONClient(other_member))):
        assert sender.send("DELETE", each.deletion).status_code == 202
    move = moves.move_entries

    def fail_for_the_first(source: Any, *arguments: Any) -> int:
        if source.pk == ledger.source.pk:
            raise RuntimeError("the disk is gone")
        return move(source, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(move_job, "move_entries", fail_for_the_first)
        with pytest.raises(MovesFailedError):
            move_entries_task()
    assert JobRun.objects.get().state == JobRun.State.FAILED
    assert [row.pk for row in list_moves()] == [ledger.source.pk]
    move_entries_task()
    assert_moved(ledger, client)


def test_moves_take_turns(
    ledger: MovingLedger,
    client: JSONClient,
    other_member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = make_moving_ledger(other_member, ledger.kind)
    for each, sender in ((ledger, client), (theirs, JSONClient(other_member))):
        assert sender.send("DELETE", each.deletion).status_code == 202
    order: list[int] = []
    move = moves.move_entries

    def record(source: Any, *arguments: Any) -> int:
        order.append(source.pk)
        return move(source, *arguments)

    monkeypatch.setattr(move_job, "move_entries", record)
    run_moves()
    pair = [ledger.source.pk, theirs.source.pk]
    assert order == pair * (len(order) // 2)
    assert len(order) > 2 * LIMIT


def test_job_runs_every_minute_and_records_no_run_without_a_move(db: None) -> None:
    move_entries_task()
    assert not JobRun.objects.exists()
    entry = app.conf.beat_schedule["move_entries"]
    assert entry["schedule"] == timedelta(minutes=1)
    assert entry["task"] == move_entries_task.name
