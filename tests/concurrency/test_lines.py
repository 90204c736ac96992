"""Refunds and lines under concurrent writers (spec 3.19)."""

import threading
from contextlib import suppress
from datetime import date
from random import Random
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from accounts.models import Member
from core.errors import NotFoundError
from ledger.base import ledger_write
from ledger.categories.categories import delete_category
from ledger.entries import refunds
from ledger.entries import writing as entries
from ledger.entries.merges import merge_entries, unmerge_entry
from ledger.entries.refunds import complete_entry, divide_refund
from ledger.entries.writing import (
    create_entry,
    delete_entry,
    refund_entry,
    update_entry,
)
from ledger.entry_shape import EntryShape, LineShape
from ledger.errors import RefundExceedsError
from ledger.models import Entry
from ledger.rollups.repair import count_wrong_rows
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.races import (
    PAUSE_SECONDS,
    call_before,
    run_concurrently,
    sorted_statuses,
)
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db(transaction=True)

ENTRIES = "/api/account/entries"
DAY = "2026-11-02"
# As many as the pool of the tests has connections for.
WRITERS, WRITES = 4, 25


def remove_locks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ledger_write, "advisory_xact_lock", lambda *_: None)


def make_refund(expense: Entry) -> EntryShape:
    return EntryShape(date=expense.date, type="income", amount=20, refund_of=expense.pk)


def test_two_refunds_at_once_do_not_exceed_the_expense(free_member: Member) -> None:
    expense = make_entry(free_member, amount=30)
    body = {"date": DAY, "type": "income", "amount": 20, "refundOf": expense.pk}

    def refund() -> Any:
        return JSONClient(free_member).send("POST", ENTRIES, body)

    assert sorted_statuses(run_concurrently([refund] * 4)) == [201, 400, 400, 400]
    assert Entry.objects.filter(refund_of=expense).count() == 1
    assert_rollups_are_right()


