"""Wallets: account numbers and kinds that change."""

from accounts.models import Member
from ledger.models import Entry
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet
from tests.support.ledger_bodies import WALLETS
from tests.support.problems import assert_invalid

FULL = {"name": "Bank", "kind": "BANK", "accountNumber": "110-1"}


def test_account_number_is_cleared_by_null_and_by_an_empty_text(
    client: JSONClient,
) -> None:
    wallet = client.create_json(WALLETS, FULL)
    for empty in (None, ""):
        client.change_json(
            "PATCH", f"{WALLETS}/{wallet['id']}", {"accountNumber": "110-2"}
        )
        changed = client.change_json(
            "PATCH", f"{WALLETS}/{wallet['id']}", {"accountNumber": empty}
        )
        assert changed["accountNumber"] is None
        assert "accountNumberUnreadable" not in changed


def test_card_with_installments_stays_a_card(
    client: JSONClient, free_member: Member
) -> None:
    card = make_wallet(free_member, kind="CARD", name="Card")
    entry = make_entry(free_member, wallet=card, installment_months=3)
    response = client.send("PATCH", f"{WALLETS}/{card.pk}", {"kind": "BANK"})
    assert_invalid(response, "kind")
    client.change_json("PATCH", f"{WALLETS}/{card.pk}", {"name": "Other card"})
    Entry.objects.filter(pk=entry.pk).update(installment_months=None)
    assert (
        client.change_json("PATCH", f"{WALLETS}/{card.pk}", {"kind": "BANK"})["kind"]
        == "BANK"
    )
