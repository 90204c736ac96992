"""Bills after every step of a household with cards, against a naive replay.

The steps: purchases, parts, refunds in and after the period and of single lines,
top-ups, cash advances, cashback, payments early, late, in part and twice, changed days,
printed ends, deletions and their undo, moved wallets. Two cards stand on one bill.
"""

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from ledger.models import Entry, Wallet
from tests.support.bill_replay import Settings, replay
from tests.support.calendar_oracle import make_premium_since, travel_to
from tests.support.cards import (
    ACCOUNT,
    buy,
    get_card,
    list_bills,
    make_bank,
    make_card,
    move,
    pay,
    set_card,
    write_entry,
)
from tests.support.clients import JSONClient

TODAY = date(2026, 12, 5)
FIRST = "2026-05"
STEPS = 30


class Household:
    """A main card, a family card on its bill, a bank, and the steps so far."""

    def __init__(self, seed: int) -> None:
        self.member = make_premium_since()
        self.client = JSONClient(self.member)
        self.random = random.Random(seed)
        self.bank = make_bank(self.client)
        self.card = make_card(self.client, "주카드")
        self.family = make_card(self.client, "가족카드")
        buy(self.client, self.card, "2026-02-10", 12_345)
        days = self._draw_days()
        self.settings = Settings({FIRST: days})
        self._put(days, FIRST)
        set_card(self.client, self.family, billedWithId=self.card)

    @property
    def cards(self) -> list[int]:
        return [self.card, self.family]

    def _draw_days(self) -> Any:
        closing, payment = self.random.choice(
            [(31, 14), (13, 27), (17, 1), (29, 12), (30, 25), (5, 5)]
        )
        months = 0 if payment > closing else 1
        shift = self.random.choice(["NEXT", "PREVIOUS", "NONE"])
        return closing, payment, months, shift

    def _put(self, days: Any, first: str) -> None:
        closing, payment, months, shift = days
        set_card(
            self.client,
            self.card,
            closingDay=closing,
            paymentDay=payment,
            paymentMonth=months,
            shift=shift,
            payFromWalletId=self.bank,
            from_=first,
        )

    def _day(self) -> str:
        day = TODAY - timedelta(days=self.random.randint(-40, 300))
        return day.isoformat()

    def _any_card(self) -> int:
        return self.random.choice(self.cards)

    def _amount(self) -> int:
        return self.random.randint(1, 300_000)

    def _month(self) -> str | None:
        return self.random.choice([None, None, "2026-08", "2026-12", "2027-01"])

    def step(self) -> str:
        steps: list[Callable[[], object]] = [
            *[self.buy_at_once, self.buy_in_parts, self.give_back] * 3,
            *[self.pay_bill, self.send_money] * 2,
            *(self.draw_cash, self.add_cashback, self.pay_for_two, self.change_days),
            *(self.print_end, self.delete_and_undo, self.type_parts, self.split_refund),
            *(self.move_between, self.delete, self.change_amount),
        ]
        chosen = self.random.choice(steps)
        chosen()
        return chosen.__name__

    def buy_at_once(self) -> None:
        buy(
            self.client,
            self._any_card(),
            self._day(),
            self._amount(),
            billMonth=self._month(),
        )

    def buy_in_parts(self) -> None:
        months = self.random.choice([2, 3, 6, 12, 24])
        buy(
            self.client,
            self._any_card(),
            self._day(),
            self._amount() + 100,
            installmentMonths=months,
            billMonth=self._month(),
        )

    def _pick(self, **filters: Any) -> Entry | None:
        rows = Entry.objects.owned_by(self.member).filter(**filters).order_by("pk")
        return self.random.choice(list(rows)) if rows else None

    def give_back(self) -> None:
        bought = self._pick(type="expense", wallet__in=self.cards, line_count=0)
        if bought is None:
            return
        day = bought.date + timedelta(days=self.random.randint(0, 120))
        response = self.client.send(
            "POST",
            f"{ACCOUNT}/entries/{bought.pk}/refund",
            {
                "date": day.isoformat(),
                "amount": self.random.randint(1, bought.amount),
            },
        )
        assert response.status_code in (201, 400)

    def split_refund(self) -> None:
        first, second = (
            self._pick(type="expense", wallet__in=self.cards) for _ in "ab"
        )
        if first is None or second is None or first.pk == second.pk:
            return
        day = max(first.date, second.date) + timedelta(days=self.random.randint(0, 60))
        body = {
            "type": "income",
            "date": day.isoformat(),
            "amount": 30,
            "walletId": self._any_card(),
            "categoryType": "expense",
            "lines": [
                {"amount": 20, "refundOf": first.pk, "categoryType": "expense"},
                {"amount": 10, "refundOf": second.pk, "categoryType": "expense"},
            ],
        }
        response = self.client.send("POST", f"{ACCOUNT}/entries", body)
        assert response.status_code in (201, 400), response.content

    def pay_bill(self) -> None:
        bills = [each["month"] for each in list_bills(self.client, self.card)]
        month = self.random.choice([month for month in bills if month <= "2026-12"])
        body = self.random.choice([{}, {}, {"amount": self._amount()}])
        assert pay(self.client, self.card, month, **body).status_code in (201, 409)

    def send_money(self) -> None:
        move(
            self.client,
            self.bank,
            self._any_card(),
            self._day(),
            self._amount(),
            billMonth=self._month(),
        )

    def draw_cash(self) -> None:
        move(self.client, self._any_card(), self.bank, self._day(), self._amount())

    def add_cashback(self) -> None:
        write_entry(
            self.client,
            "income",
            self._day(),
            self._amount(),
            walletId=self._any_card(),
        )

    def pay_for_two(self) -> None:
        write_entry(
            self.client,
            "transfer",
            self._day(),
            7_000,
            walletId=self.bank,
            lines=[
                {"amount": 5_000, "walletId": self.card},
                {"amount": 2_000, "walletId": self.family},
            ],
        )

    def move_between(self) -> None:
        move(self.client, self.card, self.family, self._day(), self._amount())

    def change_days(self) -> None:
        first = self.random.choice(["2026-08", "2026-11", "2027-01"])
        days = self._draw_days()
        kept = {
            month: each for month, each in self.settings.days.items() if month < first
        }
        self.settings = Settings(kept | {first: days}, self.settings.ends)
        self._put(days, first)

    def print_end(self) -> None:
        month = self.random.choice(["2026-07", "2026-10", "2026-12"])
        path = f"{ACCOUNT}/wallets/{self.card}/bills/{month}"
        bill = self.client.get_json(path)
        shift = timedelta(days=self.random.randint(-3, 3))
        end = date.fromisoformat(bill["periodEnd"]) + shift
        response = self.client.send("PUT", path, {"periodEnd": end.isoformat()})
        if response.status_code == 200:
            ends = self.settings.ends | {month: end}
            self.settings = Settings(self.settings.days, ends)

    def delete(self) -> Any:
        entry = self._pick(excluded=False)
        if entry is None:
            return None
        response = self.client.send("DELETE", f"{ACCOUNT}/entries/{entry.pk}")
        assert response.status_code == 204
        return response.headers["Operation-Id"]

    def delete_and_undo(self) -> None:
        operation = self.delete()
        if operation is not None:
            path = f"{ACCOUNT}/operations/{operation}/undo"
            assert self.client.send("POST", path, {}).status_code == 200

    def type_parts(self) -> None:
        bought = self._pick(installment_months__isnull=False)
        if bought is None or bought.installment_months is None:
            return
        rest = [1] * (bought.installment_months - 1)
        amounts = [*rest, bought.amount - len(rest)]
        path = f"{ACCOUNT}/entries/{bought.pk}/parts"
        self.client.change_json("PUT", path, {"amounts": amounts})

    def change_amount(self) -> None:
        bought = self._pick(type="expense", wallet__in=self.cards)
        if bought is not None:
            path = f"{ACCOUNT}/entries/{bought.pk}"
            body = {"amount": bought.amount + 1_000}
            response = self.client.send("PATCH", path, body)
            assert response.status_code == 200
            had_parts = bought.installment_parts is not None
            assert ("partsReset" in response.data) == had_parts

    def check(self) -> None:
        expected = replay(self.member, self.cards, self.settings, TODAY)
        settings = get_card(self.client, self.card)
        assert settings["credit"] == expected["credit"]
        assert settings["unbilled"] == expected["unbilled"]
        bills = list_bills(self.client, self.card, **{"from": FIRST})
        found = {bill["month"]: bill for bill in bills}
        for month, bill in expected["bills"].items():
            if month not in found:
                assert not bill["items"]
                continue
            actual = found[month]
            for name in ("carried", "total", "paid", "remaining", "status"):
                assert actual[name] == bill[name], (month, name)
            assert self._items_of(actual) == bill["items"], month
            single = self.client.get_json(
                f"{ACCOUNT}/wallets/{self.family}/bills/{month}"
            )
            assert single == actual, month
        assert self._imbalance(bills, settings) == 0

    def _items_of(self, bill: Any) -> list[Any]:
        rows = [
            (
                date.fromisoformat(item["date"]),
                item["entryId"],
                item["part"],
                item["amount"],
            )
            for item in bill["items"]
        ]
        return sorted(rows, key=lambda row: (row[0], row[1], row[2] or 0))

    def _imbalance(self, bills: Any, settings: Any) -> int:
        wallets = self.client.get_json(f"{ACCOUNT}/wallets")
        balance = sum(row["balance"] for row in wallets if row["id"] in self.cards)
        opened = next(at for at, bill in enumerate(bills) if bill["status"] == "OPEN")
        owed = sum(bill["remaining"] for bill in bills[: opened + 1])
        unbilled, credit = settings["unbilled"], settings["credit"]
        return int(-balance - (owed + unbilled - credit))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", range(6))
def test_bills_are_those_of_the_replay_after_every_step(seed: int) -> None:
    with travel_to(TODAY.isoformat()):
        household = Household(seed)
        household.check()
        done = []
        for _ in range(STEPS):
            done.append(household.step())
            try:
                household.check()
            except AssertionError as error:
                error.add_note(f"after {done}")
                raise


@pytest.mark.django_db(transaction=True)
def test_bills_follow_a_wallet_that_is_moved() -> None:
    with travel_to(TODAY.isoformat()):
        household = Household(99)
        for _ in range(20):
            household.step()
        client = household.client
        third = make_card(client, "셋째")
        buy(client, third, "2026-11-02", 9_000)
        path = f"{ACCOUNT}/wallets/{third}?moveTo={household.family}"
        assert client.send("DELETE", path).status_code == 204
        assert not Wallet.objects.filter(pk=third).exists()
        household.check()
