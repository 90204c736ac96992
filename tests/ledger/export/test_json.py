"""The JSON file has all that an equal ledger needs (spec 3.28)."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import override_settings

from accounts.models import Member
from ledger.account_deletion import KEPT_BY_RESTORE, REPLACED_BY_RESTORE
from ledger.export.json_shape import (
    BY_NAME,
    FORMAT,
    LINES,
    LISTS,
    SETTINGS_FIELDS,
    VERSION,
    ExportList,
    get_default,
)
from ledger.models import (
    DeletedClientId,
    DismissedTransfer,
    EntryLine,
    EntryTag,
    Import,
    ImportKey,
    ImportMapping,
    ImportRow,
    Ledger,
    LedgerCopy,
    Operation,
    OperationRow,
    Position,
    QuickEntryLine,
    QuickEntryTag,
    RecurringLine,
    RecurringTag,
    RequestKey,
    TaughtLayout,
    Tombstone,
    UnsureText,
)
from tests.support.clients import JSONClient
from tests.support.exports import export_json
from tests.support.factories import (
    make_entry,
    make_layout,
    make_stock,
    make_trade,
    make_wallet,
)
from tests.support.whole_accounts import give_everything

pytestmark = pytest.mark.django_db

A = "/api/account"
# Tables whose rows make no ledger: history, and what triggers make of other rows.
NO_LISTS = {
    DeletedClientId: "keeps deleted entries from coming again",
    Import: "a file that is not in the ledger",
    ImportMapping: "how files are read",
    ImportRow: "a part of an import",
    LedgerCopy: "a part of an operation",
    Operation: "history",
    OperationRow: "history",
    Position: "made of trades",
    RequestKey: "answers to one client",
    Tombstone: "history for clients with a copy",
    UnsureText: "not in the ledger until it is booked",
}
# Tables that are parts of the rows of a list.
PARTS = {
    EntryLine: "entries",
    EntryTag: "entries",
    QuickEntryLine: "quickEntries",
    QuickEntryTag: "quickEntries",
    RecurringLine: "recurring",
    RecurringTag: "recurring",
}
# Columns that make no ledger: the member, generated columns, and order in a list.
NO_FIELDS = {
    "member_id",
    "version",
    *("level", "parent_level", "position", "is_reversal", "line_count"),
    ("account_budget", "type"),
    # The pairs that still hold: what they were dismissed with is as it is.
    *(
        ("account_dismissed_transfer", f"{of}_{name}")
        for of in ("expense", "income")
        for name in ("amount", "date", "wallet_id")
    ),
    # They are kept for learning alone, until an entry is confirmed.
    *(("account_notification", name) for name in ("text", "sender", "doubts")),
    # Generated columns, an id that only the feed of changes has, and the day on which
    # the job looks at a card.
    *(("account_card", name) for name in ("place", "billed_with_place")),
    ("account_card", "next_payment_on"),
    ("account_card_bill", "id"),
    # A digest of another column.
    ("account_notification_layout", "template_digest"),
    # The entry that an undo of this ledger would bring back.
    ("account_notification_layout", "deleted_entry_ids"),
    # The operation that an undo would free the key by.
    *(("account_import_key", name) for name in ("operation_id", "freed_by")),
    # Names of the row around it, and an id that only the feed of changes has.
    ("account_valuation", "id"),
    *((f"account_{of}_line", "id") for of in ("quick_entry", "recurring")),
    *((f"account_{of}_line", f"{of}_id") for of in ("entry", "quick_entry")),
    *((f"account_{of}_tag", f"{of}_id") for of in ("entry", "quick_entry")),
    *(("account_recurring_line", "rule_id"), ("account_recurring_tag", "rule_id")),
}
# Lists whose references may be to rows that are gone.
LOOSE = {"importKeys", "layouts", "notifications"}
COUNTED_BY_TRIGGERS = {
    *("income_count", "expense_count", "transfer_count", "rollup_version"),
    *("pending_income_count", "pending_expense_count", "pending_transfer_count"),
    *("revision", "oldest_cursor", "settings_version"),
}


def list_of(model: Any) -> ExportList:
    if model in PARTS:
        return BY_NAME[PARTS[model]]
    table = model._meta.db_table
    return next(each for each in LISTS if table in each.table)


@pytest.mark.parametrize(
    "model",
    [
        model
        for model in (*REPLACED_BY_RESTORE, *KEPT_BY_RESTORE)
        if model not in NO_LISTS
    ],
)
def test_every_column_of_a_ledger_is_in_the_file(model: Any) -> None:
    table = model._meta.db_table
    sql = " ".join(list_of(model).all_fields.values())
    read = set(re.findall(r"\b(?:r|l|link)\.(\w+)", sql))
    columns = {field.column for field in model._meta.concrete_fields}
    if model is DismissedTransfer:
        read &= {"expense_id", "income_id"}
    missing = columns - read
    assert {
        name
        for name in missing
        if name not in NO_FIELDS and (table, name) not in NO_FIELDS
    } == set()


def test_every_setting_of_a_ledger_is_in_the_file() -> None:
    read = {sql.removeprefix("r.") for sql in SETTINGS_FIELDS.values()}
    columns = {field.column for field in Ledger._meta.concrete_fields}
    assert columns - read == COUNTED_BY_TRIGGERS | {"member_id"}


def test_head_says_what_the_file_is(free_member: Member) -> None:
    found = export_json(free_member)
    assert (found["format"], found["version"]) == (FORMAT, VERSION)
    assert (found["homeCurrency"], found["timeZone"]) == ("KRW", "Asia/Seoul")
    assert found["settings"] == {"captureBankTexts": False}
    lists = {name: rows for name, rows in found.items() if isinstance(rows, list)}
    assert lists == {each.name: [] for each in LISTS}


def test_everything_that_a_member_has_is_in_the_file(lapsed_member: Member) -> None:
    give_everything(lapsed_member)
    if not TaughtLayout.objects.owned_by(lapsed_member).exists():
        make_layout(lapsed_member)
    add_import_keys(lapsed_member)
    found = export_json(lapsed_member)
    for each in LISTS:
        assert found[each.name], each.name
        for row in found[each.name]:
            assert row.keys() <= each.all_fields.keys()
            empty = [name for name, value in row.items() if value == get_default(name)]
            assert not empty


def add_import_keys(member: Member) -> None:
    """Add a key, one of a row without a wallet, and one that an undo has freed."""
    for digest, freed_by in ((b"\x01", None), (b"\x02", None), (b"\x03", 8)):
        ImportKey.objects.create(
            member=member,
            digest=digest * 16,
            wallet_id=0 if digest == b"\x02" else 5,
            entry_id=6,
            operation_id=7,
            freed_by=freed_by,
        )


def test_keys_of_imported_rows_are_in_the_file(free_member: Member) -> None:
    add_import_keys(free_member)
    assert export_json(free_member)["importKeys"] == [
        {"digest": "02" * 16, "entryId": 6},
        {"digest": "01" * 16, "walletId": 5, "entryId": 6},
    ]


def test_references_are_ids_of_rows_in_the_file(lapsed_member: Member) -> None:
    give_everything(lapsed_member)
    found = export_json(lapsed_member)
    ids = {
        each.name: {row["id"] for row in found[each.name]}
        for each in LISTS
        if each.has_id
    }
    targets = {
        "walletId": "wallets",
        "toWalletId": "wallets",
        "payFromWalletId": "wallets",
        "billedWithId": "wallets",
        "categoryId": "categories",
        "parentId": "categories",
        "ruleId": "recurring",
        "stockId": "stocks",
        "outId": "entries",
        "inId": "entries",
        "refundOf": "entries",
    }
    count = 0
    for each in LISTS:
        for row in found[each.name]:
            for part in (row, *row.get("lines", ())):
                for name, target in targets.items():
                    if name in part and each.name not in LOOSE:
                        assert part[name] in ids[target], (each.name, part)
                        count += 1
            assert set(row.get("tagIds", ())) <= ids["tags"]
    assert count > 20


def test_entries_are_as_the_api_shows_them(lapsed_member: Member) -> None:
    give_everything(lapsed_member)
    wallet = make_wallet(lapsed_member)
    make_entry(
        lapsed_member,
        wallet=wallet,
        amount=14,
        currency="USD",
        original_amount=Decimal("0.0100"),
        exchange_rate=Decimal("1350.5"),
        memo='quote " and \\ and\nline',
    )
    client = JSONClient(lapsed_member)
    shown = client.get_json(f"{A}/entries", size=100)["results"]
    rows = {row["id"]: row for row in export_json(lapsed_member)["entries"]}
    assert rows.keys() == {row["id"] for row in shown}
    for entry in shown:
        row = rows[entry["id"]]
        for name, value in row.items():
            if name == LINES:
                assert [
                    {key: part.get(key) for key in line}
                    for line, part in zip(value, entry["lines"], strict=True)
                ] == value
            elif name not in {"createdAt", "updatedAt", "installmentParts"}:
                assert value == entry[name], name
        computed = {
            *("category", "wallet", "toWallet", "tags", "refunded", "merged"),
            "version",
        }
        for name in entry.keys() - row.keys() - computed:
            assert entry[name] == get_default(name), name


def test_stocks_and_trades_are_exact(free_member: Member) -> None:
    stock = make_stock(free_member, code="005930", current_price=71_500)
    make_trade(free_member, stock=stock, quantity="0.000001", price=5)
    found = export_json(free_member)
    assert found["stocks"][0]["currentPrice"] == 71_500
    assert Decimal(found["trades"][0]["quantity"]) == Decimal("0.000001")


def test_account_number_is_as_in_a_backup(free_member: Member) -> None:
    with override_settings(ACCOUNT_NUMBER_KEYS=[bytes(range(32))]):
        client = JSONClient(free_member)
        body = {"name": "은행", "kind": "BANK", "accountNumber": "012-3"}
        assert client.send("POST", f"{A}/wallets", body).status_code == 201
        assert export_json(free_member)["wallets"][0]["accountNumber"] == "012-3"
    with override_settings(ACCOUNT_NUMBER_KEYS=[bytes(32)]):
        assert "accountNumber" not in export_json(free_member)["wallets"][0]
