"""Cards and bills in a backup: a round trip, and rows that do not fit."""

import json
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Card, CardBill, Entry
from tests.support.calendar_oracle import make_premium_since, travel_to
from tests.support.cards import (
    ACCOUNT,
    MONTHLY,
    buy,
    list_bills,
    make_bank,
    make_card,
    pay,
    set_card,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_tag
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db(transaction=True)
TODAY = "2026-12-05"
WALLETS = [
    {"name": "카드", "kind": "CARD"},
    {"name": "둘째", "kind": "CARD"},
    {"name": "체크", "kind": "CHECK_CARD"},
    {"name": "통장", "kind": "BANK"},
]
CARD = {"wallet": "카드", "terms": ["2026-10 31 14 1 NEXT"]}


@pytest.fixture
def member(db: None) -> Member:
    return make_premium_since()


@pytest.fixture
def client(member: Member) -> JSONClient:
    return JSONClient(member)


def restore_json(client: JSONClient, **sheets: Any) -> Any:
    body = {"wallets": WALLETS} | sheets
    return client.send("POST", f"{ACCOUNT}/restore/json", body)


def without_ids(bills: Any) -> Any:
    text = json.dumps(bills, default=str)
    found = json.loads(text)
    for bill in found:
        del bill["walletId"]
        for item in (*bill["items"], *bill["payments"]):
            item.pop("entryId")
            item.pop("walletId", None)
    return found


def test_bills_are_equal_after_a_round_trip(client: JSONClient, member: Member) -> None:
    with travel_to(TODAY):
        make_category(member, name="관리비, 세금", type="expense")
        make_tag(member, name="회사")
        bank = make_bank(client)
        card = make_card(client, from_="2026-10", **MONTHLY)
        family = make_card(client, "가족", billedWithId=card)
        set_card(
            client,
            card,
            closingDay=13,
            paymentDay=27,
            from_="2026-12",
            payFromWalletId=bank,
            autoPay=True,
            creditLimit=9_000_000,
            targets=[300_000, 500_000],
            targetExcludes={
                "categories": ["관리비, 세금"],
                "tags": ["회사"],
                "installments": True,
            },
        )
        bought = buy(client, card, "2026-10-20", 90_000, installmentMonths=3)
        path = f"{ACCOUNT}/entries/{bought['id']}/parts"
        client.change_json("PUT", path, {"amounts": [50_000, 30_000, 10_000]})
        buy(client, family, "2026-11-05", 8_000, billMonth="2027-01")
        assert pay(client, card, "2026-11").status_code == 201
        printed = f"{ACCOUNT}/wallets/{card}/bills/2026-12"
        client.change_json(
            "PUT", printed, {"amount": 31_000, "periodEnd": "2026-11-15"}
        )
        before = list_bills(client, card)
        settings = client.get_json(f"{ACCOUNT}/wallets/{card}/card")
        workbook = download_backup(member)
        response = upload(client, workbook)
        assert response.status_code == 200, response.content
        assert (response.data["cards"], response.data["bills"]) == (2, 1)
        new = Card.objects.owned_by(member).get(billed_with=None).pk
        assert without_ids(list_bills(client, new)) == without_ids(before)
        restored = client.get_json(f"{ACCOUNT}/wallets/{new}/card")
        ids = ("walletId", "payFromWalletId", "version")
        for name in ids:
            del restored[name], settings[name]
        assert restored == settings
        # The job looks at it on the same day.
        assert str(Card.objects.get(pk=new).next_payment_on) == TODAY


def test_settings_come_by_json(client: JSONClient, member: Member) -> None:
    response = restore_json(
        client,
        cards=[CARD, {"wallet": "둘째", "billedWith": "카드"}],
        bills=[{"wallet": "카드", "month": "2026-12", "amount": -5}],
    )
    assert response.status_code == 200, response.content
    first, second = Card.objects.owned_by(member).order_by("pk")
    assert second.billed_with_id == first.pk
    assert CardBill.objects.get(card=first).amount == -5


@pytest.mark.parametrize(
    ("sheet", "row", "column"),
    [
        ("cards", CARD | {"wallet": "없음"}, "wallet"),
        ("cards", CARD | {"wallet": "통장"}, "wallet"),
        ("cards", {"wallet": "카드"}, "terms"),
        ("cards", CARD | {"terms": ["2026-10 32 14 1 NEXT"]}, "terms"),
        ("cards", CARD | {"terms": ["2026-10 0 14 1 NEXT"]}, "terms"),
        ("cards", CARD | {"terms": ["2026-10 31 14 3 NEXT"]}, "terms"),
        ("cards", CARD | {"terms": ["2026-10 31 14 0 NEXT"]}, "terms"),
        ("cards", CARD | {"terms": ["2026-13 31 14 1 NEXT"]}, "terms"),
        ("cards", CARD | {"terms": [*CARD["terms"]] * 2}, "terms"),
        ("cards", CARD | {"payFrom": "카드"}, "payFrom"),
        ("cards", CARD | {"payFrom": "없음"}, "payFrom"),
        ("cards", CARD | {"autoPay": True}, "payFrom"),
        ("cards", CARD | {"billedWith": "둘째"}, "billedWith"),
        ("cards", {"wallet": "카드", "billedWith": "둘째"}, "billedWith"),
        ("cards", {"wallet": "체크", "terms": CARD["terms"]}, "wallet"),
        ("cards", CARD | {"targets": [0]}, "targets"),
        ("cards", CARD | {"targets": [1] * 11}, "targets"),
        ("cards", CARD | {"excludedCategories": ["없음"]}, "excludedCategories"),
        ("cards", CARD | {"excludedTags": ["없음"]}, "excludedTags"),
        ("bills", {"wallet": "둘째", "month": "2026-12", "amount": 1}, "wallet"),
        ("bills", {"wallet": "카드", "month": "2026-13", "amount": 1}, "month"),
        ("bills", {"wallet": "카드", "month": "2026-12"}, "amount"),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    client: JSONClient, member: Member, sheet: str, row: Any, column: str
) -> None:
    sheets = {"cards": [CARD]} | {sheet: [row]}
    response = restore_json(client, **sheets)
    assert response.status_code == 400, response.content
    found = {(e["sheet"], e["row"], e["column"]) for e in response.data["errors"]}
    assert found == {(sheet, 2, column)}
    assert not Card.objects.owned_by(member).exists()


@pytest.mark.parametrize("parts", [[1, 2, 3], [50, 40], [50, 49], [100, 0, 0]])
def test_parts_that_do_not_fit_are_refused(
    client: JSONClient, member: Member, parts: list[int]
) -> None:
    entry = {
        "date": "2026-11-05",
        "type": "expense",
        "amount": 100,
        "wallet": "카드",
        "installmentMonths": 2,
        "installmentParts": parts,
    }
    response = restore_json(client, entries=[entry])
    assert response.status_code == 400
    assert response.data["errors"][0]["column"] == "installmentParts"
    assert not Entry.objects.owned_by(member).exists()
