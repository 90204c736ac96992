"""Python and the database agree on the effects of entries (spec 3.19)."""

from itertools import product
from typing import Any

import pytest
from django.db import IntegrityError

from accounts.models import Member
from ledger.models import (
    CategoryRollup,
    DayRollup,
    Entry,
    EntryLine,
    EntryTag,
    TagRollup,
    WalletRollup,
)
from ledger.rollups.repair import count_wrong_rows
from tests.support.effects import balance_change, flow
from tests.support.factories import make_category, make_entry, make_tag, make_wallet

pytestmark = pytest.mark.django_db

CASES = list(product(("income", "expense"), (False, True), (False, True)))


@pytest.mark.parametrize(("type_", "is_reversal", "is_pending"), CASES)
def test_triggers_audit_and_python_agree_on_the_effect_of_an_entry(
    type_: Any, is_reversal: Any, is_pending: Any, free_member: Member
) -> None:
    other = {"income": "expense", "expense": "income"}[type_]
    category_type = other if is_reversal else type_
    wallet = make_wallet(free_member)
    make_entry(
        free_member,
        type=type_,
        is_reversal=is_reversal,
        category=make_category(free_member, type=category_type),
        wallet=wallet,
        amount=700,
        pending=is_pending,
    )
    counted = 0 if is_pending else 1
    total = CategoryRollup.objects.get()
    assert total.type == category_type
    assert total.amount == counted * flow(type_, category_type, 700)
    stored = WalletRollup.objects.get(wallet_id=wallet.pk)
    assert stored.balance == counted * balance_change(type_, 700)
    # What flows moves the wallets, and nothing else does.
    day = DayRollup.objects.get()
    assert day.income - day.expense == stored.balance == day.wallet_change
    assert not count_wrong_rows(free_member.pk)


def test_refund_takes_from_the_expense_and_is_no_income() -> None:
    assert flow("income", "expense", 30) == -30
    assert balance_change("income", 30) == 30
    assert flow("expense", "income", 30) == -30
    assert flow("income", "income", 30) == flow("expense", "expense", 30) == 30


@pytest.mark.parametrize("left_out", ["pending", "excluded"])
def test_tags_of_entries_that_do_not_count_have_no_totals(
    left_out: str, free_member: Member
) -> None:
    make_entry(free_member, tags=("trip",), **{left_out: True})
    assert not TagRollup.objects.exists()
    assert not count_wrong_rows(free_member.pk)


def test_entry_with_both_types_counts_once_under_its_tag(free_member: Member) -> None:
    entry = make_split_entry(free_member, {"income": 130, "expense": -30})
    tag = make_tag(free_member)
    EntryTag.objects.create(entry=entry, tag=tag, member=free_member, position=0)
    counts = dict(TagRollup.objects.values_list("type", "entry_count"))
    assert counts == {"income": 0, "expense": 1}


def test_database_refuses_lines_that_do_not_add_up(free_member: Member) -> None:
    with pytest.raises(IntegrityError, match="do not fit"):
        make_split_entry(free_member, {"income": 130, "expense": -31})


def make_split_entry(member: Member, amounts: dict[str, int]) -> Entry:
    """Create an income of 100 with lines of these types and amounts."""
    entry = make_entry(member, type="income", amount=100, line_count=None)
    for position, (type_, amount) in enumerate(amounts.items()):
        EntryLine.objects.create(
            member=member,
            entry=entry,
            position=position,
            amount=amount,
            category_type=type_,
        )
    Entry.objects.owned_by(member).filter(pk=entry.pk).update(line_count=len(amounts))
    return entry
