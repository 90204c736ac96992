"""`check_totals` compares the rollups with the entries."""

from collections import Counter
from io import StringIO
from threading import Barrier
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from accounts.models import Member
from ledger.models import CategoryRollup, DayRollup, MemoRollup, WalletRollup
from ledger.rollups import repair as rollup_repair
from ledger.rollups.repair import count_wrong_rows, process_ledgers, repair_rollups
from tests.support.factories import make_category, make_entry, make_member, make_wallet
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ledger(free_member: Member) -> Member:
    wallet, category = make_wallet(free_member), make_category(free_member)
    make_entry(free_member, wallet=wallet, category=category, amount=700)
    make_entry(free_member, wallet=wallet, pending=True, amount=20)
    make_entry(free_member, type="income", amount=5)
    return free_member


def check(*arguments: str) -> str:
    out = StringIO()
    call_command("check_totals", *arguments, stdout=out)
    return out.getvalue()


def insert_without_triggers(member: Member, count: int) -> None:
    """Insert entries whose memos differ, which the rollups do not know of."""
    category = make_category(member, type="expense")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "INSERT INTO account_entry (member_id, date, type, amount, pending,"
            " category_id, memo, created_at, updated_at)"
            " SELECT %s, DATE '2026-01-01' + number %% 60, 'expense', number, false,"
            " %s, 'memo ' || number, now(), now() FROM generate_series(1, %s) number",
            [member.pk, category.pk, count],
        )


def test_totals_that_the_triggers_keep_are_right(ledger: Member) -> None:
    assert check().count(": 0 differ") == 7


def test_totals_without_entries_are_right(ledger: Member) -> None:
    make_entry(ledger).delete()
    assert not count_wrong_rows(ledger.pk)


def test_wrong_and_missing_rows_are_reported_and_fail(ledger: Member) -> None:
    CategoryRollup.objects.filter(type="income").update(amount=6)
    WalletRollup.objects.all().delete()
    with pytest.raises(CommandError, match="differ"):
        check()
    wrong = {"account_category_total": 1, "account_wallet_total": 1}
    assert count_wrong_rows(ledger.pk) == wrong


def test_rows_of_nothing_are_wrong_only_if_they_add_something(ledger: Member) -> None:
    zeros = dict.fromkeys(("income_count", "expense_count"), 0) | dict.fromkeys(
        ("pending_income_count", "pending_expense_count", "expense", "wallet_change"), 0
    )
    row = DayRollup.objects.create(member=ledger, date="2020-01-01", income=0, **zeros)
    assert not count_wrong_rows(ledger.pk)
    DayRollup.objects.filter(pk=row.pk).update(income=9)
    assert count_wrong_rows(ledger.pk) == {"account_day_total": 1}
    check("--repair")
    assert_rollups_are_right()


def test_repair_corrects_the_totals(ledger: Member) -> None:
    CategoryRollup.objects.update(amount=6)
    WalletRollup.objects.all().delete()
    assert "account_wallet_total: 1 repaired" in check("--repair")
    assert_rollups_are_right()
    assert check("--repair").count(": 0 repaired") == 7


def test_ledgers_up_to_a_member_can_be_left_out(ledger: Member) -> None:
    other = make_member()
    make_entry(other)
    DayRollup.objects.all().delete()
    check("--repair", "--after", str(ledger.pk))
    assert count_wrong_rows(ledger.pk)
    assert not count_wrong_rows(other.pk)


def test_ledgers_are_processed_at_once_and_reported_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rollup_repair, "BATCH_SIZE", 4)
    monkeypatch.setattr(rollup_repair, "SHARE_SIZE", 1)
    ids = sorted(make_member().pk for _ in range(8))
    both = Barrier(2)

    def process(member_id: int) -> Counter[str]:
        both.wait(10)  # passes only if another thread is here too
        return count_wrong_rows(member_id) + Counter({str(member_id): 1})

    found = list(process_ledgers(process, thread_count=2, after=ids[0] - 1))
    assert found == [(member_id, {str(member_id): 1}) for member_id in ids]


def test_failure_with_one_ledger_ends_the_command(
    ledger: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rollup_repair, "SHARE_SIZE", 1)
    left = [make_member().pk for _ in range(50)]
    processed: list[int] = []

    def process(member_id: int) -> Counter[str]:
        processed.append(member_id)
        raise OSError(member_id)

    with pytest.raises(OSError, match=r"^[0-9]+$"):
        list(process_ledgers(process, thread_count=1))
    assert len(processed) < len(left)


def test_interrupted_repair_goes_on_where_it_ended(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert_without_triggers(free_member, 2_500)
    add = rollup_repair._add
    calls: list[int] = []

    def add_twice(*arguments: Any) -> bool:
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return add(*arguments)

    monkeypatch.setattr(rollup_repair, "_add", add_twice)
    with pytest.raises(KeyboardInterrupt):
        repair_rollups(free_member.pk)
    monkeypatch.undo()
    assert 0 < MemoRollup.objects.count() < 2_500
    left = repair_rollups(free_member.pk)
    assert 0 < left["account_memo_total"] < 2_500
    assert_rollups_are_right()


def test_check_takes_no_lock_that_a_writer_could_wait_for(ledger: Member) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        rollup_repair._list_wrong_rows(ledger.pk)
        cursor.execute(
            "SELECT DISTINCT locktype, mode FROM pg_locks WHERE pid = pg_backend_pid()"
        )
        assert set(cursor.fetchall()) == {
            ("relation", "AccessShareLock"),
            ("virtualxid", "ExclusiveLock"),
        }
