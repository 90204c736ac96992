"""Restore replaces the whole ledger, or changes nothing (spec 3.18)."""

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.account_deletion import delete_account
from accounts.models import Member
from ledger.account_deletion import REPLACED_BY_RESTORE
from ledger.backup import ledger_writer
from ledger.base import bulk_rows
from ledger.entries.transfer_candidates import dismiss_transfer
from ledger.models import (
    BudgetIncome,
    Category,
    ImportKey,
    Occurrence,
    QuickEntryTag,
    RecurringTag,
    Tag,
    Wallet,
)
from tests.support.clients import JSONClient
from tests.support.factories import (
    count_rows_of,
    dump_rows_of,
    make_budget,
    make_category,
    make_entry,
    make_quick_entry,
    make_rule,
    make_trade,
    make_unsure_text,
    make_wallet,
)
from tests.support.rollups import assert_rollups_are_right
from tests.support.whole_accounts import give_card, give_lines
from tests.support.workbooks import (
    BACKUP,
    COUNTS,
    ENTRY,
    RESTORE,
    WHOLE,
    download_backup,
    error_places,
    make_xlsx,
    read_book,
    send_json,
    upload,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_reader")]


def test_restore_writes_every_sheet_and_counts_its_rows(
    restore: Any, client: JSONClient
) -> None:
    response = restore(WHOLE)
    assert response.status_code == 200, response.content
    assert response.data == {"dryRun": False, **COUNTS, "ignored": []}
    newest = client.get_json("/api/account/entries")["results"]
    assert [row["tags"] for row in newest] == [[], [], ["@home", "여행"]]
    assert newest[2]["memo"] == "=SUM(A1)\n둘째 줄 🍜"
    assert newest[2]["wallet"]["name"] == "카드"
    assert newest[2]["installmentMonths"] == 3
    assert newest[1]["pending"] is True
    assert str(newest[0]["originalAmount"]) == "12.3456"
    wallets = client.get_json("/api/account/wallets")
    assert [row["name"] for row in wallets] == ["현금", "카드", "연금"]
    assert [row["sortOrder"] for row in wallets] == [1, 2, 3]
    assert wallets[1]["accountNumber"] == "0123-45"
    minor = Category.objects.get(name="점심")
    assert minor.parent is not None
    assert minor.parent.name == "식비"
    quick = client.get_json("/api/account/quick-entries")
    assert [row["name"] for row in quick] == ["커피", "교통"]
    assert_rollups_are_right()


def test_json_and_workbook_restore_the_same(
    client: JSONClient, premium_member: Member
) -> None:
    send_json(client, WHOLE)
    by_json = read_book(download_backup(premium_member))
    upload(client, make_xlsx(WHOLE))
    assert read_book(download_backup(premium_member)) == by_json


@pytest.mark.usefixtures("same_day")
def test_backup_of_a_restored_ledger_restores_to_the_same_backup(
    client: JSONClient, premium_member: Member
) -> None:
    send_json(client, WHOLE)
    response = client.get(BACKUP)
    first = b"".join(response)
    today = timezone.localdate().isoformat()
    assert response.headers["Content-Disposition"] == (
        f'attachment; filename="household-ledger-{today}.xlsx"'
    )
    assert response.headers["Content-Type"].endswith("spreadsheetml.sheet")
    restored = upload(client, first)
    assert restored.data == {"dryRun": False, **COUNTS, "ignored": []}
    assert download_backup(premium_member) == first


def test_all_rows_are_deleted_with_stocks_and_trades(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    for member in (premium_member, other_member):
        fill_every_table(member)
    tables = {model._meta.db_table for model in REPLACED_BY_RESTORE}
    assert tables <= find_tables(premium_member)
    theirs = dump_rows_of(other_member)
    assert send_json(client, {"tags": [{"name": "new"}]}).status_code == 200
    assert find_tables(premium_member) & tables == {"account_tag"}
    assert list(Tag.objects.owned_by(premium_member).values_list("name")) == [("new",)]
    assert dump_rows_of(other_member) == theirs


def test_expected_incomes_are_kept(client: JSONClient, premium_member: Member) -> None:
    make_entry(premium_member)
    BudgetIncome.objects.create(member=premium_member, year=2026, month=11, amount=3)
    before = list(BudgetIncome.objects.values())
    assert upload(client, download_backup(premium_member)).status_code == 200
    assert list(BudgetIncome.objects.values()) == before


def test_account_deletion_deletes_also_rows_that_a_restore_keeps(
    premium_member: Member,
) -> None:
    fill_every_table(premium_member)
    delete_account(premium_member)
    assert not find_tables(premium_member)


def fill_every_table(member: Member) -> None:
    wallet = make_wallet(member)
    known = {"category": make_category(member), "memo": "old"}
    entry = make_entry(member, wallet=wallet, tags=("old",), **known)
    tag = Tag.objects.owned_by(member).get()
    rule, quick = make_rule(member), make_quick_entry(member)
    make_unsure_text(member)
    give_card(member)
    give_lines(member)
    income = make_entry(member, type="income", wallet=wallet)
    dismiss_transfer(member, entry.pk, income.pk)
    owner = {"tag": tag, "member_id": member.pk, "position": 0}
    RecurringTag.objects.create(rule=rule, **owner)
    QuickEntryTag.objects.create(quick_entry=quick, **owner)
    Occurrence.objects.create(
        member=member, rule=rule, entry=entry, due_date=entry.date, status="BOOKED"
    )
    make_budget(member)
    BudgetIncome.objects.create(member=member, year=2026, month=1, amount=1)
    make_trade(member)
    ImportKey.objects.create(
        member=member, digest=b"d" * 16, wallet_id=wallet.pk, operation_id=1
    )


def find_tables(member: Member) -> set[Any]:
    """Return the tables with rows of this member."""
    return {table for table, count in count_rows_of(member).items() if count}


@pytest.mark.parametrize("sheet", ["wallets", "tags", "categories"])
def test_backup_of_one_sheet_is_enough(restore: Any, sheet: str) -> None:
    response = restore({sheet: WHOLE[sheet]})
    counts = dict.fromkeys(COUNTS, 0) | {sheet: COUNTS[sheet]}
    assert response.data == {"dryRun": False, **counts, "ignored": []}


@pytest.mark.parametrize("book", [{}, {"entries": []}, {name: [] for name in COUNTS}])
def test_empty_backup_is_rejected(
    client: JSONClient, premium_member: Member, book: Any
) -> None:
    make_entry(premium_member)
    before = dump_rows_of(premium_member)
    responses = [send_json(client, book)]
    if book:
        responses.append(upload(client, make_xlsx(book)))
    for response in responses:
        assert (response.status_code, response.data["code"]) == (400, "EMPTY_BACKUP")
    assert dump_rows_of(premium_member) == before


def test_dry_run_checks_and_counts_and_changes_nothing(
    restore: Any, premium_member: Member
) -> None:
    make_entry(premium_member, tags=("kept",))
    before = dump_rows_of(premium_member)
    response = restore(WHOLE, "?dryRun=true")
    assert response.data == {"dryRun": True, **COUNTS, "ignored": []}
    bad = restore({"entries": [ENTRY | {"amount": 0}]}, "?dryRun=true")
    assert bad.data["code"] == "INVALID_BACKUP"
    assert dump_rows_of(premium_member) == before


@pytest.mark.parametrize("value", ["", "abc", "2", "tru"])
def test_invalid_dry_run_is_rejected(
    restore: Any, premium_member: Member, value: str
) -> None:
    wallet = make_wallet(premium_member)
    response = restore(WHOLE, f"?dryRun={value}")
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert response.data["errors"][0]["field"] == "dryRun"
    assert Wallet.objects.get() == wallet


def test_one_bad_row_at_the_end_changes_nothing(
    restore: Any, premium_member: Member
) -> None:
    make_entry(premium_member)
    before = dump_rows_of(premium_member)
    response = restore(WHOLE | {"entries": [ENTRY] * 3_000 + [{"date": "2026-13-01"}]})
    assert response.status_code == 400
    assert response.data["code"] == "INVALID_BACKUP"
    assert error_places(response) == {
        ("entries", 3_002, "date", "invalid"),
        ("entries", 3_002, "type", "required"),
    }
    assert response.data["errors"][0]["field"] == "entries.3002.date"
    assert dump_rows_of(premium_member) == before


def test_sheets_are_written_in_the_order_of_the_specification(
    client: JSONClient,
) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert send_json(client, WHOLE).status_code == 200
    written = [
        query["sql"].split()[1]
        for query in queries
        # A copy of the former ledger is read before.
        if query["sql"].startswith("COPY") and "FROM STDIN" in query["sql"]
    ]
    assert written == [
        "account",
        "account_tag",
        "account_category",
        *("account_entry", "account_entry_tag"),
        *("account_recurring", "account_recurring_tag"),
        "account_budget",
        *("account_quick_entry", "account_quick_entry_tag"),
    ]
    # The totals are deleted and computed at the end.
    deleted = max(
        n
        for n, query in enumerate(queries)
        if query["sql"].startswith("DELETE")
        and query["sql"].split()[2].strip('"') in written
    )
    first = min(
        n for n, query in enumerate(queries) if query["sql"].endswith("FROM STDIN")
    )
    assert deleted < first


def test_failure_in_the_last_step_changes_nothing(
    restore: Any, premium_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_every_table(premium_member)
    before = dump_rows_of(premium_member)
    write = bulk_rows.copy_rows

    def fail(table: str, columns: Any, rows: Any) -> None:
        if table == "account_quick_entry_tag":
            raise OSError("no space left on device")
        write(table, columns, rows)

    monkeypatch.setattr(ledger_writer, "copy_rows", fail)
    assert restore(WHOLE).status_code == 500
    assert dump_rows_of(premium_member) == before
    monkeypatch.undo()
    assert restore(WHOLE).status_code == 200


@pytest.mark.parametrize("broken", ["account_entry", "account_entry_tag"])
def test_totals_are_right_and_kept_after_a_failure_halfway(
    broken: str,
    client: JSONClient,
    premium_member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The triggers of the totals are off while rows are written, and on again.
    make_entry(premium_member, amount=700, tags=("old",))
    write = bulk_rows.copy_rows

    def fail(table: str, columns: Any, rows: Any) -> None:
        write(table, columns, list(rows)[:2] if table == broken else rows)
        if table == broken:
            raise OSError("no space left on device")

    monkeypatch.setattr(ledger_writer, "copy_rows", fail)
    assert send_json(client, WHOLE).status_code == 500
    assert_rollups_are_right()
    make_entry(premium_member, amount=900, tags=("old", "new"))
    assert_rollups_are_right()
    call_command("check_totals")


def test_free_member_is_rejected_before_the_file_is_read(
    free_member: Member,
) -> None:
    make_entry(free_member)
    client, before = JSONClient(free_member), dump_rows_of(free_member)
    for response in (
        send_json(client, WHOLE),
        upload(client, b"no backup"),
        client.send("GET", BACKUP),
    ):
        assert response.status_code == 403
        assert response.data["code"] == "PREMIUM_REQUIRED"
    assert dump_rows_of(free_member) == before


def test_administrator_on_the_free_plan_restores(administrator: Member) -> None:
    assert send_json(JSONClient(administrator), WHOLE).status_code == 200


def test_form_without_a_file_and_other_types_are_rejected(client: JSONClient) -> None:
    response = client.send(
        "POST", RESTORE, content_type="multipart/form-data; boundary=x"
    )
    assert response.status_code == 400
    response = client.post(RESTORE, {"file": "text"})
    assert response.status_code == 400
    assert response.json()["errors"][0]["field"] == "file"
    response = client.post(RESTORE, b"a,b", content_type="text/csv")
    assert response.status_code == 415


def test_json_can_be_uploaded_as_a_file_too(client: JSONClient) -> None:
    response = upload(client, json.dumps(WHOLE).encode())
    assert response.data == {"dryRun": False, **COUNTS, "ignored": []}


@pytest.mark.parametrize("kind", ["xlsx", "json"])
def test_more_than_10_mb_is_413(client: JSONClient, kind: str) -> None:
    data = b" " * (10 * 2**20 + 1)
    if kind == "json":
        response = client.generic("POST", RESTORE, data, "application/json")
        assert response.status_code == 413
    else:
        assert upload(client, data).status_code == 413


def test_json_above_the_limit_of_other_bodies_is_read(client: JSONClient) -> None:
    rows = [ENTRY | {"memo": "x" * 400}] * 8_000
    response = send_json(client, {"entries": rows})
    assert response.data["entries"] == 8_000, response.data
