"""Wallets: balances and values."""

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet
from tests.support.ledger_bodies import PLAIN_WALLET, WALLETS


def test_balance_is_opening_plus_income_minus_expense(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member, opening_balance=-1_000)
    make_entry(free_member, wallet=wallet, type="income", amount=5_000)
    make_entry(free_member, wallet=wallet, type="expense", amount=700)
    make_entry(free_member, type="income", amount=9)
    make_entry(free_member, wallet=wallet, amount=50, pending=True)
    assert client.get_json(f"{WALLETS}/{wallet.pk}")["balance"] == 3_300


def test_balance_counts_later_dated_entries(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member)
    make_entry(free_member, wallet=wallet, amount=700, date="2099-12-31")
    assert client.get_json(f"{WALLETS}/{wallet.pk}")["balance"] == -700


def test_balance_of_a_foreign_entry_is_its_converted_amount(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member)
    body = {
        "date": "2026-11-21",
        "type": "expense",
        "walletId": wallet.pk,
        "currency": "USD",
        "originalAmount": 10,
        "exchangeRate": "1380.5",
    }
    client.send("POST", "/api/account/entries", body)
    assert client.get_json(f"{WALLETS}/{wallet.pk}")["balance"] == -13_805


def test_current_value_is_active_for_accounts_with_manual_valuation(
    client: JSONClient,
) -> None:
    body = PLAIN_WALLET | {"kind": "PENSION", "currentValue": 500, "openingBalance": 7}
    manual = client.create_json(WALLETS, body | {"name": "A", "manualValuation": True})
    assert manual["currentValue"] == 500
    assert manual["balance"] == 7
    kept = client.create_json(WALLETS, body | {"name": "B", "manualValuation": False})
    assert kept["currentValue"] is None
