"""Rollups are checked and repaired while members write."""

from threading import Event
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.models import Member
from core.db.locks import AdvisoryLock, advisory_xact_lock
from ledger.models import (
    CategoryRollup,
    DayRollup,
    Entry,
    TagRollup,
    Wallet,
    WalletRollup,
)
from ledger.rollups import repair as rollup_repair
from ledger.rollups.repair import count_wrong_rows, repair_rollups
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_member, make_wallet
from tests.support.races import run_concurrently
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db(transaction=True)

ENTRIES = "/api/account/entries"
BODY = {"type": "expense", "amount": 7, "category": "식비", "tags": ["외식", "회사"]}
DAYS = ("2026-01-05", "2026-02-05")
WRITES, REPAIRS = 25, 12


@pytest.fixture
def member() -> Member:
    return make_member(role="ADMIN")


@transaction.atomic
def damage_rollups(member: Member) -> None:
    """Make rows of several rollups wrong, as no writer of the service does."""
    advisory_xact_lock(AdvisoryLock.LEDGER, member.pk)
    DayRollup.objects.owned_by(member).delete()
    CategoryRollup.objects.owned_by(member).update(amount=3)
    TagRollup.objects.owned_by(member).update(entry_count=0)
    WalletRollup.objects.owned_by(member).update(balance=-1)


def test_totals_are_right_after_a_repair_among_writers(member: Member) -> None:
    client, wallet = JSONClient(member), make_wallet(member)

    def write(day: str) -> None:
        for number in range(WRITES):
            body = BODY | {"date": day, "walletId": wallet.pk, "memo": f"shop {number}"}
            created = client.send("POST", ENTRIES, body)
            path = f"{ENTRIES}/{created.data['id']}"
            if number % 3 == 1:
                client.send("PATCH", path, {"amount": number, "date": DAYS[0]})
            if number % 3 == 2:
                client.send("DELETE", path)

    def repair() -> None:
        for number in range(REPAIRS):
            if number % 2 == 0:
                damage_rollups(member)
            repair_rollups(member.pk)

    run_concurrently([lambda: write(DAYS[0]), lambda: write(DAYS[1]), repair])
    assert Entry.objects.count() > WRITES
    assert_rollups_are_right()


def test_two_repairs_at_once_add_what_is_lacking_once(member: Member) -> None:
    for _ in range(5):
        make_entry(member, wallet=make_wallet(member), memo="shop")
    for _ in range(10):
        damage_rollups(member)
        run_concurrently([lambda: repair_rollups(member.pk)] * 3)
        assert_rollups_are_right()


@pytest.mark.parametrize("is_used", [True, False])
def test_what_was_computed_before_a_rebuild_is_not_added(
    member: Member, monkeypatch: pytest.MonkeyPatch, is_used: Any
) -> None:
    # A wallet is deleted between the two steps, which sets or deletes its totals.
    wallet, other = make_wallet(member), make_wallet(member)
    if is_used:
        make_entry(member, wallet=wallet)
    else:
        WalletRollup.objects.create(
            member=member, wallet_id=wallet.pk, balance=5, entry_count=1
        )
    damage_rollups(member)
    list_wrong_rows = rollup_repair._list_wrong_rows
    path = f"/api/account/wallets/{wallet.pk}"
    path += f"?moveTo={other.pk}" if is_used else ""

    def list_and_delete(member_id: int) -> Any:
        found = list_wrong_rows(member_id)
        if Wallet.objects.filter(pk=wallet.pk).exists():
            assert JSONClient(member).send("DELETE", path).status_code == 204
        return found

    monkeypatch.setattr(rollup_repair, "_list_wrong_rows", list_and_delete)
    repair_rollups(member.pk)
    assert_rollups_are_right()


def test_member_may_leave_during_the_repair(
    member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_entry(member, memo="shop")
    damage_rollups(member)
    list_wrong_rows = rollup_repair._list_wrong_rows

    def list_and_leave(member_id: int) -> Any:
        found = list_wrong_rows(member_id)
        if Member.objects.filter(pk=member_id).exists():
            JSONClient(member).send("DELETE", "/api/auth/me")
            assert not Member.objects.filter(pk=member_id).exists()
        return found

    monkeypatch.setattr(rollup_repair, "_list_wrong_rows", list_and_leave)
    repair_rollups(member.pk)
    assert not DayRollup.objects.exists()


def test_check_finds_nothing_wrong_while_others_write(member: Member) -> None:
    client, ended = JSONClient(member), Event()
    make_entry(member, memo="shop")

    def write() -> None:
        for number in range(2 * WRITES):
            client.send("POST", ENTRIES, BODY | {"date": DAYS[number % 2]})
        ended.set()

    def check() -> list[Any]:
        found = []
        while not ended.is_set():
            found.append(count_wrong_rows(member.pk))
        return found

    _, found = run_concurrently([write, check])
    assert len(found) > 1
    assert not any(found)


def test_check_does_not_wait_for_a_restore(member: Member) -> None:
    make_entry(member)
    locked, checked = Event(), Event()

    def lock() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            advisory_xact_lock(AdvisoryLock.LEDGER, member.pk)
            for table in ("account_ledger", "account_entry"):
                cursor.execute(
                    f"SELECT FROM {table} WHERE member_id = %s FOR UPDATE", [member.pk]
                )
            locked.set()
            assert checked.wait(10)

    def check() -> Any:
        assert locked.wait(10)
        try:
            return count_wrong_rows(member.pk)
        finally:
            checked.set()

    _, found = run_concurrently([lock, check])
    assert not found
