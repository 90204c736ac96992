"""The list of installments: billed parts, the rest, and refunds."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import EntryLine
from tests.support.calendar_oracle import make_premium_since, travel_to
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet
from tests.support.plans import (
    NEXT_MONTH,
    SAME_MONTH,
    buy,
    make_card_wallet,
    print_bill,
)

PATH = "/api/account/installments"


@pytest.fixture(autouse=True)
def _today() -> Iterator[None]:
    with travel_to("2026-12-05"):
        yield


@pytest.fixture
def member(db: None) -> Member:
    return make_premium_since()


@pytest.fixture
def client(member: Member) -> JSONClient:
    return JSONClient(member)


def refund(
    member: Member, purchase: Any, wallet: Any, day: str, amount: int, **fields: Any
) -> None:
    fields |= {"type": "income", "is_reversal": True, "refund_of": purchase}
    day_ = date.fromisoformat(day)
    make_entry(member, wallet=wallet, date=day_, amount=amount, **fields)


def list_amounts(client: JSONClient) -> list[int]:
    (item,) = client.get_json(PATH)["items"]
    return [part["amount"] for part in item["parts"]]


def test_nothing_to_come(client: JSONClient) -> None:
    assert client.get_json(PATH) == {"items": [], "remaining": 0, "byMonth": []}


def test_parts_of_closed_bills_are_billed(client: JSONClient, member: Member) -> None:
    wallet = make_card_wallet(member, NEXT_MONTH)
    entry = buy(member, wallet, "2026-11-20", 100_000, memo="TV", installment_months=3)
    assert client.get_json(PATH) == {
        "items": [
            {
                "entryId": entry.pk,
                "walletId": wallet.pk,
                "memo": "TV",
                "amount": 100_000,
                "months": 3,
                "billed": 33_334,
                "remaining": 66_666,
                "next": {"month": "2027-01", "amount": 33_333},
                "last": "2027-02",
                "parts": [
                    {"month": "2026-12", "amount": 33_334},
                    {"month": "2027-01", "amount": 33_333},
                    {"month": "2027-02", "amount": 33_333},
                ],
            }
        ],
        "remaining": 66_666,
        "byMonth": [
            {"month": "2027-01", "amount": 33_333},
            {"month": "2027-02", "amount": 33_333},
        ],
    }


@pytest.mark.parametrize(
    ("days", "purchase", "today", "billed"),
    [
        (NEXT_MONTH, "2026-11-20", "2026-11-30", 0),
        (NEXT_MONTH, "2026-11-20", "2026-12-01", 50),
        (NEXT_MONTH, "2026-11-20", "2026-12-31", 50),
        (SAME_MONTH, "2026-11-20", "2026-12-13", 0),
        (SAME_MONTH, "2026-11-20", "2026-12-14", 50),
        (None, "2026-11-20", "2026-11-30", 0),
        (None, "2026-11-20", "2026-12-01", 50),
        (None, "2026-11-20", "2026-12-31", 50),
    ],
)
def test_part_is_billed_once_its_period_has_ended(
    days: Any,
    purchase: str,
    today: str,
    billed: int,
    member: Member,
) -> None:
    wallet = make_wallet(member, kind="CARD")
    if days:
        wallet = make_card_wallet(member, days)
    buy(member, wallet, purchase, 100, installment_months=2)
    with travel_to(today):
        (item,) = JSONClient(member).get_json(PATH)["items"]
    assert (item["billed"], item["remaining"]) == (billed, 100 - billed)


@pytest.mark.parametrize(
    ("months", "last_day", "day_after"),
    [(2, "2026-12-31", "2027-01-01"), (24, "2028-10-31", "2028-11-01")],
)
def test_plan_is_listed_until_its_last_period_has_ended(
    months: int, last_day: str, day_after: str, member: Member
) -> None:
    wallet = make_card_wallet(member, NEXT_MONTH)
    buy(member, wallet, "2026-11-20", 2_400, installment_months=months)
    for day, count in ((last_day, 1), (day_after, 0)):
        with travel_to(day):
            assert len(JSONClient(member).get_json(PATH)["items"]) == count


def test_bill_that_the_issuer_closed_later_is_open(
    client: JSONClient, member: Member
) -> None:
    wallet = make_card_wallet(member, NEXT_MONTH)
    print_bill(member, wallet, "2026-11", period_end=date(2026, 12, 8))
    buy(member, wallet, "2026-11-20", 100, installment_months=2)
    assert client.get_json(PATH)["byMonth"] == [
        {"month": "2026-11", "amount": 50},
        {"month": "2026-12", "amount": 50},
    ]


@pytest.mark.parametrize(
    ("refunds", "amounts"),
    [
        # Parts after its own bill, the last part first.
        ([("2026-11-25", 40)], [100, 100, 60]),
        ([("2026-11-25", 140)], [100, 60, 0]),
        ([("2026-12-03", 140)], [100, 100, 0]),
        # The rest of it lowers its own bill.
        ([("2026-11-25", 290)], [100, 0, 0]),
        # By their dates: of the later one 10 lower its own bill.
        ([("2026-12-03", 40), ("2026-11-25", 70)], [100, 100, 0]),
        ([("2026-12-03", 40), ("2027-01-25", 70)], [100, 100, 60]),
    ],
)
def test_refund_takes_the_parts_of_later_bills(
    refunds: Any, amounts: list[int], client: JSONClient, member: Member
) -> None:
    wallet = make_card_wallet(member, NEXT_MONTH)
    purchase = buy(member, wallet, "2026-11-20", 300, installment_months=3)
    for day, amount in refunds:
        refund(member, purchase, wallet, day, amount)
    refund(member, purchase, wallet, "2026-11-25", 9, pending=True)
    items = client.get_json(PATH)["items"]
    if not sum(amounts[1:]):
        assert items == []
        return
    assert list_amounts(client) == amounts
    assert (items[0]["billed"], items[0]["remaining"]) == (100, sum(amounts[1:]))
    assert items[0]["amount"] == 300


def test_next_part_is_the_first_that_is_not_0(
    client: JSONClient, member: Member
) -> None:
    wallet = make_card_wallet(member, NEXT_MONTH)
    fields = {"installment_months": 3, "installment_parts": [0, 0, 300]}
    buy(member, wallet, "2026-12-02", 300, **fields)
    (item,) = client.get_json(PATH)["items"]
    assert item["next"] == {"month": "2027-03", "amount": 300}


def test_refund_by_a_line_takes_its_amount(client: JSONClient, member: Member) -> None:
    wallet = make_card_wallet(member, NEXT_MONTH)
    purchase = buy(member, wallet, "2026-11-20", 300, installment_months=3)
    fields: dict[str, Any] = {"type": "income", "wallet": wallet, "line_count": None}
    income = make_entry(member, date=date(2026, 12, 2), amount=150, **fields)
    for position, (amount, of) in enumerate(((70, purchase), (80, None))):
        EntryLine.objects.create(
            member=member,
            entry=income,
            position=position,
            amount=amount,
            category_type="expense",
            refund_of=of,
        )
    type(income).objects.filter(pk=income.pk).update(line_count=2)
    assert list_amounts(client) == [100, 100, 30]


def test_only_what_comes_back_on_the_same_bill_takes_parts(
    client: JSONClient, member: Member
) -> None:
    wallet = make_card_wallet(member, NEXT_MONTH)
    second = make_card_wallet(member, billed_with_id=wallet.pk)
    bank = make_wallet(member, kind="BANK")
    purchase = buy(member, second, "2026-11-20", 300, installment_months=3)
    refund(member, purchase, bank, "2026-12-02", 20)
    refund(member, purchase, None, "2026-12-02", 3)
    assert list_amounts(client) == [100, 100, 100]
    refund(member, purchase, wallet, "2026-12-02", 40)
    assert list_amounts(client) == [100, 100, 60]


def test_excluded_purchases_are_listed_and_pending_ones_are_not(
    client: JSONClient, member: Member
) -> None:
    wallet = make_card_wallet(member, NEXT_MONTH)
    old = buy(member, wallet, "2026-11-20", 30, installment_months=3, excluded=True)
    new = buy(member, None, "2026-12-01", 30, installment_months=3)
    buy(member, wallet, "2026-12-01", 30, installment_months=3, pending=True)
    buy(member, wallet, "2026-12-01", 30)
    body = client.get_json(PATH)
    assert [item["entryId"] for item in body["items"]] == [new.pk, old.pk]
    assert body["remaining"] == 50
    assert body["byMonth"] == [
        {"month": "2027-01", "amount": 20},
        {"month": "2027-02", "amount": 20},
        {"month": "2027-03", "amount": 10},
    ]


def test_purchases_of_other_members_are_not_listed(client: JSONClient) -> None:
    other = make_premium_since()
    buy(other, make_wallet(other, kind="CARD"), "2026-12-01", 9, installment_months=2)
    assert client.get_json(PATH)["items"] == []
