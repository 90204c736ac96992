"""Reconciling a wallet: the difference is an amount that an entry can have."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from ledger.models import Entry
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet
from tests.support.problems import assert_invalid, assert_problem
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db

WALLETS = "/api/account/wallets"


@pytest.mark.parametrize("sign", [1, -1])
def test_difference_above_the_largest_amount_is_refused(
    premium_member: Member, sign: int
) -> None:
    client: Any = JSONClient(premium_member)
    wallet = make_wallet(premium_member)
    path = f"{WALLETS}/{wallet.pk}/reconcile"
    first = {"date": "2026-11-02", "balance": -sign * MAX_AMOUNT}
    assert client.send("POST", path, first).status_code == 200
    for balance in (sign * MAX_AMOUNT, sign):
        for is_dry in (False, True):
            body = {"date": "2026-11-02", "balance": balance, "dryRun": is_dry}
            response = client.send("POST", path, body)
            assert_problem(response, 400, "VALIDATION_ERROR")
            (error,) = response.json()["errors"]
            assert (error["field"], error["code"]) == ("balance", "max_value")
            assert "999,999,999,999" in error["detail"]
    assert Entry.objects.get().amount == MAX_AMOUNT
    body = {"date": "2026-11-02", "balance": 0}
    assert client.send("POST", path, body).json()["difference"] == sign * MAX_AMOUNT
    assert upload(client, download_backup(premium_member)).status_code == 200


def test_reconcile_takes_days_from_the_wallet_to_today(premium_member: Member) -> None:
    client: Any = JSONClient(premium_member)
    wallet = client.create_json(WALLETS, {"name": "통장", "kind": "BANK"})
    path = f"{WALLETS}/{wallet['id']}/reconcile"
    today = timezone.localdate()

    def send(day: date) -> Any:
        body = {"date": day.isoformat(), "balance": 5, "dryRun": True}
        return client.send("POST", path, body)

    assert_invalid(send(today + timedelta(1)), "date")
    assert send(today).status_code == 200
    assert_invalid(send(today - timedelta(1)), "date")
    other = make_wallet(premium_member)
    first = today - timedelta(3)
    entry = make_entry(
        premium_member, type="transfer", wallet=other, to_wallet_id=wallet["id"]
    )
    Entry.objects.filter(pk=entry.pk).update(date=first)
    assert send(first).status_code == 200
    assert_invalid(send(first - timedelta(1)), "date")


def test_wallet_without_manual_valuation_takes_no_value(
    premium_member: Member,
) -> None:
    client: Any = JSONClient(premium_member)
    path = f"{WALLETS}/{make_wallet(premium_member).pk}/valuations"
    response = client.send("POST", path, {"date": "2026-11-02", "value": 5})
    assert_invalid(response, "manualValuation")
    assert client.get_json(path) == []


def test_typed_in_value_may_differ_by_more(premium_member: Member) -> None:
    client: Any = JSONClient(premium_member)
    for value in (None, -MAX_AMOUNT):
        wallet = make_wallet(premium_member, manual_valuation=True, current_value=value)
        if value is None:
            wallet.opening_balance = -MAX_AMOUNT
            wallet.save()
        path = f"{WALLETS}/{wallet.pk}"
        body = {"date": "2026-11-02", "balance": MAX_AMOUNT}
        response = client.send("POST", f"{path}/reconcile", body)
        assert response.status_code == 200, response.content
        assert response.json()["difference"] == 2 * MAX_AMOUNT
        assert client.get_json(path)["currentValue"] == MAX_AMOUNT
