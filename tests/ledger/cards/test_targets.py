"""Spending on a card in a month against the targets of its settings."""

from datetime import date
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from ledger.models import Entry, EntryLine, Wallet
from tests.support.calendar_oracle import make_premium_since
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_tag, make_wallet
from tests.support.plans import NEXT_MONTH, buy, buy_split, make_card_wallet
from tests.support.problems import assert_invalid, assert_problem


@pytest.fixture
def member(db: None) -> Member:
    return make_premium_since()


@pytest.fixture
def client(member: Member) -> JSONClient:
    return JSONClient(member)


@pytest.fixture
def card(member: Member) -> Wallet:
    return make_card_wallet(member, NEXT_MONTH, targets=[300, 500])


def get_targets(client: JSONClient, card: Wallet, month: str = "2026-11") -> Any:
    return client.get_json(f"/api/account/wallets/{card.pk}/targets", month=month)


def give_back(
    member: Member, wallet: Wallet | None, day: str, amount: int, **fields: Any
) -> Entry:
    fields = {"type": "income", "is_reversal": True, **fields}
    day_ = date.fromisoformat(day)
    return make_entry(member, wallet=wallet, date=day_, amount=amount, **fields)


def give_back_lines(
    member: Member, wallet: Wallet, day: str, lines: list[dict[str, Any]]
) -> None:
    amount = sum(line["amount"] for line in lines)
    fields: dict[str, Any] = {"is_reversal": False, "line_count": None}
    entry = give_back(member, wallet, day, amount, **fields)
    for position, line in enumerate(lines):
        values = {"category_type": "expense"} | line
        EntryLine.objects.create(
            member=member, entry=entry, position=position, **values
        )
    Entry.objects.filter(pk=entry.pk).update(line_count=len(lines))


def test_month_without_purchases(client: JSONClient, card: Wallet) -> None:
    assert get_targets(client, card, "2026-02") == {
        "month": "2026-02",
        "counted": 0,
        "excluded": [],
        "targets": [
            {"amount": 300, "reached": False, "remaining": 300},
            {"amount": 500, "reached": False, "remaining": 500},
        ],
        "lastDay": "2026-02-28",
    }


def test_purchases_of_the_calendar_month_count_in_full(
    client: JSONClient, member: Member, card: Wallet
) -> None:
    for day, amount in (("2026-10-31", 1), ("2026-11-01", 20), ("2026-12-01", 3)):
        buy(member, card, day, amount)
    buy(member, card, "2026-11-30", 400, installment_months=2)
    buy(member, card, "2026-11-30", 5_000, pending=True)
    buy(member, card, "2026-11-30", 60_000, source="ADJUSTMENT")
    buy(member, card, "2026-11-30", 9, excluded=True)
    buy(member, make_wallet(member), "2026-11-30", 7_000_000)
    bank = make_wallet(member, kind="BANK")
    buy(member, card, "2026-11-30", 800_000, type="transfer", to_wallet=bank)
    lines: list[dict[str, Any]] = [
        {"amount": 1_000},
        {"amount": 2_000, "wallet": bank},
        {"amount": -929},
    ]
    buy_split(member, card, "2026-11-05", lines)
    body = get_targets(client, card)
    assert body["counted"] == 20 + 400 + 9 + 2_071
    assert body["excluded"] == []
    assert [target["reached"] for target in body["targets"]] == [True, True]
    assert [target["remaining"] for target in body["targets"]] == [0, 0]


@pytest.mark.parametrize(
    ("spent", "reached", "remaining"),
    [(299, [False, False], [1, 201]), (300, [True, False], [0, 200])],
)
def test_target_is_reached_by_its_amount(
    spent: int,
    reached: Any,
    remaining: Any,
    client: JSONClient,
    member: Member,
    card: Wallet,
) -> None:
    buy(member, card, "2026-11-30", spent)
    targets = get_targets(client, card)["targets"]
    assert [target["reached"] for target in targets] == reached
    assert [target["remaining"] for target in targets] == remaining


def test_refund_of_a_known_purchase_lowers_the_month_of_the_purchase(
    client: JSONClient, member: Member, card: Wallet
) -> None:
    october = buy(member, card, "2026-10-20", 1_000)
    november = buy(member, card, "2026-11-20", 500)
    give_back(member, card, "2026-11-03", 300, refund_of=october)
    give_back(member, None, "2026-12-03", 40, refund_of=november)
    give_back(member, card, "2026-12-03", 5, refund_of=november, pending=True)
    # A friend pays a part: the issuer does not see it.
    give_back(member, make_wallet(member), "2026-12-03", 6, refund_of=november)
    give_back_lines(
        member, card, "2026-12-04",
        [{"amount": 100, "refund_of": november}, {"amount": 50, "refund_of": october}],
    )  # fmt: skip
    assert get_targets(client, card, "2026-10")["counted"] == 650
    assert get_targets(client, card, "2026-11")["counted"] == 360
    assert get_targets(client, card, "2026-12")["counted"] == 0


def test_refund_of_no_known_purchase_lowers_its_own_month(
    client: JSONClient, member: Member, card: Wallet
) -> None:
    buy(member, card, "2026-11-20", 500)
    give_back(member, card, "2026-11-21", 100)
    give_back(member, card, "2026-12-01", 3)
    # Cashback is no refund, and neither is a wage less its taxes.
    give_back(member, card, "2026-11-21", 7, is_reversal=False)
    wage = {"amount": 90, "category_type": "income"}
    give_back_lines(member, card, "2026-11-22", [wage, {"amount": -10}])
    give_back_lines(member, card, "2026-11-22", [wage, {"amount": 20}])
    assert get_targets(client, card)["counted"] == 380
    assert get_targets(client, card, "2026-12")["counted"] == -3
    assert get_targets(client, card, "2026-12")["targets"][0]["remaining"] == 303


