"""Wallets: their fields, and what they may be."""

from typing import Any

import pytest

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from ledger.models import Wallet
from tests.support.clients import JSONClient
from tests.support.factories import make_wallet
from tests.support.problems import assert_invalid
from tests.support.wallets import PLAIN, WALLETS

KINDS = [
    "CASH",
    "BANK",
    "CARD",
    "CHECK_CARD",
    "INVESTMENT",
    "PENSION",
    "LOAN",
    "OTHER",
]


def test_wallet_needs_only_name_and_kind(client: JSONClient) -> None:
    wallet = client.create_json(WALLETS, PLAIN)
    assert wallet == {
        "id": wallet["id"],
        "name": "Cash",
        "kind": "CASH",
        "institution": "",
        "accountNumber": None,
        "openingBalance": 0,
        "balance": 0,
        "manualValuation": False,
        "currentValue": None,
        "archived": False,
        "memo": "",
        "sortOrder": 1,
        "moving": False,
    }


def test_wallet_keeps_every_field_that_is_written(client: JSONClient) -> None:
    body = {
        "name": "연금",
        "kind": "PENSION",
        "institution": "국민연금",
        "accountNumber": "110-123-456789",
        "openingBalance": 1_000,
        "manualValuation": True,
        "currentValue": 5_000_000,
        "archived": True,
        "memo": "a\nb",
    }
    wallet = client.create_json(WALLETS, body)
    computed = {"id": wallet["id"], "balance": 1_000, "sortOrder": 1, "moving": False}
    assert wallet == body | computed
    assert client.get_json(f"{WALLETS}/{wallet['id']}") == wallet
    assert client.get_json(WALLETS) == [wallet]


@pytest.mark.parametrize("kind", KINDS)
def test_wallet_may_be_of_each_kind(client: JSONClient, kind: str) -> None:
    assert client.create_json(WALLETS, PLAIN | {"kind": kind})["kind"] == kind


@pytest.mark.parametrize("name", ["name", "kind"])
def test_missing_name_or_kind_is_refused(client: JSONClient, name: str) -> None:
    body = {key: value for key, value in PLAIN.items() if key != name}
    assert_invalid(client.send("POST", WALLETS, body), name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", ""),
        ("name", "  "),
        ("name", None),
        ("name", "x" * 101),
        ("name", 5),
        ("name", "nul\x00"),
        ("kind", "cash"),
        ("kind", "WALLET"),
        ("kind", None),
        ("kind", True),
        ("kind", []),
        ("kind", {}),
        ("institution", "x" * 101),
        ("institution", 5),
        ("accountNumber", 110123456789),
        ("accountNumber", "x" * 65),
        ("accountNumber", "1\x002"),
        ("accountNumber", ["1"]),
        ("openingBalance", None),
        ("openingBalance", "5"),
        ("openingBalance", 1.5),
        ("openingBalance", True),
        ("openingBalance", MAX_AMOUNT + 1),
        ("openingBalance", -MAX_AMOUNT - 1),
        ("openingBalance", 10**30),
        ("manualValuation", "true"),
        ("manualValuation", 1),
        ("manualValuation", None),
        ("currentValue", "5"),
        ("currentValue", 0.5),
        ("currentValue", MAX_AMOUNT + 1),
        ("currentValue", -MAX_AMOUNT - 1),
        ("archived", "yes"),
        ("archived", 0),
        ("archived", None),
        ("memo", "x" * 501),
        ("memo", 5),
    ],
)
def test_value_that_does_not_fit_is_refused(
    client: JSONClient, name: str, value: Any
) -> None:
    assert_invalid(client.send("POST", WALLETS, PLAIN | {name: value}), name)
    assert Wallet.objects.count() == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", "가" * 100),
        ("institution", "가" * 100),
        ("memo", "가" * 500),
        ("openingBalance", MAX_AMOUNT),
        ("openingBalance", -MAX_AMOUNT),
        ("openingBalance", -1),
    ],
)
def test_value_at_its_limit_is_kept_as_it_is(
    client: JSONClient, name: str, value: Any
) -> None:
    assert client.create_json(WALLETS, PLAIN | {name: value})[name] == value


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_id_member_balance_and_order_of_a_body_have_no_effect(
    client: JSONClient, free_member: Member, other_member: Member, method: str
) -> None:
    own = make_wallet(free_member, sort_order=1)
    forged = PLAIN | {
        "id": 1,
        "member": other_member.pk,
        "memberId": other_member.pk,
        "balance": 99,
        "sortOrder": 70,
        "sort_order": 70,
        "accountNumberUnreadable": True,
        "encryptedAccountNumber": "forged",
        "encrypted_account_number": "forged",
    }
    if method == "POST":
        body = client.create_json(WALLETS, forged)
        assert body["sortOrder"] == 2
    else:
        body = client.change_json(method, f"{WALLETS}/{own.pk}", forged)
        assert (body["id"], body["sortOrder"]) == (own.pk, 1)
    assert body["balance"] == 0
    assert body["accountNumber"] is None
    assert "accountNumberUnreadable" not in body
    assert Wallet.objects.get(pk=body["id"]).member == free_member


@pytest.mark.parametrize("row_id", [0, 2**63, 10**30])
def test_id_that_no_row_can_have_is_404(client: JSONClient, row_id: int) -> None:
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        response = client.send(method, f"{WALLETS}/{row_id}", PLAIN)
        assert response.status_code == 404, method
