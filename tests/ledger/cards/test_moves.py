"""Wallets, categories and kinds that settings of cards refer to."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Card, CardBill, CardPayment
from tests.support.cards import (
    ACCOUNT,
    MONTHLY,
    buy,
    get_bill,
    get_card,
    make_bank,
    make_card,
    set_card,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_category
from tests.support.problems import assert_invalid, assert_problem


def delete(client: JSONClient, wallet: int, move_to: int | None = None) -> Any:
    query = "" if move_to is None else f"?moveTo={move_to}"
    return client.send("DELETE", f"{ACCOUNT}/wallets/{wallet}{query}")


def test_wallet_that_pays_a_card_is_in_use_until_the_card_names_another(
    client: JSONClient,
) -> None:
    bank, other = make_bank(client), make_bank(client, "다른 통장")
    card = make_card(client, payFromWalletId=bank, autoPay=True, **MONTHLY)
    assert_problem(delete(client, bank), 409, "IN_USE")
    set_card(client, card, payFromWalletId=other, **MONTHLY)
    assert delete(client, bank).status_code == 204


def test_card_follows_the_wallet_that_pays_it(client: JSONClient) -> None:
    bank, other = make_bank(client), make_bank(client, "다른 통장")
    card = make_card(client, payFromWalletId=bank, autoPay=True, **MONTHLY)
    assert delete(client, bank, other).status_code == 204
    assert get_card(client, card)["payFromWalletId"] == other
    # No card pays itself.
    assert delete(client, other, card).status_code == 204
    settings = get_card(client, card)
    assert (settings["payFromWalletId"], settings["autoPay"]) == (None, False)


def test_cards_follow_the_card_on_whose_bill_they_are(client: JSONClient) -> None:
    main = make_card(client, **MONTHLY)
    family = make_card(client, "가족", billedWithId=main)
    plain, new = make_card(client, "설정 없음"), make_card(client, "새", **MONTHLY)
    assert_problem(delete(client, main), 409, "IN_USE")
    assert_invalid(delete(client, main, plain), "moveTo")
    assert_invalid(delete(client, main, family), "moveTo")
    assert delete(client, main, new).status_code == 204
    assert get_card(client, family)["billedWithId"] == new


def test_excluded_category_follows_its_move(client: JSONClient, member: Member) -> None:
    old, new = (make_category(member, name=name, type="expense") for name in "가나")
    card = make_card(client, targetExcludes={"categories": ["가"]}, **MONTHLY)
    path = f"{ACCOUNT}/categories/{old.pk}?moveTo={new.pk}"
    assert client.send("DELETE", path).status_code == 204
    assert get_card(client, card)["targetExcludes"]["categories"] == ["나"]


@pytest.mark.parametrize("kind", ["BANK", "CHECK_CARD"])
def test_kind_stays_while_there_are_settings(client: JSONClient, kind: str) -> None:
    card = make_card(client, **MONTHLY)
    path = f"{ACCOUNT}/wallets/{card}"
    assert_invalid(client.send("PATCH", path, {"kind": kind}), "kind")
    client.send("DELETE", f"{path}/card")
    assert client.send("PATCH", path, {"kind": kind}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_undo_brings_back_a_wallet_with_all_of_its_card(
    client: JSONClient, member: Member
) -> None:
    bank = make_bank(client)
    card = make_card(
        client, payFromWalletId=bank, autoPay=True, from_="2026-10", **MONTHLY
    )
    family = make_card(client, "가족", billedWithId=card)
    path = f"{ACCOUNT}/wallets/{card}/bills/2026-12"
    client.change_json("PUT", path, {"amount": 7, "periodEnd": "2026-11-28"})
    month = CardBill.objects.get(member=member).month
    CardPayment.objects.create(
        member=member, wallet_id=card, month=month, status="SKIPPED"
    )
    before = [
        list(model.objects.owned_by(member).order_by("pk").values())
        for model in (Card, CardBill, CardPayment)
    ]
    assert delete(client, family).status_code == 204
    response = delete(client, card)
    assert response.status_code == 204
    assert not Card.objects.owned_by(member).exists()
    undo = f"{ACCOUNT}/operations/{response.headers['Operation-Id']}/undo"
    result = client.send("POST", undo, {}).data
    assert result["keptCount"] == 0, result
    after = [
        list(model.objects.owned_by(member).order_by("pk").values())
        for model in (Card, CardBill, CardPayment)
    ]
    for rows, stored in zip(before, after, strict=True):
        wanted = [row for row in rows if row.get("id") != family]
        for row in (*wanted, *stored):
            row.pop("version", None)
        assert stored == wanted


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", ["settings", "printed"])
def test_undo_brings_back_settings_and_printed_bills(
    client: JSONClient, what: str
) -> None:
    card = make_card(client, from_="2026-10", **MONTHLY)
    buy(client, card, "2026-11-05", 90_000, installmentMonths=3)
    path = f"{ACCOUNT}/wallets/{card}/bills/2026-12"
    client.change_json("PUT", path, {"amount": 7, "periodEnd": "2026-11-28"})
    before = get_bill(client, card, "2026-12")
    gone = path if what == "printed" else f"{ACCOUNT}/wallets/{card}/card"
    response = client.send("DELETE", gone)
    assert response.status_code == 204
    undo = f"{ACCOUNT}/operations/{response.headers['Operation-Id']}/undo"
    assert client.send("POST", undo, {}).status_code == 200
    assert get_bill(client, card, "2026-12") == before
