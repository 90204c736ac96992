"""Settings, parts and automatic payments of cards beside other writers.

Each race is shown first without the ledger's lock, or by what the database refuses.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import date
from functools import partial
from typing import Any
from unittest import mock

import pytest
from django.db import IntegrityError
from django.utils import timezone

from accounts.models import Member
from ledger.base import ledger_write
from ledger.cards.automatic_payments import pay_due_bills
from ledger.models import Card, CardPayment, Entry
from tests.support.calendar_oracle import make_premium_since, travel_to
from tests.support.cards import (
    ACCOUNT,
    MONTHLY,
    buy,
    make_bank,
    make_card,
    set_card,
)
from tests.support.clients import JSONClient
from tests.support.races import call_before, caller, race, run_concurrently
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)
DUE = "2026-12-14"
ROUNDS = scaled(3, 20)


@pytest.fixture(autouse=True)
def _payment_date() -> Iterator[None]:
    with travel_to("2026-12-05"):
        yield


@pytest.fixture
def member(db: None) -> Member:
    return make_premium_since()


@pytest.fixture
def phones(member: Member) -> list[JSONClient]:
    return [JSONClient(member) for _ in range(2)]


@contextmanager
def without_lock() -> Iterator[None]:
    with mock.patch.object(ledger_write, "advisory_xact_lock"):
        yield


def make_due_card(phone: JSONClient, name: str = "카드") -> tuple[int, int]:
    """Return the card and the bank of a bill that is due on `DUE`."""
    bank = make_bank(phone, f"{name} 통장")
    card = make_card(phone, name, from_="2026-10", **MONTHLY)
    set_card(
        phone, card, from_="2026-10", payFromWalletId=bank, autoPay=True, **MONTHLY
    )
    buy(phone, card, "2026-11-05", 50_000)
    return card, bank


def run_job() -> Any:
    return pay_due_bills(timezone.now())


def list_payments(member: Member) -> list[Any]:
    rows = Entry.objects.owned_by(member).filter(source="BILL").order_by("pk")
    return list(rows.values_list("date", "amount"))


def card_path(wallet: int) -> str:
    return f"{ACCOUNT}/wallets/{wallet}/card"


def test_jobs_at_once_pay_a_bill_once(phones: list[JSONClient], member: Member) -> None:
    make_due_card(phones[0])
    with travel_to(DUE):
        results = run_concurrently([run_job] * 8)
    assert sum(result.booked for result in results) == 1
    assert len(list_payments(member)) == 1


def test_job_that_ends_between_row_and_transfer_leaves_neither(
    phones: list[JSONClient], member: Member
) -> None:
    make_due_card(phones[0])
    with travel_to(DUE):
        with (
            mock.patch.object(CardPayment.objects, "create", side_effect=SystemExit),
            pytest.raises(SystemExit),
        ):
            run_job()
        assert list_payments(member) == []
        assert not CardPayment.objects.owned_by(member).exists()
        assert run_job().booked == 1
        assert run_job().booked == 0
    assert len(list_payments(member)) == 1


def test_new_days_beside_the_job(phones: list[JSONClient], member: Member) -> None:
    # The bill of 2026-12 is paid by the days of before, or by the new ones: once.
    def change_while_paying(open_: Any) -> tuple[int, int]:
        Entry.objects.owned_by(member).delete()
        CardPayment.objects.owned_by(member).delete()
        Card.objects.owned_by(member).delete()
        card, bank = make_due_card(phones[0], f"카드 {open_.__name__}")
        body = {
            "closingDay": 13,
            "paymentDay": 27,
            "from": "2026-12",
            "payFromWalletId": bank,
            "autoPay": True,
        }
        change = caller(phones[1], "PUT", card_path(card), body)
        with travel_to(DUE), open_():
            with call_before("INSERT INTO", change) as changed:
                run_job()
            assert changed.result().status_code == 200
            stored = Card.objects.get(pk=card)
            days = stored.terms[-1]["closingDay"]
        with travel_to("2026-12-28"):
            run_job()
        return len(list_payments(member)), days

    payments, days = change_while_paying(nullcontext)
    assert (payments, days) == (1, 13)


def test_cards_on_the_bill_of_each_other(
    phones: list[JSONClient], member: Member
) -> None:
    cards = [make_card(phones[0], name, **MONTHLY) for name in "가나"]

    def turn(number: int) -> Any:
        for card in cards:
            Card.objects.filter(pk=card).update(billed_with=None)
            set_card(phones[0], card, **MONTHLY)
        answers = yield [
            caller(phones[at], "PUT", card_path(cards[at]), {"billedWithId": other})
            for at, other in ((0, cards[1]), (1, cards[0]))
        ]
        assert len(answers) == 2
        rows = Card.objects.owned_by(member).filter(billed_with__isnull=False)
        assert rows.count() == 1

    race(turn, rounds=ROUNDS, in_any_order=(200, 400))
    # Without the question the database refuses it.
    first, second = cards
    Card.objects.owned_by(member).update(billed_with=None)
    Card.objects.filter(pk=first).update(billed_with=second)
    with pytest.raises(IntegrityError):
        Card.objects.filter(pk=second).update(billed_with=first)


def test_typed_parts_beside_a_change_of_the_amount(
    phones: list[JSONClient], member: Member
) -> None:
    card = make_card(phones[0], **MONTHLY)

    def change_while_typing(open_: Any) -> tuple[int, Any]:
        entry = buy(phones[0], card, "2026-12-01", 100, installmentMonths=2)
        path = f"{ACCOUNT}/entries/{entry['id']}"
        change = caller(phones[1], "PATCH", path, {"amount": 300})
        with open_(), call_before('UPDATE "account_entry"', change) as changed:
            typed = phones[0].send("PUT", f"{path}/parts", {"amounts": [90, 10]})
            assert changed.result().status_code == 200
        assert typed.status_code == 200
        stored = Entry.objects.get(member=member, pk=entry["id"])
        return stored.amount, stored.installment_parts

    # Parts of another amount would stay.
    assert change_while_typing(without_lock) == (300, [90, 10])
    assert change_while_typing(nullcontext) == (300, None)


@pytest.mark.parametrize("move", [False, True])
def test_deletion_of_the_paying_wallet_beside_the_job(
    phones: list[JSONClient], member: Member, move: bool
) -> None:
    for number in range(ROUNDS):
        card, bank = make_due_card(phones[0], f"카드 {number}")
        other = make_bank(phones[0], f"다른 통장 {number}")
        query = f"?moveTo={other}" if move else ""
        delete = caller(phones[1], "DELETE", f"{ACCOUNT}/wallets/{bank}{query}")
        with travel_to(DUE):
            calls = [run_job, delete]
            answers = run_concurrently(calls[:: -1 if number % 2 else 1])
        response = next(each for each in answers if hasattr(each, "status_code"))
        assert response.status_code == (204 if move else 409)
        payment = Entry.objects.get(member=member, source="BILL", to_wallet=card)
        assert payment.wallet_id == (other if move else bank)
        assert payment.date == date(2026, 12, 14)


def test_payments_at_once_make_one_transfer(
    phones: list[JSONClient], member: Member
) -> None:
    card, _ = make_due_card(phones[0])
    path = f"{ACCOUNT}/wallets/{card}/bills/2026-12/pay"
    clients = [JSONClient(member) for _ in range(8)]
    calls = [partial(client.send, "POST", path, {}) for client in clients] * 8
    with travel_to(DUE):
        answers = run_concurrently([*calls, run_job])
    statuses = [each.status_code for each in answers if hasattr(each, "status_code")]
    assert set(statuses) <= {201, 409}
    assert len(list_payments(member)) == 1
