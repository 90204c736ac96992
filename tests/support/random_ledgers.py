"""Entries drawn at random, with every kind of entry and line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Any

from tests.support.clients import JSONClient

A = "/api/account"
ENTRIES = f"{A}/entries"
INCOME, EXPENSE, TRANSFER = "income", "expense", "transfer"
# The first and the last day of entries.
START, END = date(2025, 7, 1), date(2027, 1, 12)
WALLET_KINDS = ("BANK", "CASH", "CARD", "LOAN")
CATEGORIES: dict[str, dict[str, list[str]]] = {
    EXPENSE: {"식비": ["외식", "식료품"], "주거": ["관리비"], "이자": [], "선물": []},
    INCOME: {"급여": ["상여"], "이자": [], "캐시백": []},
}
TAGS = ("회사", "여행", "가족")
CURRENCIES = {"USD": "1380.5", "JPY": "9.12"}
MAX_LINES = 6


Body = dict[str, Any]


@dataclass
class RandomLedger:
    """The wallets and categories of a member, from which entries are drawn."""

    client: JSONClient
    random: Random
    wallet_ids: list[int] = field(default_factory=list)
    # The day of an expense, and what may still come back of it, by its id.
    refundable: dict[int, tuple[str, int]] = field(default_factory=dict)

    def add_wallets(self, kinds: Sequence[str]) -> None:
        for number, kind in enumerate(kinds):
            opening = self.random.choice([0, 50_000, -2_000_000, 7_777_777])
            wallet = self.post(
                f"{A}/wallets",
                {"name": f"지갑 {number}", "kind": kind, "openingBalance": opening},
            )
            self.wallet_ids.append(wallet["id"])

    def add_categories(self) -> None:
        for type_, tree in CATEGORIES.items():
            for name, minors in tree.items():
                major = self.post(f"{A}/categories", {"type": type_, "name": name})
                for minor in minors:
                    self.post(
                        f"{A}/categories",
                        {"type": type_, "name": minor, "parentId": major["id"]},
                    )

    def write(self, body: Body) -> None:
        answer = self.post(ENTRIES, body)
        assert_taken(body, answer)

    def post(self, path: str, body: Body) -> Any:
        response = self.client.send("POST", path, body)
        assert response.status_code == 201, (body, response.content)
        return response.data

    # Parts of a body

    def base(self, type_: str) -> Body:
        body: Body = {
            "date": (
                START + timedelta(self.random.randrange((END - START).days + 1))
            ).isoformat(),
            "type": type_,
            "amount": self.pick_amount(),
            "memo": self.random.choice(["", "스타벅스", "이마트 성수"]),
        }
        if type_ != TRANSFER:
            body["tags"] = self.random.sample(TAGS, self.random.choice([0, 0, 1, 2]))
        return body

    def pick_amount(self) -> int:
        return self.random.choice(
            [1, 3, 999, 10_000, 33_333, 99_999_999_999, self.random.randrange(1, 10**7)]
        )

    def pick_category(self, type_: str) -> str | None:
        names = [
            name
            for major, minors in CATEGORIES[type_].items()
            for name in (major, *minors)
        ]
        return self.random.choice([None, *names])

    def pick_wallet(self, *, but: int | None = None) -> int:
        return self.random.choice([each for each in self.wallet_ids if each != but])

    def cut(self, amount: int, count: int) -> list[int]:
        """Return so many amounts, not 0, some negative, that add up to the amount."""
        while True:
            parts = [
                self.random.choice([1, 1, 1, -1])
                * self.random.randrange(1, max(2, amount))
                for _ in range(count - 1)
            ]
            parts.append(amount - sum(parts))
            if all(parts):
                return parts


def assert_taken(body: Body, answer: Body) -> None:
    """Assert that the answer has what the body says: not rounded, dropped, changed."""
    for name, value in body.items():
        if name == "lines":
            sent = [
                (line["amount"], line.get("walletId"), line.get("category"))
                for line in value
            ]
            got = [
                (line["amount"], line["walletId"], line["category"])
                for line in answer["lines"]
            ]
            assert got == sent
        elif name in {"amount", "type", "date", "walletId", "toWalletId", "excluded"}:
            assert answer[name] == value, (name, body, answer)


# Kinds of entries


def plain(ledger: RandomLedger) -> Body:
    type_ = ledger.random.choice([INCOME, EXPENSE, EXPENSE])
    return ledger.base(type_) | {
        "category": ledger.pick_category(type_),
        "walletId": ledger.random.choice([None, *ledger.wallet_ids]),
    }


def foreign(ledger: RandomLedger) -> Body:
    currency = ledger.random.choice(sorted(CURRENCIES))
    return plain(ledger) | {
        "currency": currency,
        "originalAmount": "12.5",
        "exchangeRate": CURRENCIES[currency],
    }


def transfer(ledger: RandomLedger) -> Body:
    wallet = ledger.pick_wallet()
    return ledger.base(TRANSFER) | {
        "walletId": wallet,
        "toWalletId": ledger.pick_wallet(but=wallet),
    }


def transfer_with_fee(ledger: RandomLedger) -> Body:
    body = transfer(ledger)
    target = body.pop("toWalletId")
    fee = {"amount": 500, "category": "이자", "categoryType": EXPENSE}
    moved = {"amount": body["amount"], "walletId": target}
    return body | {"amount": body["amount"] + 500, "lines": [moved, fee]}


def split(ledger: RandomLedger) -> Body:
    """Draw lines of any sign on anything: both types, nothing, other wallets."""
    type_ = ledger.random.choice([INCOME, EXPENSE, EXPENSE, TRANSFER])
    body = ledger.base(type_)
    wallet: int | None = ledger.pick_wallet()
    if type_ != TRANSFER:
        wallet = ledger.random.choice([None, wallet])
    count = ledger.random.randint(2, MAX_LINES)
    lines = []
    for number, amount in enumerate(ledger.cut(body["amount"], count)):
        is_move = ledger.random.random() < 0.25 or (type_ == TRANSFER and not number)
        if wallet is not None and is_move:
            line: Body = {"walletId": ledger.pick_wallet(but=wallet)}
        else:
            of = ledger.random.choice([INCOME, EXPENSE])
            line = {"categoryType": of, "category": ledger.pick_category(of)}
        lines.append(line | {"amount": amount})
    return body | {"walletId": wallet, "lines": lines}


def pay_slip(ledger: RandomLedger) -> Body:
    tax = ledger.random.randrange(1, 900_000)
    lines = [
        {"amount": 3_500_000, "category": "급여", "categoryType": INCOME},
        {"amount": -tax, "category": "주거", "categoryType": EXPENSE},
    ]
    body = ledger.base(INCOME) | {"walletId": ledger.pick_wallet(), "lines": lines}
    return body | {"amount": 3_500_000 - tax}


def loose_refund(ledger: RandomLedger) -> Body:
    """Draw money back of an expense that is not in the ledger."""
    return ledger.base(INCOME) | {
        "walletId": ledger.random.choice([None, *ledger.wallet_ids]),
        "category": ledger.pick_category(EXPENSE),
        "categoryType": EXPENSE,
    }


def income_taken_back(ledger: RandomLedger) -> Body:
    return ledger.base(EXPENSE) | {
        "walletId": ledger.pick_wallet(),
        "category": ledger.pick_category(INCOME),
        "categoryType": INCOME,
    }


def refund(ledger: RandomLedger) -> Body:
    """Return all or a part of an expense, in whole or again and again."""
    open_ = [key for key, (_, rest) in sorted(ledger.refundable.items()) if rest > 0]
    if not open_:
        return loose_refund(ledger)
    original = ledger.random.choice(open_)
    day, rest = ledger.refundable[original]
    body = loose_refund(ledger)
    body |= {
        "date": max(body["date"], day),
        "amount": ledger.random.choice([rest, ledger.random.randint(1, rest)]),
        "refundOf": original,
    }
    # Without a category it would get the category of its expense.
    return body | {"category": "식비"}


def excluded(ledger: RandomLedger) -> Body:
    kind = ledger.random.choice([plain, split, loose_refund, transfer_with_fee])
    return kind(ledger) | {"excluded": True}


Kind = Callable[[RandomLedger], Body]
ALL_KINDS: tuple[Kind, ...] = (
    *(plain, plain, plain, foreign),
    transfer,
    transfer_with_fee,
    split,
    split,
    split,
    pay_slip,
    loose_refund,
    income_taken_back,
    refund,
    refund,
    excluded,
)
