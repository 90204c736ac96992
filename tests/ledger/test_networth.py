"""Net worth now: assets, liabilities, investments and the wallets behind them."""

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet

NETWORTH = "/api/account/networth"


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


def test_net_worth_without_wallets_is_zero(client: JSONClient) -> None:
    assert client.get_json(NETWORTH) == {
        "total": 0,
        "assets": 0,
        "liabilities": 0,
        "investments": 0,
        "wallets": [],
    }


def test_positive_balances_are_assets_and_negative_ones_liabilities(
    client: JSONClient, free_member: Member
) -> None:
    make_wallet(free_member, opening_balance=1_000)
    make_wallet(free_member, opening_balance=500)
    make_wallet(free_member, kind="LOAN", opening_balance=-300)
    make_wallet(free_member, kind="CARD", opening_balance=-50)
    body = client.get_json(NETWORTH)
    assert (body["assets"], body["liabilities"], body["total"]) == (1_500, 350, 1_150)
    assert body["investments"] == 0


def test_the_sign_decides_not_the_kind(client: JSONClient, free_member: Member) -> None:
    make_wallet(free_member, kind="LOAN", opening_balance=300)
    make_wallet(free_member, kind="BANK", opening_balance=-100)
    body = client.get_json(NETWORTH)
    assert (body["assets"], body["liabilities"]) == (300, 100)


def test_valuation_counts_instead_of_the_balance(
    client: JSONClient, free_member: Member
) -> None:
    pension = make_wallet(
        free_member,
        kind="PENSION",
        opening_balance=10,
        manual_valuation=True,
        current_value=900,
    )
    make_entry(free_member, wallet=pension, type="income", amount=5)
    body = client.get_json(NETWORTH)
    assert body["total"] == 900
    assert body["wallets"] == [
        {
            "id": pension.pk,
            "name": pension.name,
            "kind": "PENSION",
            "balance": 15,
            "value": 900,
            "archived": False,
        }
    ]


@pytest.mark.parametrize(
    ("valuation", "value"), [(0, 0), (-40, -40), (None, 10)], ids=str
)
def test_valuation_of_zero_or_less_counts_too_and_none_does_not(
    client: JSONClient, free_member: Member, valuation: int | None, value: int
) -> None:
    make_wallet(
        free_member,
        opening_balance=10,
        manual_valuation=True,
        current_value=valuation,
    )
    assert client.get_json(NETWORTH)["total"] == value


def test_typed_value_without_manual_valuation_does_not_count(
    client: JSONClient, free_member: Member
) -> None:
    make_wallet(free_member, opening_balance=10, current_value=900)
    assert client.get_json(NETWORTH)["total"] == 10


def test_archived_wallets_count(client: JSONClient, free_member: Member) -> None:
    make_wallet(free_member, opening_balance=70, archived=True)
    body = client.get_json(NETWORTH)
    assert body["total"] == 70
    assert body["wallets"][0]["archived"] is True


def test_later_dated_entries_count_and_pending_ones_do_not(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member, opening_balance=100)
    make_entry(free_member, wallet=wallet, amount=30, date="2099-01-01")
    make_entry(free_member, wallet=wallet, amount=9, pending=True)
    assert client.get_json(NETWORTH)["total"] == 70


def test_entries_without_a_wallet_do_not_count(
    client: JSONClient, free_member: Member
) -> None:
    make_entry(free_member, type="income", amount=30)
    assert client.get_json(NETWORTH)["total"] == 0


def test_wallets_stand_in_their_order(client: JSONClient, free_member: Member) -> None:
    second = make_wallet(free_member, sort_order=2)
    first = make_wallet(free_member, sort_order=1)
    ids = [row["id"] for row in client.get_json(NETWORTH)["wallets"]]
    assert ids == [first.pk, second.pk]


def test_confirming_an_entry_changes_the_net_worth(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member, opening_balance=100)
    entry = make_entry(free_member, wallet=wallet, amount=30, pending=True)
    client.send("POST", f"/api/account/entries/{entry.pk}/confirm")
    assert client.get_json(NETWORTH)["total"] == 70
