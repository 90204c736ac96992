"""Effects of entries on balances and flows: Python and the database agree."""

from itertools import product
from typing import Any

import pytest

from accounts.models import Member
from ledger.effects import balance_change, flow
from ledger.models import CategoryRollup, DayRollup, WalletRollup
from ledger.rollup_repair import count_wrong_rows
from tests.support.factories import make_category, make_entry, make_wallet

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
