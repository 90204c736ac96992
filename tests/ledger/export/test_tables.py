"""The CSV file and the workbook: rows, names, numbers and text (spec 3.28)."""

import io
from datetime import date
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import Member
from core.csv_cells import FORMULA_STARTS, quote_formula
from ledger.export import sheets
from ledger.export.export import write_export
from ledger.export.scope import Export, Scope
from ledger.export.tables import SHEETS
from ledger.models import CardPayment
from tests.support.cards import MONTHLY, buy, make_bank, make_card
from tests.support.clients import JSONClient
from tests.support.exports import export_ledger, read_csv
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_rule,
    make_stock,
    make_trade,
    make_wallet,
)
from tests.support.workbooks import read_book

pytestmark = pytest.mark.django_db

ENTRIES = "/api/account/entries"
DAY = "2026-11-02"


def export_book(member: Member, scope: Scope | None = None) -> dict[str, Any]:
    """Return the rows of each sheet by header."""
    file = io.BytesIO()
    write_export("xlsx", Export(member, scope or Scope(), timezone.now()), file)
    return {
        name: [
            dict(zip(headers, (*row, *[None] * len(headers)), strict=False))
            for row in rows
        ]
        for name, (headers, *rows) in read_book(file.getvalue()).items()
    }


def post(client: JSONClient, **body: Any) -> Any:
    response = client.send("POST", ENTRIES, {"date": DAY} | body)
    assert response.status_code == 201, response.content
    return response.data


def test_split_entry_has_a_row_for_each_line(free_member: Member) -> None:
    client = JSONClient(free_member)
    food = make_category(free_member, name="식비")
    make_category(free_member, name="외식", parent=food)
    card = make_wallet(free_member, name="카드")
    owed = make_wallet(free_member, name="받을 돈", kind="RECEIVABLE")
    lines = [
        {"amount": 70_000, "category": "외식", "memo": "식사"},
        {"amount": -10_000, "category": "외식"},
        {"amount": 40_000, "walletId": owed.pk},
    ]
    entry = post(
        client,
        type="expense",
        amount=100_000,
        walletId=card.pk,
        lines=lines,
        memo="회식",
        time="19:30",
    )
    rows = read_csv(export_ledger(free_member, "csv"))
    assert [row["entryId"] for row in rows] == [str(entry["id"])] * 3
    shown = ("line", "amount", "majorCategory", "category", "toWallet", "lineMemo")
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("1", "70000", "식비", "외식", "", "식사"),
        ("2", "-10000", "식비", "외식", "", ""),
        ("3", "40000", "", "", "받을 돈", ""),
    ]
    same = {
        "date": DAY,
        "time": "19:30",
        "type": "expense",
        "entryAmount": "100000",
        "wallet": "카드",
        "memo": "회식",
        "pending": "false",
        "excluded": "false",
        "source": "MANUAL",
    }
    for row in rows:
        assert same.items() <= row.items()
    assert [row["categoryType"] for row in rows] == ["expense", "expense", ""]
    book = export_book(free_member)
    assert [row["lines"] for row in book["entries"]] == [3]
    assert [row["amount"] for row in book["lines"]] == [70_000, -10_000, 40_000]


def test_refunds_foreign_currency_and_transfers_are_named(
    premium_member: Member,
) -> None:
    client = JSONClient(premium_member)
    bank, cash = (make_wallet(premium_member, name=name) for name in ("은행", "현금"))
    foreign = {
        "currency": "USD",
        "originalAmount": "0.0001",
        "exchangeRate": "1350.5",
        "amount": 14,
        "tags": ["여행", "회사"],
    }
    bought = post(client, type="expense", walletId=bank.pk, **foreign)
    post(
        client,
        type="income",
        amount=4,
        refundOf=bought["id"],
        walletId=bank.pk,
        tags=[],
    )
    wallets = {"walletId": bank.pk, "toWalletId": cash.pk}
    post(client, type="transfer", amount=5, **wallets)
    make_entry(premium_member, pending=True, date=date(2026, 11, 3))
    first, refund, transfer, pending = read_csv(export_ledger(premium_member, "csv"))
    assert first["originalAmount"] == "0.0001"
    assert (first["exchangeRate"], first["currency"]) == ("1350.5", "USD")
    assert first["tags"] == "여행, 회사"
    assert refund["refundOf"] == str(bought["id"])
    assert (refund["type"], refund["categoryType"]) == ("income", "expense")
    assert (transfer["wallet"], transfer["toWallet"]) == ("은행", "현금")
    assert transfer["categoryType"] == ""
    assert pending["pending"] == "true"


