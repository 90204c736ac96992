"""The JSON of our own export, read into a ledger (spec 3.28, 3.29)."""

import json
from random import Random
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from ledger.imports import committing
from ledger.models import BudgetIncome, Card, Entry, Import, Wallet
from tests.support.cards import MONTHLY, buy, list_bills, make_bank, make_card, pick
from tests.support.clients import JSONClient
from tests.support.exports import export_json, export_ledger
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_layout,
    make_member,
    make_merged_entry,
    make_stock,
    make_tag,
    make_trade,
    make_wallet,
)
from tests.support.imports import (
    IMPORTS,
    commit,
    import_file,
    read_file,
    upload,
)
from tests.support.problems import assert_problem
from tests.support.random_ledgers import ALL_KINDS, WALLET_KINDS, RandomLedger
from tests.support.whole_accounts import (
    give_card,
    give_lines,
    give_notification,
    give_rule,
)

pytestmark = pytest.mark.django_db

KEY = b"k" * 32
HEAD = {"exportedAt", "service", "timeZone"}
# What refers to rows of another list.
REFERENCES = {
    "walletId": "wallets",
    "toWalletId": "wallets",
    "payFromWalletId": "wallets",
    "billedWithId": "wallets",
    "excludedCategoryIds": "categories",
    "excludedTagIds": "tags",
    "categoryId": "categories",
    "parentId": "categories",
    "tagIds": "tags",
    "refundOf": "entries",
    "entryId": "entries",
    "outId": "entries",
    "inId": "entries",
    "ruleId": "recurring",
    "stockId": "stocks",
    "paymentId": "notifications",
    "notificationIds": "notifications",
}


def without_ids(export: dict[str, Any]) -> dict[str, Any]:
    """Return the export with the places of rows instead of their ids."""
    places = {
        name: {row["id"]: place for place, row in enumerate(rows) if "id" in row}
        for name, rows in export.items()
        if isinstance(rows, list)
    }

    def replace(value: Any, name: str) -> Any:
        if name in REFERENCES:
            known = places[REFERENCES[name]]
            if isinstance(value, list):
                return [known.get(item) for item in value]
            return known.get(value)
        if isinstance(value, list):
            return [replace(item, "") for item in value]
        if isinstance(value, dict):
            return {
                key: replace(part, key)
                for key, part in value.items()
                if key not in {"id", "formerId"}
            }
        return value

    return {
        name: replace(rows, "") for name, rows in export.items() if name not in HEAD
    }


def fill_ledger(member: Member, count: int) -> None:
    client = JSONClient(member)
    ledger = RandomLedger(client, Random(34))
    ledger.add_wallets(WALLET_KINDS)
    ledger.add_categories()
    for number in range(count):
        ledger.write(ALL_KINDS[number % len(ALL_KINDS)](ledger))
    wallet, category = make_wallet(member), make_category(member, name="더")
    give_lines(member)
    give_rule(member, wallet=wallet, category=category)
    give_notification(member)
    make_merged_entry(member, make_wallet(member), make_wallet(member))
    make_trade(member, stock=make_stock(member))
    make_budget(member, category=category)
    make_layout(member)
    BudgetIncome.objects.create(member=member, year=2026, month=11, amount=1)
    give_cards(client, member)
    import_file(client, "date,memo,out\n2026-11-02,Lunch,9000\n")


def give_cards(client: JSONClient, member: Member) -> None:
    """Create cards on one bill, with typed-in parts, targets and a printed bill."""
    give_card(member)
    make_category(member, name="관리비 등")
    make_tag(member, name="제외")
    bank = make_bank(client, "결제 통장")
    excludes = {"categories": ["관리비 등"], "tags": ["제외"], "installments": True}
    main = make_card(
        client,
        "본인 카드",
        **MONTHLY,
        from_="2026-10",
        payFromWalletId=bank,
        creditLimit=9_000_000,
        targets=[600_000, 300_000],
        targetExcludes=excludes,
    )
    make_card(client, "가족 카드", billedWithId=main, targets=[300_000])
    bought = buy(
        client, main, "2026-10-31", 100, installmentMonths=3, billMonth="2026-12"
    )
    path = f"/api/account/entries/{bought['id']}/parts"
    client.change_json("PUT", path, {"amounts": [50, 0, 50]})
    bill = f"/api/account/wallets/{main}/bills/2026-11"
    client.change_json("PUT", bill, {"periodEnd": "2026-10-30", "amount": -5})


