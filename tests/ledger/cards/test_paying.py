"""Payments of bills: by the member and by the job."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from ledger.cards.automatic_payments import pay_due_bills
from ledger.models import CardPayment, Entry
from tests.support.calendar_oracle import noon, set_premium_since, travel_to
from tests.support.cards import (
    ACCOUNT,
    MONTHLY,
    buy,
    find_imbalance,
    get_bill,
    make_bank,
    make_card,
    move,
    pay,
    pick,
    set_card,
    write_entry,
)
from tests.support.clients import JSONClient
from tests.support.problems import assert_invalid, assert_problem


def list_transfers(member: Member) -> list[Any]:
    rows = Entry.objects.owned_by(member).filter(type="transfer").order_by("pk")
    return list(rows.values_list("date", "amount", "source"))


def run_job(day: str) -> Any:
    with travel_to(day):
        return pay_due_bills(timezone.now())


@pytest.fixture
def bank(client: JSONClient) -> int:
    return make_bank(client)


@pytest.fixture
def card(client: JSONClient, bank: int) -> int:
    return make_card(client, from_="2026-10", payFromWalletId=bank, **MONTHLY)


def test_payment_is_a_transfer_of_what_remains(
    client: JSONClient, card: int, bank: int
) -> None:
    buy(client, card, "2026-11-05", 50_000)
    response = pay(client, card, "2026-12")
    assert response.status_code == 201, response.content
    names = ("type", "amount", "walletId", "toWalletId", "source", "billMonth", "date")
    assert pick(response.data, *names) == {
        "type": "transfer",
        "amount": 50_000,
        "walletId": bank,
        "toWalletId": card,
        "source": "BILL",
        "billMonth": "2026-12",
        "date": "2026-12-05",
    }
    bill = get_bill(client, card, "2026-12")
    assert pick(bill, "paid", "remaining", "status") == {
        "paid": 50_000,
        "remaining": 0,
        "status": "PAID",
    }
    assert_problem(pay(client, card, "2026-12"), 409, "DUPLICATE")
    assert find_imbalance(client, [card]) == 0


def test_bill_of_two_cards_is_paid_with_a_line_for_each(
    client: JSONClient, card: int, bank: int
) -> None:
    family = make_card(client, "가족", billedWithId=card)
    buy(client, card, "2026-11-05", 50_000)
    buy(client, family, "2026-11-06", 8_000)
    entry = pay(client, family, "2026-12").data
    lines = [(line["walletId"], line["amount"]) for line in entry["lines"]]
    assert lines == [(card, 50_000), (family, 8_000)]
    wallets = client.get_json(f"{ACCOUNT}/wallets")
    balances = {each["id"]: each["balance"] for each in wallets}
    assert balances == {bank: -58_000, card: 0, family: 0}
    assert get_bill(client, card, "2026-12")["status"] == "PAID"
    assert find_imbalance(client, [card, family]) == 0


def test_part_of_a_bill_is_paid(client: JSONClient, card: int) -> None:
    buy(client, card, "2026-11-05", 50_000)
    assert pay(client, card, "2026-12", amount=20_000).status_code == 201
    assert pay(client, card, "2026-12", amount=20_000).status_code == 201
    assert get_bill(client, card, "2026-12")["status"] == "PARTIAL"
    assert pay(client, card, "2026-12").data["amount"] == 10_000


def test_unfit_payments_are_refused(client: JSONClient, card: int, bank: int) -> None:
    buy(client, card, "2026-11-05", 50_000)
    for body, field in (
        ({"amount": 0}, "amount"),
        ({"amount": -5}, "amount"),
        ({"walletId": card}, "walletId"),
        ({"walletId": 999_999}, "walletId"),
        ({"date": "2026-02-30"}, "date"),
        ({"sum": 5}, "sum"),
    ):
        assert_invalid(pay(client, card, "2026-12", **body), field)
    assert_invalid(pay(client, card, "2027-03"), "month")
    assert_problem(pay(client, card, "2026-11"), 409, "DUPLICATE")
    assert_problem(pay(client, bank, "2026-12"), 404, "NOT_FOUND")
    set_card(client, card, from_="2026-10", **MONTHLY)
    assert_invalid(pay(client, card, "2026-12"), "walletId")


def test_payment_that_waits_to_be_confirmed_is_not_made_twice(
    client: JSONClient, card: int, bank: int
) -> None:
    buy(client, card, "2026-11-05", 50_000)
    waiting = move(client, bank, card, "2026-12-14", 50_000)
    Entry.objects.filter(pk=waiting["id"]).update(pending=True)
    assert_problem(pay(client, card, "2026-12"), 409, "DUPLICATE")


def test_job_pays_on_the_day_and_once(
    client: JSONClient, member: Member, card: int, bank: int
) -> None:
    set_card(
        client, card, from_="2026-10", payFromWalletId=bank, autoPay=True, **MONTHLY
    )
    buy(client, card, "2026-11-05", 50_000)
    assert run_job("2026-12-13").booked == 0
    assert run_job("2026-12-14").booked == 1
    assert run_job("2026-12-14").booked == 0
    assert [str(row[0]) for row in list_transfers(member)] == ["2026-12-14"]
    # Kept once the transfer is deleted.
    Entry.objects.owned_by(member).filter(type="transfer").delete()
    assert run_job("2026-12-20").booked == 0
    assert list_transfers(member) == []


def test_job_does_not_pay_bills_of_before(
    client: JSONClient, member: Member, card: int, bank: int
) -> None:
    buy(client, card, "2026-10-05", 50_000)
    set_card(
        client, card, from_="2026-10", payFromWalletId=bank, autoPay=True, **MONTHLY
    )
    assert run_job("2026-12-10").booked == 0
    assert list_transfers(member) == []


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("day", ["2026-12-11", "2026-12-14", "2026-12-15"])
def test_job_leaves_a_bill_that_is_paid(
    client: JSONClient, member: Member, card: int, bank: int, day: str, pending: bool
) -> None:
    set_card(
        client, card, from_="2026-10", payFromWalletId=bank, autoPay=True, **MONTHLY
    )
    buy(client, card, "2026-11-05", 50_000)
    paid = move(client, bank, card, day, 50_000)
    Entry.objects.filter(pk=paid["id"]).update(pending=pending)
    assert run_job("2026-12-15").booked == 0
    assert len(list_transfers(member)) == 1
    (row,) = CardPayment.objects.owned_by(member)
    assert row.status == "SKIPPED"


def test_days_without_the_plan_are_missed(
    client: JSONClient, member: Member, card: int, bank: int
) -> None:
    set_card(
        client, card, from_="2026-10", payFromWalletId=bank, autoPay=True, **MONTHLY
    )
    buy(client, card, "2026-11-05", 50_000)
    set_premium_since(member, noon("2026-12-20"))
    assert run_job("2026-12-21").booked == 0
    (row,) = CardPayment.objects.owned_by(member)
    assert row.status == "MISSED"
    assert list_transfers(member) == []


def test_printed_day_moves_the_automatic_payment(
    client: JSONClient, member: Member, card: int, bank: int
) -> None:
    set_card(
        client, card, from_="2026-10", payFromWalletId=bank, autoPay=True, **MONTHLY
    )
    buy(client, card, "2026-11-05", 50_000)
    path = f"{ACCOUNT}/wallets/{card}/bills/2026-12"
    client.change_json("PUT", path, {"paymentDate": "2026-12-18"})
    assert run_job("2026-12-17").booked == 0
    assert run_job("2026-12-18").booked == 1


def test_refund_after_the_payment_is_credit_of_the_next_bill(
    client: JSONClient, card: int
) -> None:
    bought = buy(client, card, "2026-11-05", 50_000)
    assert pay(client, card, "2026-12").status_code == 201
    write_entry(
        client, "income", "2026-11-20", 50_000, walletId=card, refundOf=bought["id"]
    )
    buy(client, card, "2026-12-02", 70_000)
    bill = get_bill(client, card, "2027-01")
    assert pick(bill, "total", "paid", "remaining") == {
        "total": 70_000,
        "paid": 50_000,
        "remaining": 20_000,
    }
    assert find_imbalance(client, [card]) == 0
