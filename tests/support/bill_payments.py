"""A paid bill, the text of the bank about it, and the row of a file."""

from typing import Any

from django.utils import timezone

from accounts.models import Member
from ledger.cards.automatic_payments import pay_due_bills
from ledger.models import Entry
from tests.support.alert_texts import ENTRIES, NOTIFICATION
from tests.support.calendar_oracle import travel_to
from tests.support.cards import (
    ACCOUNT,
    MONTHLY,
    buy,
    find_imbalance,
    get_bill,
    make_bank,
    pay,
    pick,
    set_card,
)
from tests.support.clients import JSONClient
from tests.support.imports import import_file

TEXT = "[신한은행] 12/{day} 09:12\n110-***-448812\n출금 {amount:,}원\n잔액 700,000원\n{who}"
BANK_FILE = "거래일시,적요,보낸분/받는분,출금액,입금액,잔액\n"
BANK_ROW = "2026-12-{day} {clock},FBS출금,{who},{amount},0,1000000\n"
CARD_FILE = "거래일,가맹점,입금액\n"
CARD_ROW = "2026-12-{day},결제대금,{amount}\n"
DUE = "2026-12-14"


def make_client(member: Member) -> JSONClient:
    client = JSONClient(member)
    body = {"captureBankTexts": True}
    answer = client.send("PATCH", f"{ENTRIES}/notification-settings", body)
    assert answer.status_code == 200, answer.content
    return client


class BillScene:
    """A bank account, and a bill of 50,000, or of 58,000 for two cards."""

    def __init__(self, client: JSONClient, *, is_group: bool = False) -> None:
        self.client, self.amount = client, 50_000
        self.bank = make_bank(
            client, institution="신한은행", accountNumber="110-482-448812"
        )
        settings: dict[str, Any] = {"payFromWalletId": self.bank, "autoPay": True}
        with travel_to("2026-12-05"):
            self.main = self.make_card("큰 카드")
            set_card(client, self.main, from_="2026-10", **settings, **MONTHLY)
            self.cards = [self.main]
            buy(client, self.main, "2026-11-05", 50_000)
            if is_group:
                family = self.make_card("가족")
                set_card(client, family, billedWithId=self.main)
                buy(client, family, "2026-11-06", 8_000)
                self.cards.append(family)
                self.amount = 58_000

    def make_card(self, name: str) -> int:
        body = {"name": name, "kind": "CARD", "institution": "삼성카드"}
        return int(self.client.create_json(f"{ACCOUNT}/wallets", body)["id"])

    def pay(self) -> None:
        answer = pay(self.client, self.main, "2026-12")
        assert answer.status_code in {201, 409}, answer.content

    def run_job(self) -> None:
        assert pay_due_bills(timezone.now()).failed == 0

    def send(self, day: int = 14, who: str = "삼성카드", **fields: Any) -> Any:
        amount = fields.get("amount", self.amount)
        body = {"text": TEXT.format(day=day, amount=amount, who=who)}
        answer = self.client.send("POST", NOTIFICATION, body)
        assert answer.status_code in {200, 201}, answer.content
        return answer.data

    def bank_file(
        self, day: int = 14, who: str = "삼성카드", clock: str = "09:12"
    ) -> str:
        row = BANK_ROW.format(day=day, who=who, clock=clock, amount=self.amount)
        return BANK_FILE + row

    def import_bank(self, day: int = 14, who: str = "삼성카드", **more: Any) -> Any:
        data = self.bank_file(day, who, **more)
        return import_file(self.client, data, walletId=self.bank)

    def import_card(self, card: int, amount: int, day: int = 14) -> Any:
        data = CARD_FILE + CARD_ROW.format(day=day, amount=amount)
        return import_file(self.client, data, walletId=card)

    def read_balances(self) -> dict[int, int]:
        rows = self.client.get_json(f"{ACCOUNT}/wallets")
        return {row["id"]: row["balance"] for row in rows}

    def assert_paid_once(self) -> Entry:
        """Assert that the bill has one confirmed transfer, and return it."""
        entries = Entry.objects.filter(member=self.client.member)
        entry: Entry = entries.get(type="transfer")
        # All others are the purchases.
        assert entries.count() == 1 + len(self.cards)
        assert not entry.pending
        balances = self.read_balances()
        assert balances.keys() == {self.bank, *self.cards}
        assert balances[self.bank] == -self.amount
        assert sum(balances[card] for card in self.cards) == 0
        bill = get_bill(self.client, self.main, "2026-12")
        assert pick(bill, "paid", "remaining") == {"paid": self.amount, "remaining": 0}
        assert find_imbalance(self.client, self.cards) == 0
        return entry
