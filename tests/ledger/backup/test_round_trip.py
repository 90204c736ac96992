"""Backup, restore, backup: the tables are equal."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from accounts.models import Member
from ledger.backup.restore import restore_backup
from ledger.backup.xlsx import WorkbookWriter
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_member
from tests.support.ledger_strategies import ODD, books, columns_of, expect_tables
from tests.support.scale import scaled
from tests.support.workbooks import (
    BACKUP,
    HEADERS,
    download_backup,
    read_book,
    send_json,
    upload,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("same_day")]

KEY = bytes(range(32))
LISTS = ("wallets", "tags", "categories", "recurring", "quick-entries", "budgets")
REFERENCES = {"walletId", "toWalletId", "categoryId", "parentId"}
MADE_BY_THE_SERVICE = {"id", "sortOrder", "createdAt", "updatedAt", "tagIds", "version"}


def read_tables(data: bytes) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows below the headers, without next dates, decimals exact.

    openpyxl leaves out the empty cells at the end of a row.
    """
    tables = {}
    for name, (headers, *rows) in read_book(data).items():
        assert list(headers) == HEADERS[name]
        places = [headers.index(column) for column in columns_of(name)]
        tables[name] = [tuple(exact(row, headers, at) for at in places) for row in rows]
    return tables


def exact(row: tuple[Any, ...], headers: tuple[Any, ...], place: int) -> Any:
    value = row[place] if place < len(row) else None
    if headers[place] in {"originalAmount", "exchangeRate"} and value is not None:
        return Decimal(str(value)).normalize()
    return value


