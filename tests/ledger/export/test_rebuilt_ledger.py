"""The JSON file is enough to make an equal ledger (spec 3.28)."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Member
from ledger.models import TaughtLayout
from tests.support.clients import JSONClient
from tests.support.exports import export_json
from tests.support.factories import make_member
from tests.support.random_ledgers import ALL_KINDS, ENTRIES, A, RandomLedger
from tests.support.rebuilt_ledgers import RebuiltLedger, without_ids
from tests.support.rollups import assert_rollups_are_right
from tests.support.whole_accounts import give_everything
from tests.support.workbooks import download_backup

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 21, 3, tzinfo=UTC)
FIGURES = ("networth", "portfolio", "statistics/year?year=2026", "budgets/income")


def rebuild(member: Member) -> Member:
    other = make_member(plan="PREMIUM")
    RebuiltLedger(other, export_json(member)).write()
    return other


def assert_is_equal(member: Member, other: Member) -> None:
    assert without_ids(export_json(other)) == without_ids(export_json(member))
    assert download_backup(other) == download_backup(member)
    assert_rollups_are_right()


def read_figures(member: Member) -> list[Any]:
    client, today = JSONClient(member), timezone.localdate()
    month = f"year={today.year}&month={today.month}"
    texts = []
    for path in (*FIGURES, f"statistics/month?{month}", f"budgets/status?{month}"):
        join = f"{path}?{month}" if path == "budgets/income" else path
        texts.append(without_ids_of_answers(client.get_json(f"{A}/{join}")))
    return texts


def without_ids_of_answers(value: Any) -> Any:
    if isinstance(value, list):
        return [without_ids_of_answers(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: without_ids_of_answers(each)
        for name, each in value.items()
        if name != "id" and not name.endswith("Id") and name != "version"
    }


def test_ledger_with_everything_is_made_anew(premium_member: Member) -> None:
    give_everything(premium_member)
    assert TaughtLayout.objects.owned_by(premium_member).exists()
    other = rebuild(premium_member)
    assert_is_equal(premium_member, other)
    assert read_figures(other) == read_figures(premium_member)


def test_random_ledger_is_made_anew(premium_member: Member) -> None:
    with time_machine.travel(NOON, tick=True):
        ledger = RandomLedger(JSONClient(premium_member), Random(5))
        ledger.add_wallets(["BANK", "CARD", "LOAN"])
        ledger.add_categories()
        for number in range(60):
            body = ALL_KINDS[number % len(ALL_KINDS)](ledger)
            answer = ledger.post(ENTRIES, body)
            if body["type"] == "expense" and "currency" not in body:
                ledger.refundable[answer["id"]] = (body["date"], body["amount"] // 9)
        other = rebuild(premium_member)
        assert_is_equal(premium_member, other)
        assert read_figures(other) == read_figures(premium_member)
