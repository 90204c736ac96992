"""Refunds, merges, transfer candidates, reconciling and history (spec 3.20)."""

from datetime import date
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from ledger.models import Entry, EntryTag, Notification
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.problems import assert_problem
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db

ENTRIES = "/api/account/entries"
WALLETS = "/api/account/wallets"
DAY = date(2026, 11, 2)


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def expect(client: Any, status: Any, method: Any, path: Any, body: Any = None) -> Any:
    response = client.send(method, path, body)
    assert response.status_code == status, response.content
    assert_rollups_are_right()
    return response.json() if response.content else None


def test_refund_without_an_amount_is_of_the_rest(
    client: Any, premium_member: Member
) -> None:
    wallet = make_wallet(premium_member)
    expense = make_entry(
        premium_member,
        amount=30_000,
        wallet=wallet,
        category=make_category(premium_member, name="의류"),
        memo="무신사",
    )
    path = f"{ENTRIES}/{expense.pk}/refund"
    first = expect(client, 201, "POST", path, {"amount": 10_000, "date": "2026-12-01"})
    assert (first["amount"], first["date"]) == (10_000, "2026-12-01")
    assert (first["category"], first["categoryType"]) == ("의류", "expense")
    assert (first["walletId"], first["memo"]) == (wallet.pk, "무신사")
    assert first["refundOf"] == expense.pk
    rest = expect(client, 201, "POST", path, {"walletId": None, "memo": "현금"})
    assert (rest["amount"], rest["walletId"], rest["memo"]) == (20_000, None, "현금")
    assert_problem(client.send("POST", path, {}), 400, "REFUND_EXCEEDS")
    income = make_entry(premium_member, type="income")
    response = client.send("POST", f"{ENTRIES}/{income.pk}/refund", {})
    assert_problem(response, 400, "VALIDATION_ERROR")


def test_merged_entries_are_one_transfer_and_come_apart_again(
    client: Any, premium_member: Member
) -> None:
    bank, cash = make_wallet(premium_member), make_wallet(premium_member)
    category = make_category(premium_member, name="기타")
    expense = make_entry(
        premium_member,
        date=DAY,
        amount=500,
        wallet=bank,
        category=category,
        memo="ATM",
        tags=("하나",),
    )
    income = make_entry(
        premium_member,
        date=date(2026, 11, 3),
        type="income",
        amount=500,
        wallet=cash,
        memo="입금",
        tags=("하나", "둘"),
    )
    key = Notification.objects.create(
        member=premium_member,
        notif_key="k",
        kind="deposit",
        value=500,
        is_timed=True,
        happened_at="2026-11-03T00:00Z",
        entry_id=income.pk,
    )
    before = [client.get_json(f"{ENTRIES}/{e.pk}") for e in (expense, income)]
    path = f"{ENTRIES}/{income.pk}"
    merged = expect(client, 200, "POST", f"{path}/merge", {"with": expense.pk})
    assert (merged["id"], merged["type"]) == (expense.pk, "transfer")
    assert (merged["walletId"], merged["toWalletId"]) == (bank.pk, cash.pk)
    assert (merged["memo"], merged["tags"]) == ("ATM, 입금", ["하나", "둘"])
    assert merged["category"] is None
    key.refresh_from_db()
    assert key.entry_id == expense.pk
    assert client.send("GET", path).status_code == 404

    path = f"{ENTRIES}/{expense.pk}/unmerge"
    after = expect(client, 200, "POST", path)
    # What was answered may be sent back.
    path = f"{ENTRIES}/{expense.pk}"
    assert expect(client, 200, "PUT", path, after[0])["memo"] == before[0]["memo"]
    path = f"{path}/unmerge"
    for each in (*before, *after):
        each["updatedAt"] = None
    assert after[0].pop("givenUp") == []
    assert after == before
    key.refresh_from_db()
    assert key.entry_id == income.pk
    assert_problem(client.send("POST", path), 404, "NOT_FOUND")
    assert EntryTag.objects.count() == 3


@pytest.mark.parametrize(
    "change",
    [
        {"amount": 501},
        {"type": "expense"},
        {"wallet": None},
        {"wallet": "same"},
        {"currency": "USD", "original_amount": 1, "exchange_rate": 500},
    ],
    ids=str,
)
def test_entries_that_are_no_transfer_do_not_merge(
    client: Any, premium_member: Member, change: Any
) -> None:
    bank, cash = make_wallet(premium_member), make_wallet(premium_member)
    expense = make_entry(premium_member, amount=500, wallet=bank)
    values = {"type": "income", "amount": 500, "wallet": cash} | change
    if values["wallet"] == "same":
        values["wallet"] = bank
    income = make_entry(premium_member, **values)
    response = client.send("POST", f"{ENTRIES}/{expense.pk}/merge", {"with": income.pk})
    assert_problem(response, 400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.json()["errors"]] == ["with"]
    assert Entry.objects.count() == 2