def test_empty_ledger_takes_a_whole_export(
    premium_member: Member, free_member: Member
) -> None:
    fill_ledger(premium_member, 150)
    text, client = export_ledger(premium_member, "json"), JSONClient(free_member)
    found = read_file(client, text)
    assert found["source"] == "ledger"
    result = commit(client, found["id"])
    assert result["created"] == Entry.objects.owned_by(premium_member).count()
    expected = without_ids(export_json(premium_member))
    actual = without_ids(export_json(free_member))
    for key in expected.pop("importKeys"):
        assert key in actual["importKeys"]
    for name, rows in expected.items():
        assert actual[name] == rows, name
    # What is paid came in, and is as closed as before.
    assert client.get("/api/account/stocks").status_code == 403
    again = read_file(client, text)
    new = {name for name, count in again["counts"].items() if count}
    assert new == {"DUPLICATE"}
    assert commit(client, again["id"])["created"] == 0


def test_bills_are_as_before(premium_member: Member) -> None:
    other_member = make_member(plan="PREMIUM")
    client, other = JSONClient(premium_member), JSONClient(other_member)
    give_cards(client, premium_member)
    import_file(other, export_ledger(premium_member, "json"))
    cards = [
        {row["name"]: row["id"] for row in each.get_json("/api/account/wallets")}
        for each in (client, other)
    ]
    before, after = (
        list_bills(each, ids["본인 카드"], **{"from": "2026-10"})
        for each, ids in zip((client, other), cards, strict=True)
    )
    shown = ("month", "periodEnd", "total", "printed", "status", "paymentDate")
    assert [pick(bill, *shown) for bill in after] == [
        pick(bill, *shown) for bill in before
    ]
    assert [bill["total"] for bill in after][2:5] == [50, 0, 50]
    # The job looks at a card that pays itself.
    card = Card.objects.owned_by(other_member).get(auto_pay=True)
    assert card.next_payment_on == timezone.localdate()


def test_account_numbers_are_sealed_again(
    premium_member: Member, free_member: Member, settings: Any
) -> None:
    settings.ACCOUNT_NUMBER_KEYS = [KEY]
    client = JSONClient(premium_member)
    body = {"name": "A", "kind": "BANK", "accountNumber": "123-456"}
    assert client.send("POST", "/api/account/wallets", body).status_code == 201
    other = JSONClient(free_member)
    import_file(other, export_ledger(premium_member, "json"))
    (wallet,) = other.get_json("/api/account/wallets")
    assert wallet["accountNumber"] == "123-456"
    sealed = Wallet.objects.values_list("encrypted_account_number", flat=True)
    assert len({*sealed, "123-456"}) == 3


@pytest.mark.django_db(transaction=True)
def test_whole_export_is_undone(premium_member: Member, free_member: Member) -> None:
    make_trade(premium_member)
    make_entry(premium_member, wallet=make_wallet(premium_member))
    give_cards(JSONClient(premium_member), premium_member)
    client = JSONClient(free_member)
    result = import_file(client, export_ledger(premium_member, "json"))
    path = f"/api/account/operations/{result['operationId']}/undo"
    answer = client.send("POST", path, {})
    assert answer.status_code == 200, answer.content
    found = without_ids(export_json(free_member))
    for name in ("entries", "trades", "cards", "bills", "cardPayments"):
        assert found[name] == [], name