def test_two_refunds_exceed_the_expense_without_the_locks(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    expense = make_entry(free_member, amount=30)
    checked = threading.Barrier(2)

    def complete_both(*arguments: Any) -> EntryShape:
        completed = complete_entry(*arguments)
        # With the locks, the other one is not checked before this one is committed.
        with suppress(threading.BrokenBarrierError):
            checked.wait(PAUSE_SECONDS)
        return completed

    def refund() -> str:
        try:
            create_entry(free_member, make_refund(expense), timezone.now())
        except RefundExceedsError:
            return "exceeds"
        return "created"

    monkeypatch.setattr(entries, "complete_entry", complete_both)
    with monkeypatch.context() as patch:
        remove_locks(patch)
        assert run_concurrently([refund] * 2) == ["created", "created"]
    Entry.objects.filter(refund_of=expense).delete()
    checked.reset()
    assert sorted(run_concurrently([refund] * 2)) == ["created", "exceeds"]


def test_two_refunds_of_a_split_expense_give_each_line_back(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [make_category(free_member).name for _ in range(2)]
    lines = tuple(LineShape(1, name, "expense") for name in names)
    data = EntryShape(date=date(2026, 11, 2), type="expense", amount=2, lines=lines)
    started = threading.Barrier(2)

    def divide_both(*arguments: Any) -> Any:
        # With the locks, the other one is not divided before this one is committed.
        with suppress(threading.BrokenBarrierError):
            started.wait(PAUSE_SECONDS)
        return divide_refund(*arguments)

    def refund_in_halves() -> set[str]:
        """Refund a new expense in two parts at once; return what they are booked on."""
        started.reset()
        expense = create_entry(free_member, data, timezone.now())
        half = {"date": data.date, "amount": 1}
        run_concurrently(
            [lambda: refund_entry(free_member, expense, half, timezone.now())] * 2
        )
        rows = Entry.objects.filter(refund_of=expense).select_related("category")
        return {row.category.name for row in rows}

    monkeypatch.setattr(refunds, "divide_refund", divide_both)
    with monkeypatch.context() as patch:
        remove_locks(patch)
        assert refund_in_halves() == {names[0]}
    assert refund_in_halves() == set(names)
    assert_rollups_are_right()


def test_edit_of_an_income_is_not_lost_in_a_merge(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank, cash = make_wallet(free_member), make_wallet(free_member)

    def edit_while_merging() -> tuple[Entry, Any]:
        expense = make_entry(free_member, amount=30, wallet=bank)
        income = make_entry(free_member, type="income", amount=30, wallet=cash)
        changes = {"amount": 70}

        def edit() -> None:
            update_entry(free_member, income.pk, changes, timezone.now())

        with call_before('DELETE FROM "account_entry"', edit) as edited:
            merge_entries(free_member, expense.pk, income.pk, timezone.now())
        return Entry.objects.get(pk=expense.pk), edited.exception()

    with monkeypatch.context() as patch:
        remove_locks(patch)
        merged, error = edit_while_merging()
    # The edit was accepted, and nothing is left of it.
    assert (merged.type, merged.amount, error) == ("transfer", 30, None)

    merged, error = edit_while_merging()
    assert (merged.type, merged.amount) == ("transfer", 30)
    assert isinstance(error, NotFoundError)
    assert_rollups_are_right()


def test_expense_is_not_deleted_under_its_refund(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = "account_create_entry"

    def delete(expense: Entry) -> Any:
        return lambda: delete_entry(free_member, expense.pk)

    # Without the locks, the refund refers to an entry that is gone.
    expense = make_entry(free_member, amount=30)
    with monkeypatch.context() as patch:
        remove_locks(patch)
        with (
            pytest.raises(IntegrityError, match="refund_of"),
            call_before(insert, delete(expense)),
        ):
            create_entry(free_member, make_refund(expense), timezone.now())
    assert not Entry.objects.exists()

    expense = make_entry(free_member, amount=30)
    with call_before(insert, delete(expense)):
        create_entry(free_member, make_refund(expense), timezone.now())
    refund = Entry.objects.get()
    assert (refund.amount, refund.refund_of_id) == (20, None)
    assert_rollups_are_right()


def test_totals_are_right_after_many_writers(premium_member: Member) -> None:
    wallets = [make_wallet(premium_member).pk for _ in range(3)]
    names = [make_category(premium_member).name for _ in range(3)]

    def write(seed: int) -> Any:
        def run() -> list[int]:
            random, client = Random(seed), JSONClient(premium_member)
            return [write_once(random, client) for _ in range(WRITES)]

        return run

    def write_once(random: Random, client: Any) -> int:
        own, other = random.sample(wallets, 2)
        ids = list(Entry.objects.values_list("pk", flat=True))
        picked = random.choice(ids) if ids else 0
        base: Any = {"date": f"2026-11-{random.randrange(1, 29):02}", "walletId": own}
        lines = [
            {"amount": 60, "category": random.choice(names)},
            {"amount": 40, "walletId": other},
        ]
        requests: list[Any] = [
            ("POST", "", base | {"type": "transfer", "toWalletId": other}),
            ("POST", "", base | {"type": "expense", "lines": lines}),
            ("POST", "", base | {"type": "income", "refundOf": picked}),
            ("PATCH", f"/{picked}", {"excluded": random.random() < 0.5}),
            ("PATCH", f"/{picked}", {"date": base["date"], "walletId": own}),
            ("DELETE", f"/{picked}", None),
        ]
        method, path, body = random.choice(requests)
        if method == "POST":
            body |= {"amount": 100}
        return int(client.send(method, f"{ENTRIES}{path}", body).status_code)

    found = run_concurrently([write(seed) for seed in range(WRITERS)])
    assert {status for statuses in found for status in statuses} <= {
        *(200, 201, 204),
        *(400, 404, 409),
    }
    assert not count_wrong_rows(premium_member.pk)
    assert_rollups_are_right()


def test_category_that_moves_takes_what_is_merged_meanwhile_along(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank, cash = make_wallet(free_member), make_wallet(free_member)
    target = make_category(free_member)

    def move_while_merging() -> tuple[Entry, BaseException | None]:
        source = make_category(free_member)
        expense = make_entry(free_member, amount=30, wallet=bank, category=source)
        income = make_entry(free_member, type="income", amount=30, wallet=cash)

        def merge() -> None:
            merge_entries(free_member, expense.pk, income.pk, timezone.now())

        # After the entries have moved.
        with call_before('UPDATE "account_merged_entry"', merge) as merged:
            delete_category(free_member, source.pk, target.pk)
        return expense, merged.exception()

    with monkeypatch.context() as patch:
        remove_locks(patch)
        _, error = move_while_merging()
    assert isinstance(error, IntegrityError)

    expense, error = move_while_merging()
    assert error is None
    unmerge_entry(free_member, expense.pk, timezone.now())
    expense.refresh_from_db()
    assert (expense.type, expense.category_id) == ("expense", target.pk)
    assert_rollups_are_right()
