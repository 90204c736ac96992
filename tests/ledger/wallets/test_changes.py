"""Wallets: names that are taken, PUT and PATCH."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet
from tests.support.problems import assert_invalid
from tests.support.wallets import PLAIN, WALLETS

# --- names --------------------------------------------------------------------


def test_name_of_another_wallet_of_the_member_is_a_duplicate(
    client: JSONClient, free_member: Member
) -> None:
    make_wallet(free_member, name="Cash")
    other = make_wallet(free_member, name="Bank")
    attempts = [
        client.send("POST", WALLETS, PLAIN),
        client.send("PUT", f"{WALLETS}/{other.pk}", PLAIN),
        client.send("PATCH", f"{WALLETS}/{other.pk}", {"name": " Cash "}),
    ]
    for response in attempts:
        assert response.status_code == 409, response.content
        assert response.data["code"] == "DUPLICATE"
    other.refresh_from_db()
    assert (other.name, other.kind) == ("Bank", "CASH")


def test_two_members_may_use_the_same_name(
    client: JSONClient, other_member: Member
) -> None:
    make_wallet(other_member, name="Cash")
    client.create_json(WALLETS, PLAIN)


def test_wallet_keeps_its_own_name_on_a_change(client: JSONClient) -> None:
    wallet = client.create_json(WALLETS, PLAIN)
    assert client.change_json("PUT", f"{WALLETS}/{wallet['id']}", PLAIN) == wallet


# --- PUT and PATCH ------------------------------------------------------------

FULL = {
    "name": "Bank",
    "kind": "BANK",
    "institution": "신한",
    "accountNumber": "110-1",
    "openingBalance": -5,
    "manualValuation": True,
    "currentValue": -7,
    "archived": True,
    "memo": "m",
}


def test_put_clears_what_it_leaves_out(client: JSONClient) -> None:
    wallet = client.create_json(WALLETS, FULL)
    changed = client.change_json("PUT", f"{WALLETS}/{wallet['id']}", PLAIN)
    empty = client.create_json(WALLETS, PLAIN | {"name": "Empty"})
    same = {"id": 0, "name": "", "sortOrder": 0}
    assert changed | same == empty | same


@pytest.mark.parametrize("name", ["name", "kind"])
def test_put_without_name_or_kind_is_refused(client: JSONClient, name: str) -> None:
    wallet = client.create_json(WALLETS, FULL)
    body = {key: value for key, value in PLAIN.items() if key != name}
    assert_invalid(client.send("PUT", f"{WALLETS}/{wallet['id']}", body), name)


@pytest.mark.parametrize("name", list(FULL))
def test_patch_changes_one_field_and_leaves_the_others(
    client: JSONClient, name: Any
) -> None:
    wallet = client.create_json(WALLETS, PLAIN | {"manualValuation": True})
    changed = client.change_json(
        "PATCH", f"{WALLETS}/{wallet['id']}", {name: FULL[name]}
    )
    expected = wallet | {name: FULL[name]}
    if name == "openingBalance":
        expected["balance"] = FULL[name]
    assert changed == expected


def test_what_was_read_can_be_sent_back_as_it_is(
    client: JSONClient, free_member: Member
) -> None:
    wallet = client.create_json(WALLETS, FULL)
    make_entry(free_member, wallet_id=wallet["id"])
    wallet = client.get_json(f"{WALLETS}/{wallet['id']}")
    assert client.change_json("PUT", f"{WALLETS}/{wallet['id']}", wallet) == wallet


def test_patch_of_nothing_changes_nothing(client: JSONClient) -> None:
    wallet = client.create_json(WALLETS, FULL)
    assert client.change_json("PATCH", f"{WALLETS}/{wallet['id']}", {}) == wallet


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