@settings(
    max_examples=scaled(12, 100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(book=books(), keys=st.sampled_from([[], [KEY]]))
def test_backup_restore_backup_gives_equal_tables(
    book: Any, keys: Any, premium_member: Member
) -> None:
    with override_settings(ACCOUNT_NUMBER_KEYS=keys):
        response = send_json(JSONClient(premium_member), book)
        assert response.status_code == 200, (response.data, book)
        first = download_backup(premium_member)
        found, wanted = read_tables(first), expect_tables(book, timezone.localdate())
        assert sorted(found.pop("budgets")) == sorted(wanted.pop("budgets"))
        assert found == wanted
        other = make_member()
        restore_backup(other, first, timezone.now())
        assert download_backup(other) == first


def describe_ledger(client: JSONClient) -> dict[str, Any]:
    """Return the lists of the API, with names instead of ids."""
    lists = {name: client.get_json(f"/api/account/{name}") for name in LISTS}
    lists["entries"] = client.get_json("/api/account/entries", size=100)["results"]
    names = {
        (field, row["id"]): row["name"]
        for field, owners in (
            ("walletId", "wallets"),
            ("parentId", "categories"),
            ("categoryId", "categories"),
        )
        for row in lists[owners]
    }
    return {
        name: [describe_row(row, names) for row in rows] for name, rows in lists.items()
    }


def describe_row(row: dict[str, Any], names: dict[Any, str]) -> dict[str, Any]:
    named: dict[str, Any] = {
        key: names.get((key, value)) if key in REFERENCES else value
        for key, value in row.items()
        if key not in MADE_BY_THE_SERVICE
    }
    if named.get("wallet"):
        named["wallet"] = named["wallet"]["name"]
    return named


def add(client: JSONClient, path: str, **body: Any) -> int:
    response = client.send("POST", f"/api/account/{path}", body)
    assert response.status_code == 201, response.content
    return int(response.data["id"])


def turn_round(client: JSONClient, path: str, *ids: int) -> None:
    body = {"ids": list(reversed(ids))}
    response = client.send("PUT", f"/api/account/{path}/reorder", body)
    assert response.status_code < 300, response.content


def set_up(client: JSONClient) -> tuple[int, int]:
    """Create wallets, categories and tags as use leaves them: reordered, with gaps."""
    cash = add(client, "wallets", name="b", kind="CASH", archived=True)
    gone = add(client, "wallets", name="gone", kind="BANK")
    card = add(client, "wallets", name="a", kind="CARD", accountNumber="012-3")
    client.delete(f"/api/account/wallets/{gone}")
    turn_round(client, "wallets", cash, card)
    major = {"type": "expense"}
    food, car = (add(client, "categories", name=n, **major) for n in ("식비", "차"))
    minor = major | {"parentId": food}
    minors = [add(client, "categories", name=n, **minor) for n in ("점심", "저녁")]
    turn_round(client, "categories", food, car)
    turn_round(client, "categories", *minors)
    turn_round(
        client, "tags", *(add(client, "tags", name=n) for n in ("하나", "둘", "셋"))
    )
    return cash, card


def live(client: JSONClient, member: Any, cash: int, card: int) -> None:
    """Create entries out of the order of their days, templates, rules, budgets."""
    today = timezone.localdate()
    base = {
        "type": "expense",
        "amount": 700,
        "category": "점심",
        "tags": ["하나", "셋"],
    }
    for day in (28, 3, 28, 14):
        one = base | {"date": f"2026-02-{day:02}", "walletId": cash, "memo": f"=A{day}"}
        add(client, "entries", **one)
    by_card = base | {"walletId": card, "installmentMonths": 24}
    add(client, "entries", **by_card, date="2026-03-01")
    foreign = {"currency": "USD", "originalAmount": "1.5", "exchangeRate": "1301.25"}
    add(client, "entries", type="income", date="2026-03-02", **foreign)
    make_entry(member, pending=True, tags=("둘",))
    quick = [add(client, "quick-entries", **base, name=name) for name in ("x", "y")]
    turn_round(client, "quick-entries", *quick)
    rule = base | {"frequency": "MONTHLY", "anchorDate": "2026-01-31"}
    last = {"anchorDate": today.isoformat(), "endDate": today.isoformat()}
    ahead = add(client, "recurring", **rule, name="ahead", walletId=card)
    ended = add(client, "recurring", **rule | last, name="ended")
    for number in (ahead, ended):
        client.send("POST", f"/api/account/recurring/{number}/run")
    for category, amount in (("식비", 9), ("저녁", 4)):
        month = {"year": today.year, "month": today.month}
        add(client, "budgets", category=category, amount=amount, **month)


@pytest.mark.parametrize("keys", [[], [KEY]], ids=["plain numbers", "sealed numbers"])
def test_lists_of_the_api_are_the_same_after_a_restore(
    premium_member: Member, keys: list[Any]
) -> None:
    with override_settings(ACCOUNT_NUMBER_KEYS=keys):
        client = JSONClient(premium_member)
        live(client, premium_member, *set_up(client))
        before = describe_ledger(client)
        assert all(before.values())
        data = b"".join(client.get(BACKUP))
        assert upload(client, data).status_code == 200
        assert describe_ledger(client) == before


def test_text_is_never_a_formula(premium_member: Member, tmp_path: Path) -> None:
    entries = [
        {"date": "2026-11-02", "type": "expense", "amount": 1, "memo": text}
        for text in ODD
    ]
    response = send_json(JSONClient(premium_member), {"entries": entries})
    assert response.status_code == 200, response.data["errors"]
    data = download_backup(premium_member)
    (tmp_path / "backup.xlsx").write_bytes(data)
    sheet = load_workbook(tmp_path / "backup.xlsx")["entries"]
    memos = [row[5] for row in sheet.iter_rows(min_row=2)]
    assert {cell.data_type for cell in memos if cell.value is not None} <= {
        "s",
        "inlineStr",
    }
    assert [row[5] or "" for row in read_book(data)["entries"][1:]] == [
        text.strip() for text in ODD
    ]


def test_stored_characters_that_a_workbook_cannot_hold_are_replaced(
    premium_member: Member,
) -> None:
    make_entry(premium_member, memo="a\x07b\ufffec\uffffd\re\x85f")
    data = download_backup(premium_member)
    memo = read_book(data)["entries"][1][5]
    assert memo == "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf"
    assert upload(JSONClient(premium_member), data).status_code == 200


def test_equal_ledgers_make_equal_files(premium_member: Member) -> None:
    client = JSONClient(premium_member)
    assert send_json(client, {"tags": [{"name": "a"}]}).status_code == 200
    assert download_backup(premium_member) == download_backup(premium_member)


def test_numbers_beyond_15_digits_are_written_as_text(tmp_path: Path) -> None:
    with (
        (tmp_path / "x.xlsx").open("wb") as file,
        WorkbookWriter(file, ["a"]) as book,
        book.open_sheet("a") as sheet,
    ):
        row = [Decimal("123456789012.1234"), Decimal("1.50"), 7, True, None, "x"]
        sheet.write([row])
    (cells,) = read_book((tmp_path / "x.xlsx").read_bytes())["a"]
    assert cells == ("123456789012.1234", 1.5, 7, True, None, "x")
