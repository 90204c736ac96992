"""Wallets: the end of one, and where its entries move (see also `test_move_to`)."""

import pytest

from accounts.models import Member
from ledger.models import Entry, QuickEntry
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_quick_entry, make_wallet
from tests.support.ledger_bodies import PLAIN_WALLET, WALLETS
from tests.support.problems import assert_invalid


def test_unused_wallet_is_deleted(client: JSONClient, free_member: Member) -> None:
    wallet = make_wallet(free_member)
    assert client.send("DELETE", f"{WALLETS}/{wallet.pk}").status_code == 204
    assert client.get_json(WALLETS) == []
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        body = None if method == "DELETE" else PLAIN_WALLET
        response = client.send(method, f"{WALLETS}/{wallet.pk}", body)
        assert response.status_code == 404, method


@pytest.mark.parametrize("pending", [True, False])
def test_wallet_with_entries_is_in_use(
    client: JSONClient, free_member: Member, pending: bool
) -> None:
    wallet = make_wallet(free_member)
    make_entry(free_member, wallet=wallet, pending=pending)
    response = client.send("DELETE", f"{WALLETS}/{wallet.pk}")
    assert response.status_code == 409, response.content
    assert response.data["code"] == "IN_USE"
    assert Entry.objects.get().wallet == wallet


def test_wallet_of_a_quick_entry_is_in_use(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member)
    make_quick_entry(free_member, wallet=wallet)
    response = client.send("DELETE", f"{WALLETS}/{wallet.pk}")
    assert (response.status_code, response.data["code"]) == (409, "IN_USE")


def test_wallet_that_once_had_entries_can_be_deleted(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member)
    make_entry(free_member, wallet=wallet).delete()
    assert client.send("DELETE", f"{WALLETS}/{wallet.pk}").status_code == 204


def test_move_to_takes_entries_and_quick_entries_along(
    client: JSONClient, free_member: Member
) -> None:
    source = make_wallet(free_member, opening_balance=10)
    target = make_wallet(free_member, opening_balance=100)
    make_entry(free_member, wallet=source, amount=7)
    make_entry(free_member, wallet=source, amount=9, pending=True)
    make_entry(free_member, wallet=target, amount=1)
    make_quick_entry(free_member, wallet=source)
    path = f"{WALLETS}/{source.pk}?moveTo={target.pk}"
    assert client.send("DELETE", path).status_code == 204
    assert set(Entry.objects.values_list("wallet", flat=True)) == {target.pk}
    assert QuickEntry.objects.get().wallet == target
    assert [row["balance"] for row in client.get_json(WALLETS)] == [100 - 7 - 1]


def test_move_to_works_for_an_unused_wallet(
    client: JSONClient, free_member: Member
) -> None:
    source, target = make_wallet(free_member), make_wallet(free_member)
    path = f"{WALLETS}/{source.pk}?moveTo={target.pk}"
    assert client.send("DELETE", path).status_code == 204


def test_installments_move_to_a_card_only(
    client: JSONClient, free_member: Member
) -> None:
    card, other_card, cash = (
        make_wallet(free_member, kind=kind) for kind in ("CARD", "CARD", "CASH")
    )
    make_entry(free_member, wallet=card, installment_months=3)
    response = client.send("DELETE", f"{WALLETS}/{card.pk}?moveTo={cash.pk}")
    assert_invalid(response, "moveTo")
    path = f"{WALLETS}/{card.pk}?moveTo={other_card.pk}"
    assert client.send("DELETE", path).status_code == 204
    assert Entry.objects.get().wallet == other_card
