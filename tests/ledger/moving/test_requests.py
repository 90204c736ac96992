"""Deletion of a wallet or category with `moveTo`, in one transaction."""

import pytest
from django.core.management import call_command

from accounts.models import Member
from ledger.models import Budget, Entry, MemoRollup, QuickEntry, RecurringRule
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of
from tests.support.moves import (
    MOVED_ENTRIES,
    MovingLedger,
    dump_ledger,
    entries_of,
    make_moving_ledger,
    read_sums,
)
from tests.support.rollups import assert_rollups_are_right
from tests.support.whole_accounts import give_everything

pytestmark = pytest.mark.django_db


def move(ledger: MovingLedger, client: JSONClient) -> None:
    response = client.send("DELETE", ledger.deletion)
    assert (response.status_code, response.content) == (204, b"")


def test_everything_moves_and_nothing_of_others(
    ledger: MovingLedger, client: JSONClient, other_member: Member
) -> None:
    give_everything(other_member)
    make_moving_ledger(other_member, ledger.kind)
    theirs, others = dump_ledger(other_member), count_rows_of(other_member)
    own = Entry.objects.filter(member_id=ledger.member.pk)
    unmoved = own.exclude(**{ledger.field: ledger.source.pk})
    before = list(unmoved.order_by("pk").values())
    move(ledger, client)
    assert client.get(ledger.path).status_code == 404
    # With the one that the target had; a wallet also has an income.
    count = MOVED_ENTRIES + 1 + (ledger.kind == "wallets")
    assert entries_of(ledger.target).count() == count
    ids = [row["id"] for row in before]
    assert list(own.filter(pk__in=ids).order_by("pk").values()) == before
    assert (dump_ledger(other_member), count_rows_of(other_member)) == (theirs, others)
    assert_rollups_are_right()
    call_command("check_totals")


def test_templates_move(ledger: MovingLedger, client: JSONClient) -> None:
    move(ledger, client)
    for model in (QuickEntry, RecurringRule):
        assert getattr(model.objects.get(), f"{ledger.field}_id") == ledger.target.pk


def test_sums_stay(ledger: MovingLedger, client: JSONClient) -> None:
    before = read_sums(client)
    move(ledger, client)
    after = read_sums(client)
    if ledger.kind == "wallets":
        # The opening balance goes with the wallet.
        for name in ("worth", "balance", "trend"):
            del before[name], after[name]
    assert after == before


def test_budgets_and_memos_of_a_category_move(
    premium_member: Member, client: JSONClient
) -> None:
    ledger = make_moving_ledger(premium_member, "categories")
    move(ledger, client)
    rows = Budget.objects.filter(member_id=premium_member.pk).order_by("amount")
    assert list(rows.values_list("category", "amount")) == [
        (ledger.target.pk, 5),
        (ledger.target.pk, 80),
    ]
    assert not MemoRollup.objects.filter(category_id=ledger.source.pk).exists()