def test_cards_and_bills_have_sheets(premium_member: Member) -> None:
    client = JSONClient(premium_member)
    make_category(premium_member, name="관리비")
    bank = make_bank(client)
    main = make_card(
        client,
        **MONTHLY,
        from_="2026-11",
        payFromWalletId=bank,
        targets=[300_000],
        targetExcludes={"categories": ["관리비"]},
    )
    make_card(client, "가족 카드", billedWithId=main)
    buy(client, main, DAY, 30_000, billMonth="2027-01")
    client.change_json(
        "PUT", f"/api/account/wallets/{main}/bills/2026-12", {"amount": 5}
    )
    CardPayment.objects.create(
        member=premium_member,
        wallet_id=main,
        month=date(2026, 11, 1),
        status=CardPayment.Status.SKIPPED,
    )
    (row,) = read_csv(export_ledger(premium_member, "csv"))
    assert row["billMonth"] == "2027-01"
    book = export_book(premium_member)
    assert [row["billMonth"] for row in book["entries"]] == ["2027-01"]
    first, second = book["cards"]
    assert (first["wallet"], first["terms"]) == ("카드", "2026-11 31 14 1 NEXT")
    assert (first["payFrom"], first["targets"]) == ("통장", "300000")
    assert first["excludedCategories"] == "관리비"
    assert (second["wallet"], second["billedWith"]) == ("가족 카드", "카드")
    assert [(row["wallet"], row["month"], row["amount"]) for row in book["bills"]] == [
        ("카드", "2026-12", 5)
    ]
    assert [(row["month"], row["status"]) for row in book["cardPayments"]] == [
        ("2026-11", "SKIPPED")
    ]


@pytest.mark.parametrize("start", FORMULA_STARTS)
def test_text_that_a_spreadsheet_would_run_is_quoted(
    free_member: Member, start: str
) -> None:
    text = f"{start}1+1"
    wallet = make_wallet(free_member, name=f"w{text}")
    make_entry(free_member, memo=text, wallet=wallet)
    (row,) = read_csv(export_ledger(free_member, "csv"))
    assert row["memo"] == f"'{text}"
    assert row["wallet"] == f"w{text}"
    (cell,) = export_book(free_member)["entries"]
    assert str(cell["memo"]).startswith("'")


@given(st.text(max_size=20))
def test_quoted_text_is_no_formula(text: str) -> None:
    quoted = quote_formula(text)
    assert not quoted.lstrip().startswith(FORMULA_STARTS)
    assert quoted in (text, f"'{text}")


def test_numbers_are_plain_and_negative_ones_are_not_quoted(
    free_member: Member,
) -> None:
    make_wallet(free_member, opening_balance=-99_999_999_999)
    (wallet,) = export_book(free_member)["wallets"]
    assert wallet["openingBalance"] == wallet["balance"] == -99_999_999_999


def test_csv_is_utf_8_with_its_mark(free_member: Member) -> None:
    assert export_ledger(free_member, "csv").startswith("\ufeffentryId,line,date,")


def test_scope_chooses_entries_and_their_lines(free_member: Member) -> None:
    wallet, other = make_wallet(free_member), make_wallet(free_member)
    days = [date(2026, 11, day) for day in (1, 2, 3)]
    for day in days:
        make_entry(free_member, wallet=wallet, date=day, memo=f"{day}")
    make_entry(free_member, wallet=other, date=days[1], memo="other")
    make_entry(
        free_member,
        type="transfer",
        wallet=other,
        to_wallet=wallet,
        date=days[1],
        memo="to",
    )
    for scope, memos in (
        (Scope(), ["2026-11-01", "2026-11-02", "other", "to", "2026-11-03"]),
        (Scope(start=days[2]), ["2026-11-03"]),
        (Scope(end=days[0]), ["2026-11-01"]),
        (Scope(days[1], days[1], wallet.pk), ["2026-11-02", "to"]),
        (Scope(days[1], days[1], other.pk), ["other", "to"]),
    ):
        text = export_ledger(free_member, "csv", scope)
        assert [row["memo"] for row in read_csv(text)] == memos
        book = export_book(free_member, scope)
        assert [row["memo"] for row in book["entries"]] == memos
        assert len(book["wallets"]) == 2


def test_workbook_has_a_sheet_for_each_kind_of_row(lapsed_member: Member) -> None:
    member = lapsed_member
    make_budget(member)
    make_rule(member, name="월세")
    make_trade(member, stock=make_stock(member, code="005930"), quantity="1.5")
    book = export_book(member)
    assert list(book) == [table.name for table in SHEETS]
    assert [row["name"] for row in book["recurring"]] == ["월세"]
    assert len(book["budgets"]) == 1
    assert [row["quantity"] for row in book["trades"]] == [1.5]
    assert [row["quantity"] for row in book["stocks"]] == [1.5]
    assert max(len(table.columns) for table in SHEETS) <= 26


def test_account_number_is_as_in_a_backup(free_member: Member) -> None:
    with override_settings(ACCOUNT_NUMBER_KEYS=[bytes(range(32))]):
        client = JSONClient(free_member)
        body = {"name": "은행", "kind": "BANK", "accountNumber": "012-3"}
        assert client.send("POST", "/api/account/wallets", body).status_code == 201
        (wallet,) = export_book(free_member)["wallets"]
        assert wallet["accountNumber"] == "012-3"
    with override_settings(ACCOUNT_NUMBER_KEYS=[bytes(32)]):
        (wallet,) = export_book(free_member)["wallets"]
        assert wallet["accountNumber"] is None


def test_long_table_goes_on_in_another_sheet(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "MAX_SHEET_ROWS", 2)
    for number in range(5):
        make_entry(free_member, memo=f"{number}")
    book = export_book(free_member)
    names = [name for name in book if name.startswith("entries")]
    assert names == ["entries", "entries2", "entries3"]
    memos = [row["memo"] for name in names for row in book[name]]
    assert memos == ["0", "1", "2", "3", "4"]
