"""Refunds and lines under concurrent writers."""

from random import Random
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from accounts.models import Member
from ledger import entries
from ledger.entries import create_entry, delete_entry
from ledger.entry_data import EntryData
from ledger.models import Entry
from ledger.rollup_repair import count_wrong_rows
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.races import call_before, run_concurrently, sorted_statuses
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db(transaction=True)

ENTRIES = "/api/account/entries"
DAY = "2026-11-02"
# As many as the pool of the tests has connections for.
WRITERS, WRITES = 4, 25


def make_refund(expense: Entry) -> EntryData:
    return EntryData(expense.date, "income", 20, refund_of=expense)


def test_two_refunds_at_once_do_not_exceed_the_expense(free_member: Member) -> None:
    expense = make_entry(free_member, amount=30)
    body = {"date": DAY, "type": "income", "amount": 20, "refundOf": expense.pk}

    def refund() -> Any:
        return JSONClient(free_member).send("POST", ENTRIES, body)

    assert sorted_statuses(run_concurrently([refund] * 4)) == [201, 400, 400, 400]
    assert Entry.objects.filter(refund_of=expense).count() == 1
    assert_rollups_are_right()


def test_expense_is_not_deleted_under_its_refund(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = 'INSERT INTO "account_entry"'

    def delete(expense: Entry) -> Any:
        return lambda: delete_entry(free_member, expense.pk)

    # Without the locks, the refund refers to an entry that is gone.
    def get_unlocked(member: Member, entry_id: int) -> Entry:
        rows = Entry.objects.select_related("category").filter(member=member)
        original: Entry = rows.get(pk=entry_id)
        return original

    expense = make_entry(free_member, amount=30)
    with monkeypatch.context() as patch:
        patch.setattr(entries, "lock_ledger", lambda member: None)
        patch.setattr(entries, "get_original", get_unlocked)
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