def test_other_ledger_takes_the_entries_as_rows(
    premium_member: Member, free_member: Member
) -> None:
    wallet, target = make_wallet(premium_member), make_wallet(premium_member)
    food = make_category(premium_member, name="Food")
    make_entry(premium_member, wallet=wallet, category=food, amount=5, tags=("t",))
    make_entry(premium_member, type="transfer", wallet=wallet, to_wallet=target)
    make_trade(premium_member)
    give_cards(JSONClient(premium_member), premium_member)
    make_entry(free_member, amount=77, memo="mine")
    client, text = JSONClient(free_member), export_ledger(premium_member, "json")
    found = read_file(client, text)
    assert "stocks, trades, cards, bills, cardPayments" in found["leftOut"][0]
    assert "do not name their bill" in found["leftOut"][-1]
    result = commit(client, found["id"])
    assert result["created"] == 3
    assert Entry.objects.owned_by(free_member).count() == 4
    counts = read_file(client, text)["counts"]
    assert counts["DUPLICATE"] == 3


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 99},
        {"wallets": 5},
        {"wallets": [5]},
        {"wallets": [{"id": 1, "name": 5}]},
        {"wallets": [{"id": 1}, {"id": 1}]},
        {"tags": [{"id": 1, "name": "a\x00b"}]},
        {"entries": [{"id": 1, "date": "2026-02-31"}]},
        {"entries": [{"id": 1, "walletId": 99}]},
        {"entries": [{"id": 1, "originalAmount": 1e300}]},
        {"entries": [{"id": 2**70}]},
        {"dismissedTransfers": [{"outId": 1, "inId": 2}]},
        {"dismissedTransfers": [{"outId": [], "inId": {}}]},
        {"entries": [{"id": 1, "time": "10:00:00+09:00"}]},
        {"entries": [{"id": 1, "createdAt": "2026-01-01T00:00:00"}]},
        {"entries": [{"id": 1, "createdAt": "0001-01-01T00:00:00+14:00"}]},
        {"entries": [{"id": 1, "categoryType": ["expense"]}]},
        {"entries": [{"id": 1}], "mergedEntries": [{"entryId": 1}]},
        {"entries": [{"id": 1}], "mergedEntries": [{"entryId": 1, "formerId": "1"}]},
        {"importKeys": [{}]},
        {"entries": [{"id": 1, "billMonth": "2026-13"}]},
        {"entries": [{"id": 1, "installmentParts": [1, "2"]}]},
        {"cards": [{"walletId": 1}]},
        {"wallets": [{"id": 1}], "cards": [{"walletId": 1, "terms": "2026-11"}]},
        {"wallets": [{"id": 1}], "cards": [{"walletId": 1, "terms": [{}]}]},
        {"wallets": [{"id": 1}], "cards": [{"walletId": 1, "terms": [None]}]},
        {"wallets": [{"id": 1}], "cards": [{"walletId": 1, "targets": 5}]},
        {"wallets": [{"id": 1}], "bills": [{"walletId": 1, "month": "2026-11-01"}]},
        {"wallets": [{"id": 1}], "bills": [{"walletId": 1, "month": 11}]},
        {"cardPayments": [{"walletId": 1, "month": "2026-11"}]},
    ],
)
def test_damaged_export_is_refused(free_member: Member, change: Any) -> None:
    body = {"format": "ledger-export", "version": 1} | change
    answer = upload(JSONClient(free_member), json.dumps(body))
    assert_problem(answer, 400, "IMPORT_UNREADABLE")
    assert not Import.objects.exists()


