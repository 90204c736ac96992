"""Operations drawn at random, each of which can be undone (spec 3.27).

A draw writes what the operation needs, and returns the request, or None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from accounts.models import Member
from ledger.models import (
    Budget,
    Category,
    Entry,
    QuickEntry,
    RecurringRule,
    Stock,
    Tag,
    Trade,
    Valuation,
    Wallet,
)
from tests.support.factories import (
    make_stock,
    make_trade,
)
from tests.support.operations import Phone
from tests.support.random_ledgers import ALL_KINDS, RandomLedger
from tests.support.workbooks import download_backup, upload

A = "/api/account"
ENTRIES = f"{A}/entries"
MODELS: dict[str, Any] = {
    "entries": Entry,
    "tags": Tag,
    "quick-entries": QuickEntry,
    "recurring": RecurringRule,
    "budgets": Budget,
    "trades": Trade,
    "stocks": Stock,
    "wallets": Wallet,
    "categories": Category,
}
Request = Callable[[], Any]


@dataclass
class Scene:
    """A ledger with all kinds of rows, and entries of every kind."""

    phone: Phone
    member: Member
    random: Random

    def fill(self, count: int) -> None:
        ledger = RandomLedger(self.phone, self.random)
        ledger.add_wallets(["BANK", "CASH", "CARD", "LOAN"])
        ledger.add_categories()
        for _ in range(count):
            body = self.random.choice(ALL_KINDS)(ledger)
            ledger.write(body)
        fund = {"name": "fund", "kind": "INVESTMENT", "manualValuation": True}
        fund_id = self.post("wallets", **fund)["id"]
        for day in (3, 4, 5):
            self.post(
                f"wallets/{fund_id}/valuations", date=f"2026-11-0{day}", value=day
            )
        categories = self.list("categories")
        for category in categories[:3]:
            if category.type == "expense":
                self.post(
                    "budgets", categoryId=category.pk, year=2026, month=11, amount=9
                )
        wallet, other = ledger.wallet_ids[:2]
        lines = [
            {"amount": 3, "walletId": other},
            {"amount": 2, "category": "식비", "categoryType": "expense"},
        ]
        self.post(
            "quick-entries",
            name="split",
            type="expense",
            amount=5,
            walletId=wallet,
            lines=lines,
            tags=["가족"],
        )
        self.post(
            "recurring",
            name="rent",
            type="transfer",
            amount=5,
            walletId=wallet,
            toWalletId=other,
            frequency="MONTHLY",
            anchorDate="2026-12-01",
        )
        make_trade(self.member)
        make_stock(self.member)

    def post(self, path: str, **body: Any) -> Any:
        answer = self.phone.send("POST", f"{A}/{path}", body)
        assert answer.status_code in {200, 201}, (path, body, answer.content)
        return answer.data

    def list(self, path: str) -> list[Any]:
        model: Any = MODELS[path]
        return list(model.objects.owned_by(self.member).order_by("pk"))

    def request(self, method: str, path: str, body: Any = None) -> Request:
        return lambda: self.phone.send(method, path, body)

    def pick(self, path: str) -> Any:
        rows = self.list(path)
        return self.random.choice(rows) if rows else None


def delete(scene: Scene) -> Request | None:
    paths = ["entries", "entries", "entries", "tags", "quick-entries", "recurring"]
    paths += ["budgets", "trades", "stocks", "wallets", "categories"]
    path = scene.random.choice(paths)
    row = scene.pick(path)
    return row and scene.request("DELETE", f"{A}/{path}/{row.pk}")


def delete_and_move(scene: Scene) -> Request | None:
    path = scene.random.choice(["wallets", "categories"])
    row, target = scene.pick(path), scene.pick(path)
    if row is None or row.pk == target.pk:
        return None
    return scene.request("DELETE", f"{A}/{path}/{row.pk}?moveTo={target.pk}")


def delete_valuation(scene: Scene) -> Request | None:
    values = list(Valuation.objects.owned_by(scene.member))
    if not values:
        return None
    value = scene.random.choice(values)
    path = f"{A}/wallets/{value.wallet_id}/valuations?date={value.date}"
    return scene.request("DELETE", path)


def merge(scene: Scene) -> Request | None:
    wallets = scene.list("wallets")
    if len(wallets) < 2:
        return None
    first, second = scene.random.sample(wallets, 2)
    fee = scene.random.choice([0, 0, 3])
    plain = {"date": "2026-11-20", "category": None}
    expense = scene.post(
        "entries",
        **plain,
        type="expense",
        amount=100 + fee,
        walletId=first.pk,
        tags=["가족"],
    )
    income = scene.post(
        "entries",
        **plain,
        type="income",
        amount=100,
        walletId=second.pk,
        tags=["회사"],
    )
    body: Any = {"with": income["id"]}
    if fee:
        body["fee"] = {"category": scene.random.choice(["이자", "new fee"])}
    return scene.request("POST", f"{ENTRIES}/{expense['id']}/merge", body)


def unmerge(scene: Scene) -> Request | None:
    merged = merge(scene)
    if merged is None:
        return None
    return scene.request("POST", f"{ENTRIES}/{merged().data['id']}/unmerge", {})


def change_in_bulk(scene: Scene) -> Request | None:
    wallet = scene.pick("wallets")
    set_: Any = scene.random.choice(
        [
            {"category": "식비"},
            {"category": f"new {scene.random.random()}"},
            {"memo": "x", "excluded": True},
            {"date": "2026-11-11"},
            {"walletId": wallet and wallet.pk},
            {},
        ]
    )
    entries = scene.list("entries")
    chosen = scene.random.sample(entries, min(len(entries), 20))
    tags = scene.random.choice([{}, {"addTags": ["가족", "new"]}])
    if not chosen or not (set_ or tags):
        return None
    body = {"ids": [row.pk for row in chosen], "set": set_, **tags}
    return scene.request("PATCH", ENTRIES, body)


def run_batch(scene: Scene) -> Request | None:
    entries = scene.list("entries")
    chosen = scene.random.sample(entries, min(len(entries), 6))
    operations: list[Any] = [
        {"op": scene.random.choice(["update", "delete"]), "id": row.pk}
        for row in chosen
    ]
    for operation in operations:
        if operation["op"] == "update":
            operation["entry"] = {"memo": "batch", "tags": ["가족", "새"]}
    new = {"date": "2026-11-12", "type": "expense", "amount": 7, "category": "배치"}
    operations += [{"op": "create", "entry": new}, {"op": "create", "entry": new}]
    body = {"operations": operations, "atomic": False}
    return scene.request("POST", f"{ENTRIES}/batch", body)


def restore(scene: Scene) -> Request | None:
    backup = download_backup(scene.member)
    scene.post("entries", date="2026-11-20", type="expense", amount=1)
    return lambda: upload(scene.phone, backup)


Draw = Callable[[Scene], Request | None]
ALL: tuple[Draw, ...] = (
    *(delete, delete, delete_and_move, delete_and_move, delete_valuation),
    *(merge, unmerge, change_in_bulk, change_in_bulk, run_batch, restore),
)