def test_excluded_categories_tags_and_installments_do_not_count(
    client: JSONClient, member: Member
) -> None:
    home = make_category(member)
    fees, food = make_category(member, parent=home), make_category(member)
    tag = make_tag(member, name="gift card")
    card = make_card_wallet(
        member,
        NEXT_MONTH,
        targets=[10],
        excluded_category_ids=[home.pk, 2**40],
        excluded_tag_ids=[tag.pk],
        excludes_installments=True,
    )
    for amount, fields in (
        (1, {"category": home}),
        (20, {"category": fees, "installment_months": 2, "tags": ("gift card",)}),
        (300, {"category": food, "tags": ("gift card",), "installment_months": 2}),
        (4_000, {"installment_months": 2}),
        (50_000, {"category": food, "tags": ("other",)}),
    ):
        buy(member, card, "2026-11-20", amount, **fields)
    lines: list[dict[str, Any]] = [
        {"amount": 500_000, "category": fees},
        {"amount": 200_000, "category": food},
    ]
    buy_split(member, card, "2026-11-20", lines)
    buy_split(member, card, "2026-11-20", lines, installment_months=2)
    body = get_targets(client, card)
    assert body["counted"] == 250_000
    assert body["excluded"] == [
        {"reason": "CATEGORY", "amount": 1_000_021},
        {"reason": "TAG", "amount": 300},
        {"reason": "INSTALLMENTS", "amount": 204_000},
    ]


@pytest.mark.parametrize(
    ("fees", "food", "refund", "of", "counted", "excluded"),
    [
        # A refund of a flat purchase follows it, whatever its own category.
        (100, 0, 30, "food", 0, 70),
        (0, 100, 30, "fees", 70, 0),
        # The refund of a split purchase has its own categories.
        (60, 40, 30, "fees", 40, 30),
        (60, 40, 30, "food", 10, 60),
        # One side takes the missing amount from the other.
        (60, 40, 50, "food", 0, 50),
        (60, 40, 70, "fees", 30, 0),
        (60, 40, 100, "fees", 0, 0),
        # Points paid a part of it; more comes back than was paid.
        (160, -60, 20, "fees", 0, 80),
        (60, 40, 120, "food", 0, 0),
    ],
)
def test_refund_lowers_the_side_of_its_category(
    fees: int,
    food: int,
    refund: int,
    of: str,
    counted: int,
    excluded: int,
    client: JSONClient,
    member: Member,
) -> None:
    categories = {name: make_category(member, name=name) for name in ("fees", "food")}
    ids = [categories["fees"].pk]
    card = make_card_wallet(member, NEXT_MONTH, excluded_category_ids=ids)
    if fees and food:
        lines = [
            {"amount": fees, "category": categories["fees"]},
            {"amount": food, "category": categories["food"]},
        ]
        purchase = buy_split(member, card, "2026-11-20", lines)
    else:
        category = categories["fees" if fees else "food"]
        purchase = buy(member, card, "2026-11-20", fees + food, category=category)
    give_back(
        member, card, "2026-12-01", refund, refund_of=purchase, category=categories[of]
    )
    body = get_targets(client, card)
    rows = [{"reason": "CATEGORY", "amount": excluded}] if excluded else []
    assert (body["counted"], body["excluded"]) == (counted, rows)


def test_refund_of_an_excluded_installment_lowers_what_is_excluded(
    client: JSONClient, member: Member
) -> None:
    card = make_card_wallet(member, NEXT_MONTH, excludes_installments=True)
    purchase = buy(member, card, "2026-11-20", 100, installment_months=2)
    give_back(member, card, "2026-12-20", 60, refund_of=purchase)
    body = get_targets(client, card)
    assert (body["counted"], body["targets"]) == (0, [])
    assert body["excluded"] == [{"reason": "INSTALLMENTS", "amount": 40}]


def test_check_card_has_targets(client: JSONClient, member: Member) -> None:
    card = make_card_wallet(member, targets=[10])
    Wallet.objects.filter(pk=card.pk).update(kind="CHECK_CARD")
    buy(member, card, "2026-11-20", 10)
    assert get_targets(client, card)["targets"][0]["reached"] is True


def test_month_is_the_current_one_of_the_home_time_zone(
    member: Member, card: Wallet
) -> None:
    path = f"/api/account/wallets/{card.pk}/targets"
    # 2027 in Seoul, and 2026 in UTC.
    with time_machine.travel("2026-12-31T15:30:00+00:00", tick=False):
        assert JSONClient(member).get_json(path)["month"] == "2027-01"


@pytest.mark.parametrize(
    "month",
    ["2026-13", "0000-01", "2026-1", "2026-00", "2201-01", "x", "", "2026-11-01"],
)
def test_month_that_is_none_is_refused(
    month: str, client: JSONClient, card: Wallet
) -> None:
    path = f"/api/account/wallets/{card.pk}/targets?month={month}"
    assert_invalid(client.send("GET", path), "month")


def test_wallet_without_settings_has_no_targets(
    client: JSONClient, member: Member
) -> None:
    other = make_premium_since()
    theirs = make_card_wallet(other, NEXT_MONTH)
    for wallet_id in (make_wallet(member, kind="CARD").pk, theirs.pk, 2**62, 2**80):
        response = client.send("GET", f"/api/account/wallets/{wallet_id}/targets")
        assert_problem(response, 404, "NOT_FOUND")