@pytest.mark.parametrize(
    "rows",
    [
        {"wallets": [{"id": 1, "name": "A"}]},
        {"wallets": [{"id": 1, "name": "x" * 200, "kind": "BANK"}]},
        {"tags": [{"id": 1, "name": "a"}, {"id": 2, "name": "a"}]},
        {"budgets": [{"id": 1, "year": 2**40}]},
    ],
)
def test_export_that_breaks_a_rule_writes_nothing(
    free_member: Member, rows: Any
) -> None:
    client = JSONClient(free_member)
    body = {"format": "ledger-export", "version": 1, "settings": None} | rows
    found = read_file(client, json.dumps(body))
    answer = client.send("POST", f"{IMPORTS}/{found['id']}/commit")
    assert_problem(answer, 400, "IMPORT_UNREADABLE")
    assert not Wallet.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_whole_exports_count_among_the_entries_of_a_day(
    premium_member: Member, free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        make_entry(premium_member)
    text, client = export_ledger(premium_member, "json"), JSONClient(free_member)
    result = import_file(client, text)
    assert result["created"] == 2
    path = f"/api/account/operations/{result['operationId']}/undo"
    assert client.send("POST", path, {}).status_code == 200
    assert not Entry.objects.owned_by(free_member).exists()
    monkeypatch.setattr(committing, "MAX_ENTRIES_A_DAY", 3)
    found = read_file(client, text)
    answer = client.send("POST", f"{IMPORTS}/{found['id']}/commit")
    assert_problem(answer, 429, "RATE_LIMITED")
    assert not Entry.objects.owned_by(free_member).exists()


WALLET = {"id": 1, "name": "A", "kind": "BANK", "openingBalance": 0, "sortOrder": 1}
MOMENTS = {"createdAt": "2026-01-02T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z"}
STOCK = {"id": 1, "code": "1", "name": "S", "sortOrder": 1}


def entry(**fields: Any) -> dict[str, Any]:
    made = {"id": 1, "date": "2026-01-02", "type": "expense", "amount": 9}
    return made | {"walletId": 1, "source": "MANUAL"} | MOMENTS | fields


CREDIT_CARD = WALLET | {"id": 2, "kind": "CARD", "name": "C"}
TERM = {
    "from": "2026-11",
    "closingDay": 31,
    "paymentDay": 14,
    "paymentMonth": 1,
    "shift": "NEXT",
}


def bought(**fields: Any) -> dict[str, Any]:
    return entry(walletId=2, installmentMonths=2, **fields)


def card(**fields: Any) -> dict[str, Any]:
    return {"walletId": 2, "terms": [TERM]} | fields


def trade(**fields: Any) -> dict[str, Any]:
    made = {"id": 1, "stockId": 1, "side": "BUY", "date": "2026-01-02", "quantity": 1}
    return made | {"price": 5, "fee": 0, "tax": 0} | fields


@pytest.mark.parametrize(
    ("place", "rows"),
    [
        ("wallets.name", {"wallets": [WALLET | MOMENTS | {"name": " "}]}),
        ("wallets.kind", {"wallets": [WALLET | MOMENTS | {"kind": "X"}]}),
        ("wallets.openingBalance", {"wallets": [WALLET | {"openingBalance": 2**62}]}),
        ("entries.amount", {"entries": [entry(amount=10**15)]}),
        ("entries.currency", {"entries": [entry(currency="ZZZ", originalAmount=1)]}),
        ("entries.installmentMonths", {"entries": [entry(installmentMonths=3)]}),
        ("entries.source", {"entries": [entry(source="X")]}),
        ("entries", {"entries": [entry(lines=[{"amount": 5}, {"amount": 5}])]}),
        ("entries.refundOf", {"entries": [entry(type="income", refundOf=1)]}),
        ("entries.installmentParts", {"entries": [bought(installmentParts=[8, 2])]}),
        ("entries.installmentParts", {"entries": [bought(installmentParts=[9])]}),
        ("cards.wallet", {"cards": [card(), card()]}),
        ("cards.wallet", {"cards": [card(walletId=1)]}),
        ("cards.terms", {"cards": [card(terms=[])]}),
        ("cards.payFrom", {"cards": [card(autoPay=True)]}),
        ("cards.payFrom", {"cards": [card(payFromWalletId=2)]}),
        ("cards.billedWith", {"cards": [card(terms=[], billedWithId=2)]}),
        ("cards.targets", {"cards": [card(targets=[0])]}),
        ("cards.creditLimit", {"cards": [card(creditLimit=10**15)]}),
        ("bills.wallet", {"bills": [{"walletId": 2, "month": "2026-11"}]}),
        ("bills.month", {"cards": [card()], "bills": [{"walletId": 2}]}),
        (
            "bills.amount",
            {"cards": [card()], "bills": [{"walletId": 2, "month": "2026-11"}]},
        ),
        (
            "a rule",
            {"cardPayments": [{"walletId": 2, "month": "2026-11", "status": "X"}]},
        ),
        ("trades.price", {"stocks": [STOCK], "trades": [trade(price=10**18)]}),
        ("a rule", {"stocks": [STOCK], "trades": [trade(side="SELL")]}),
    ],
)
def test_value_that_no_request_could_write_is_refused(
    free_member: Member, place: str, rows: Any
) -> None:
    client = JSONClient(free_member)
    body = {"format": "ledger-export", "version": 1}
    body["wallets"] = [each | MOMENTS for each in (WALLET, CREDIT_CARD)]
    found = read_file(client, json.dumps(body | rows))
    answer = client.send("POST", f"{IMPORTS}/{found['id']}/commit")
    assert_problem(answer, 400, "IMPORT_UNREADABLE")
    assert place in answer.json()["detail"]
    assert not Wallet.objects.exists()
