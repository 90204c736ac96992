"""Settings of a card: stored values, invalid ones, and their first bill."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Card
from tests.support.cards import (
    ACCOUNT,
    MONTHLY,
    buy,
    get_bill,
    get_card,
    make_bank,
    make_card,
    pick,
    set_card,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_tag, make_wallet
from tests.support.problems import assert_invalid, assert_problem


def put(client: JSONClient, wallet_id: int, body: Any) -> Any:
    return client.send("PUT", f"{ACCOUNT}/wallets/{wallet_id}/card", body)


def test_settings_are_answered_as_they_were_sent(
    client: JSONClient, member: Member
) -> None:
    bank = make_bank(client)
    make_category(member, name="관리비", type="expense")
    make_tag(member, name="세금")
    card = make_card(client)
    body = {
        "closingDay": 13,
        "paymentDay": 27,
        "paymentMonth": 0,
        "shift": "PREVIOUS",
        "payFromWalletId": bank,
        "autoPay": True,
        "creditLimit": 5_000_000,
        "billedWithId": None,
        "targets": [300_000, 600_000],
        "targetExcludes": {
            "categories": ["관리비"],
            "tags": ["세금"],
            "installments": True,
        },
        "from": "2026-12",
    }
    answer = set_card(client, card, **body)
    assert pick(answer, *body) == body
    assert get_card(client, card) == answer
    # An answer is a valid request, which changes nothing.
    again = set_card(client, card, **answer)
    assert again | {"version": 0} == answer | {"version": 0}


@pytest.mark.parametrize(
    ("closing_day", "payment_day", "months"), [(31, 14, 1), (13, 27, 0), (14, 14, 1)]
)
def test_months_to_the_payment_follow_from_the_days(
    client: JSONClient, closing_day: int, payment_day: int, months: int
) -> None:
    card = make_card(client, closingDay=closing_day, paymentDay=payment_day)
    assert get_card(client, card)["paymentMonth"] == months


def test_first_bill_is_the_open_one(client: JSONClient) -> None:
    card = make_card(client, **MONTHLY)
    assert get_card(client, card)["from"] == "2027-01"


def test_new_days_leave_the_bills_before_as_they_were(client: JSONClient) -> None:
    card = make_card(client, from_="2026-10", **MONTHLY)
    buy(client, card, "2026-11-20", 10_000)
    before = get_bill(client, card, "2026-12")
    set_card(client, card, closingDay=13, paymentDay=27, from_="2027-01")
    assert get_bill(client, card, "2026-12") == before
    bill = get_bill(client, card, "2027-01")
    assert pick(bill, "periodStart", "periodEnd", "paymentDate") == {
        "periodStart": "2026-12-01",
        "periodEnd": "2027-01-13",
        "paymentDate": "2027-01-27",
    }


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"closingDay": 0, "paymentDay": 14}, "closingDay"),
        ({"closingDay": 32, "paymentDay": 14}, "closingDay"),
        ({"closingDay": 31, "paymentDay": 0}, "paymentDay"),
        ({"closingDay": 31, "paymentDay": 32}, "paymentDay"),
        ({"closingDay": "31", "paymentDay": 14}, "closingDay"),
        (MONTHLY | {"paymentMonth": 3}, "paymentMonth"),
        (MONTHLY | {"paymentMonth": -1}, "paymentMonth"),
        (MONTHLY | {"paymentMonth": 0}, "paymentMonth"),
        (MONTHLY | {"shift": "LATER"}, "shift"),
        (MONTHLY | {"autoPay": True}, "payFromWalletId"),
        (MONTHLY | {"payFromWalletId": 999_999}, "payFromWalletId"),
        (MONTHLY | {"payFromWalletId": "own"}, "payFromWalletId"),
        (MONTHLY | {"creditLimit": 0}, "creditLimit"),
        (MONTHLY | {"targets": [0]}, "targets.0"),
        (MONTHLY | {"targets": [1] * 11}, "targets"),
        (MONTHLY | {"from": "2026-13"}, "from"),
        (MONTHLY | {"from": "0000-01"}, "from"),
        (MONTHLY | {"from": "2031-01"}, "from"),
        (
            MONTHLY | {"targetExcludes": {"categories": ["없음"]}},
            "targetExcludes.categories.0",
        ),
        (MONTHLY | {"targetExcludes": {"tags": ["없음"]}}, "targetExcludes.tags.0"),
        ({"paymentDay": 14}, "closingDay"),
        ({"closingDay": 14}, "paymentDay"),
        ({"billedWithId": 999_999}, "billedWithId"),
        ({"billedWithId": 2**63}, "billedWithId"),
        ({"billedWithId": "own"}, "billedWithId"),
        (MONTHLY | {"closing": 3}, "closing"),
    ],
)
def test_unfit_settings_are_refused(
    client: JSONClient, member: Member, body: dict[str, Any], field: str
) -> None:
    card = make_card(client)
    sent = {name: card if value == "own" else value for name, value in body.items()}
    assert_invalid(put(client, card, sent), field)
    assert not Card.objects.owned_by(member).exists()


@pytest.mark.parametrize(
    "more", [MONTHLY, {"closingDay": 1}, {"from": "2026-12"}, {"autoPay": True}]
)
def test_card_on_another_bill_has_no_days_of_its_own(
    client: JSONClient, more: dict[str, Any]
) -> None:
    main = make_card(client, **MONTHLY)
    card = make_card(client, "둘째")
    assert put(client, card, {"billedWithId": main} | more).status_code == 400


def test_card_on_another_bill_is_the_end_of_the_chain(
    client: JSONClient, other_member: Member
) -> None:
    main = make_card(client, **MONTHLY)
    family = make_card(client, "가족", billedWithId=main)
    third = make_card(client, "셋째")
    check = int(
        client.create_json(
            f"{ACCOUNT}/wallets", {"name": "체크", "kind": "CHECK_CARD"}
        )["id"]
    )
    bank = make_bank(client)
    foreign = make_wallet(other_member, kind="CARD").pk
    for target in (third, family, check, bank, foreign):
        response = put(client, third, {"billedWithId": target})
        assert_invalid(response, "billedWithId")
    # No circle, in either order.
    assert_invalid(put(client, main, {"billedWithId": family}), "billedWithId")
    assert_problem(
        client.send("DELETE", f"{ACCOUNT}/wallets/{main}/card"), 409, "IN_USE"
    )


def test_check_card_has_targets_only(client: JSONClient) -> None:
    body = {"name": "체크", "kind": "CHECK_CARD"}
    check = int(client.create_json(f"{ACCOUNT}/wallets", body)["id"])
    assert set_card(client, check, targets=[300_000])["closingDay"] is None
    for name, value in (
        ("closingDay", 1),
        ("payFromWalletId", check),
        ("creditLimit", 5),
        ("billedWithId", check),
    ):
        assert_invalid(put(client, check, {name: value}), name)
    path = f"{ACCOUNT}/wallets/{check}/bills"
    assert_problem(client.get(path), 404, "NOT_FOUND")


def test_wallet_of_another_kind_has_no_settings(client: JSONClient) -> None:
    bank = make_bank(client)
    assert_invalid(put(client, bank, MONTHLY), "kind")
    assert_problem(client.get(f"{ACCOUNT}/wallets/{bank}/card"), 404, "NOT_FOUND")


def test_settings_are_deleted_and_their_entries_stay(client: JSONClient) -> None:
    card = make_card(client, **MONTHLY)
    entry = buy(client, card, "2026-12-01", 5_000, billMonth="2027-01")
    response = client.send("DELETE", f"{ACCOUNT}/wallets/{card}/card")
    assert response.status_code == 204
    assert_problem(client.get(f"{ACCOUNT}/wallets/{card}/card"), 404, "NOT_FOUND")
    assert client.get_json(f"{ACCOUNT}/entries/{entry['id']}") == entry


@pytest.mark.django_db(transaction=True)
def test_version_guards_the_settings(client: JSONClient) -> None:
    card = make_card(client, **MONTHLY)
    path = f"{ACCOUNT}/wallets/{card}/card"
    etag = client.get(path).headers["ETag"]
    assert put(client, card, MONTHLY | {"creditLimit": 5}).status_code == 200
    response = client.send("PUT", path, MONTHLY, headers={"If-Match": etag})
    assert_problem(response, 412, "VERSION_CONFLICT", "current")


def test_presets_are_offered(client: JSONClient) -> None:
    presets = client.get_json(f"{ACCOUNT}/card-presets")
    found = [p for p in presets if (p["issuer"], p["paymentDay"]) == ("신한카드", 14)]
    assert found == [
        {
            "issuer": "신한카드",
            "paymentDay": 14,
            "closingDay": 31,
            "paymentMonth": 1,
            "checkedOn": "2026-11-28",
        }
    ]
