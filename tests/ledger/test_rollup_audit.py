"""`check_totals` compares the rollups with the entries."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Member
from core.db.rollup_audit import count_drift
from ledger.models import CategoryRollup, WalletRollup
from ledger.rollups import ROLLUPS
from tests.support.factories import make_category, make_entry, make_wallet

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


def test_totals_that_the_triggers_keep_are_right(ledger: Member) -> None:
    assert check().count(": 0 differ") == 7


def test_totals_without_entries_are_right(ledger: Member) -> None:
    make_entry(ledger).delete()
    assert set(count_drift(ROLLUPS).values()) == {0}


def test_drift_is_reported_and_fails(ledger: Member) -> None:
    CategoryRollup.objects.filter(type="income").update(amount=6)
    WalletRollup.objects.all().delete()
    with pytest.raises(CommandError, match="differ"):
        check()
    drift = count_drift(ROLLUPS)
    assert drift["account_category_total"] == 1
    assert drift["account_wallet_total"] == 1
    assert drift["account_day_total"] == 0


def test_repair_rebuilds_the_totals(ledger: Member) -> None:
    CategoryRollup.objects.update(amount=6)
    WalletRollup.objects.all().delete()
    assert check("--repair").count(": 0 differ") == 7
