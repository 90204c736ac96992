"""Net worth now: assets, liabilities, investments and the wallets behind them."""

from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet

NETWORTH = "/api/account/networth"
TYPED = {"opening_balance": 10, "manual_valuation": True}


@pytest.mark.parametrize(
    ("wallets", "assets", "liabilities"),
    [
        ([], 0, 0),
        ([{"opening_balance": 1_000}, {"opening_balance": 500}], 1_500, 0),
        ([{"opening_balance": 70, "archived": True}], 70, 0),
        # The sign decides, not the kind.
        ([{"kind": "LOAN", "opening_balance": 300}], 300, 0),
        ([{"kind": "BANK", "opening_balance": -100}, {"opening_balance": 1}], 1, 100),
        # A manual valuation replaces the balance.
        ([TYPED | {"current_value": 900}], 900, 0),
        ([TYPED | {"current_value": 0}], 0, 0),
        ([TYPED | {"current_value": -40}], 0, 40),
        ([TYPED | {"current_value": None}], 10, 0),
        ([{"opening_balance": 10, "current_value": 900}], 10, 0),
    ],
)
def test_wallets_are_assets_or_liabilities(
    client: JSONClient,
    premium_member: Member,
    wallets: list[dict[str, Any]],
    assets: int,
    liabilities: int,
) -> None:
    for fields in wallets:
        make_wallet(premium_member, **fields)
    body = client.get_json(NETWORTH)
    assert len(body.pop("wallets")) == len(wallets)
    assert body == {
        "total": assets - liabilities,
        "assets": assets,
        "liabilities": liabilities,
        "investments": 0,
    }


def test_wallets_are_listed_in_their_order_with_balance_and_value(
    client: JSONClient, premium_member: Member
) -> None:
    second = make_wallet(premium_member, sort_order=2, archived=True)
    first = make_wallet(
        premium_member, sort_order=1, kind="PENSION", current_value=900, **TYPED
    )
    make_entry(premium_member, wallet=first, type="income", amount=5)
    rows = client.get_json(NETWORTH)["wallets"]
    assert [(row["id"], row["archived"]) for row in rows] == [
        (first.pk, False),
        (second.pk, True),
    ]
    figures = {"kind": "PENSION", "balance": 15, "value": 900, "archived": False}
    assert rows[0] == {"id": first.pk, "name": first.name} | figures


def test_confirmed_entries_of_a_wallet_count_later_dated_ones_too(
    client: JSONClient, premium_member: Member
) -> None:
    wallet = make_wallet(premium_member, opening_balance=100)
    make_entry(premium_member, wallet=wallet, amount=30, date="2099-01-01")
    pending = make_entry(premium_member, wallet=wallet, amount=9, pending=True)
    make_entry(premium_member, type="income", amount=500)
    assert client.get_json(NETWORTH)["total"] == 70
    client.send("POST", f"/api/account/entries/{pending.pk}/confirm")
    assert client.get_json(NETWORTH)["total"] == 61