def test_each_entry_is_in_the_nearest_pair_only(
    client: Any, premium_member: Member
) -> None:
    bank, cash = make_wallet(premium_member), make_wallet(premium_member)

    def make(type_: str, day: int, amount: int = 500, wallet: Any = bank) -> Any:
        return make_entry(
            premium_member,
            date=date(2026, 11, day),
            type=type_,
            amount=amount,
            wallet=wallet,
        ).pk

    far, near = make("expense", 2), make("expense", 4)
    income = make("income", 5, wallet=cash)
    late = make("income", 6, wallet=cash)
    make("income", 4)  # of the same wallet
    make("income", 4, amount=501, wallet=cash)
    make("expense", 20), make("income", 25, wallet=cash)  # five days
    query = "from=2026-11-01&to=2026-11-30"
    found = client.get_json(f"{ENTRIES}/transfer-candidates?{query}")
    assert found == [
        {"outId": near, "inId": income, "amount": 500, "days": 1, "fee": 0},
        {"outId": far, "inId": late, "amount": 500, "days": 4, "fee": 0},
    ]


def test_reconcile_adds_what_the_balance_lacks_on_that_day(
    client: Any, premium_member: Member
) -> None:
    wallet = make_wallet(premium_member, opening_balance=1_000)
    make_entry(premium_member, date=DAY, amount=300, wallet=wallet)
    make_entry(premium_member, date=date(2026, 11, 9), amount=50, wallet=wallet)
    path = f"{WALLETS}/{wallet.pk}/reconcile"
    body = {"date": "2026-11-05", "balance": 650}
    tried = expect(client, 200, "POST", path, body | {"dryRun": True})
    assert tried == {"before": 700, "difference": -50, "entry": None}
    done = expect(client, 200, "POST", path, body)
    entry = done["entry"]
    assert (done["before"], done["difference"]) == (700, -50)
    assert (entry["type"], entry["amount"], entry["date"]) == (
        *("expense", 50),
        "2026-11-05",
    )
    assert (entry["excluded"], entry["source"]) == (True, "ADJUSTMENT")
    again = expect(client, 200, "POST", path, body)
    assert again == {"before": 650, "difference": 0, "entry": None}
    month = client.get_json("/api/account/statistics/month?year=2026&month=11")
    assert month["expense"] == 350


def test_history_is_paged_by_key_and_ends_at_the_balance(
    client: Any, premium_member: Member
) -> None:
    wallet = make_wallet(premium_member, opening_balance=10)
    other = make_wallet(premium_member)
    for day in (1, 5, 5, 28):
        make_entry(premium_member, date=date(2026, 11, day), amount=3, wallet=wallet)
    make_entry(premium_member, wallet=wallet, pending=True)
    transfer = {"type": "transfer", "amount": 100, "date": "2026-12-02"}
    transfer |= {"walletId": other.pk, "toWalletId": wallet.pk}
    expect(client, 201, "POST", ENTRIES, transfer)
    lines = [
        {"amount": 5, "category": "가"},
        {"amount": -1, "walletId": wallet.pk},
    ]
    split = {"type": "expense", "amount": 4, "date": "2026-11-05", "lines": lines}
    expect(client, 201, "POST", ENTRIES, split | {"walletId": other.pk})
    rows: list[Any] = []
    url = f"{WALLETS}/{wallet.pk}/history?size=2"
    while url:
        page = client.get_json(url)
        rows += page["results"]
        url = page["next"]
    assert [row["change"] for row in rows] == [-3, -3, -3, -1, -3, 100]
    assert [row["balanceAfter"] for row in rows] == [7, 4, 1, 0, -3, 97]
    assert client.get_json(f"{WALLETS}/{wallet.pk}")["balance"] == 97
    part = client.get_json(
        f"{WALLETS}/{wallet.pk}/history?from=2026-11-05&to=2026-11-30"
    )
    assert [row["balanceAfter"] for row in part["results"]] == [4, 1, 0, -3]
    response = client.send("GET", f"{WALLETS}/{wallet.pk}/history?after=x")
    assert_problem(response, 400, "VALIDATION_ERROR")


@time_machine.travel("2026-11-20T12:00:00+09:00", tick=False)
def test_transfers_after_the_last_typed_value_move_it(
    client: Any, premium_member: Member
) -> None:
    bank = make_wallet(premium_member, opening_balance=1_000)
    body = {"name": "연금", "kind": "PENSION", "manualValuation": True}
    pension = expect(client, 201, "POST", WALLETS, body)["id"]
    path = f"{WALLETS}/{pension}"
    for day, value in (("2026-09-30", 100), ("2026-11-10", 300)):
        expect(client, 201, "POST", f"{path}/valuations", {"date": day, "value": value})
    transfer = {"type": "transfer", "walletId": bank.pk, "toWalletId": pension}
    for day, amount in (("2026-10-05", 40), ("2026-11-09", 7), ("2026-11-15", 50)):
        expect(client, 201, "POST", ENTRIES, transfer | {"date": day, "amount": amount})
    make_entry(premium_member, date=DAY, type="income", amount=9, wallet_id=pension)
    assert client.get_json(path)["currentValue"] == 350
    # Sent back as it was read, it is not typed.
    read = client.get_json(path)
    expect(client, 200, "PUT", path, read)
    assert len(client.get_json(f"{path}/valuations")) == 2
    trend = client.get_json("/api/account/networth/trend?unit=month&months=4")
    assert [point["netWorth"] for point in trend["points"]] == [
        *(1_000 + 100, 1_000 + 100),
        *(960 + 140, 903 + 350),
    ]
    expect(client, 204, "DELETE", f"{path}/valuations?date=2026-11-10")
    assert client.get_json(path)["currentValue"] == 100 + 40 + 7 + 50
    response = client.send("DELETE", f"{path}/valuations?date=2026-11-10")
    assert_problem(response, 404, "NOT_FOUND")
