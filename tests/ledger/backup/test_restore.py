"""Restore replaces the whole ledger, or changes nothing (service.md, Restore rules)."""

from datetime import date

import pytest
from django.test import override_settings
from django.utils import timezone

from ledger.models import (
    Budget,
    BudgetIncome,
    Category,
    Entry,
    RecurringRule,
    Stock,
    Tag,
    Trade,
    Wallet,
)
from tests.clients import JSONClient
from tests.factories import count_rows_of, make_entry, make_rule, make_wallet
from tests.ledger.backup.books import (
    BACKUP,
    COUNTS,
    ENTRY,
    WHOLE,
    back_up,
    make_xlsx,
    places_of,
    read_book,
    send_json,
    upload,
)
from tests.ledger.test_totals import assert_totals_are_right
from tests.test_isolation import dump_rows_of

pytestmark = pytest.mark.django_db

KEY = bytes(range(32))


@pytest.fixture
def client(premium_member) -> JSONClient:
    return JSONClient(premium_member)


@pytest.fixture(params=["xlsx", "json"])
def restore(request, client):
    """Restore a book as a workbook and as JSON."""

    def send(book, query=""):
        if request.param == "json":
            return send_json(client, book, query)
        return upload(client, make_xlsx(book), query)

    return send


def test_restore_writes_every_sheet_and_counts_its_rows(restore, client):
    response = restore(WHOLE)
    assert response.status_code == 200, response.content
    assert response.data == {"dryRun": False, **COUNTS}
    newest = client.read("/api/account/entries")["results"]
    assert [row["tags"] for row in newest] == [[], [], ["@home", "여행"]]
    assert newest[2]["memo"] == "=SUM(A1)\n둘째 줄 🍜"
    assert newest[2]["wallet"]["name"] == "카드"
    assert newest[2]["installmentMonths"] == 3
    assert newest[1]["pending"] is True
    assert str(newest[0]["originalAmount"]) == "12.3456"
    wallets = client.read("/api/account/wallets")
    assert [row["name"] for row in wallets] == ["현금", "카드", "연금"]
    assert [row["sortOrder"] for row in wallets] == [1, 2, 3]
    assert wallets[1]["accountNumber"] == "0123-45"
    minor = Category.objects.get(name="점심")
    assert minor.parent.name == "식비"
    quick = client.read("/api/account/quick-entries")
    assert [row["name"] for row in quick] == ["커피", "교통"]
    assert_totals_are_right()


def test_json_and_workbook_restore_the_same(client, premium_member):
    send_json(client, WHOLE)
    by_json = read_book(back_up(premium_member))
    upload(client, make_xlsx(WHOLE))
    assert read_book(back_up(premium_member)) == by_json


def test_backup_of_a_restored_ledger_restores_to_the_same_backup(
    client, premium_member
):
    send_json(client, WHOLE)
    response = client.get(BACKUP)
    first = b"".join(response.streaming_content)
    today = timezone.localdate().isoformat()
    assert response.headers["Content-Disposition"] == (
        f'attachment; filename="household-ledger-{today}.xlsx"'
    )
    assert response.headers["Content-Type"].endswith("spreadsheetml.sheet")
    restored = upload(client, first)
    assert restored.data == {"dryRun": False, **COUNTS}
    assert back_up(premium_member) == first


def test_everything_of_before_is_deleted_with_stocks_and_trades(
    client, premium_member, other_member
):
    for member in (premium_member, other_member):
        make_entry(member, wallet=make_wallet(member), tags=("old",))
        make_rule(member)
        stock = Stock.objects.create(member=member, code="005930", name="삼성전자")
        Trade.objects.create(
            member=member,
            stock=stock,
            side="BUY",
            date="2026-01-02",
            quantity=1,
            price=1,
        )
        BudgetIncome.objects.create(member=member, year=2026, month=1, amount=1)
    theirs = dump_rows_of(other_member)
    assert send_json(client, {"tags": [{"name": "new"}]}).status_code == 200
    left = {
        table: count for table, count in count_rows_of(premium_member).items() if count
    }
    assert left.pop("account_tag") == 1
    assert {
        table for table in left if table.startswith(("account_", "invest_"))
    } == set()
    assert dump_rows_of(other_member) == theirs


@pytest.mark.parametrize("sheet", ["wallets", "tags", "categories"])
def test_backup_of_one_sheet_is_enough(restore, sheet):
    response = restore({sheet: WHOLE[sheet]})
    assert response.data == {"dryRun": False, **dict.fromkeys(COUNTS, 0)} | {
        sheet: COUNTS[sheet]
    }


@pytest.mark.parametrize("book", [{}, {"entries": []}, {name: [] for name in COUNTS}])
def test_empty_backup_is_refused(client, premium_member, book):
    make_entry(premium_member)
    before = dump_rows_of(premium_member)
    responses = [send_json(client, book)]
    if book:
        responses.append(upload(client, make_xlsx(book)))
    for response in responses:
        assert (response.status_code, response.data["code"]) == (400, "EMPTY_BACKUP")
    assert dump_rows_of(premium_member) == before


def test_dry_run_checks_and_counts_and_changes_nothing(restore, premium_member):
    make_entry(premium_member, tags=("kept",))
    before = dump_rows_of(premium_member)
    response = restore(WHOLE, "?dryRun=true")
    assert response.data == {"dryRun": True, **COUNTS}
    bad = restore({"entries": [ENTRY | {"amount": 0}]}, "?dryRun=true")
    assert bad.data["code"] == "INVALID_BACKUP"
    assert dump_rows_of(premium_member) == before


def test_one_bad_row_at_the_end_changes_nothing(restore, premium_member):
    make_entry(premium_member)
    before = dump_rows_of(premium_member)
    response = restore(WHOLE | {"entries": [ENTRY] * 3_000 + [{"date": "2026-13-01"}]})
    assert response.status_code == 400
    assert response.data["code"] == "INVALID_BACKUP"
    assert places_of(response) == {
        ("entries", 3_002, "date", "invalid"),
        ("entries", 3_002, "type", "required"),
    }
    assert response.data["errors"][0]["field"] == "entries.3002.date"
    assert dump_rows_of(premium_member) == before


def test_budgets_become_those_of_the_current_month_the_latest_counting(restore):
    rows = [
        {"category": "식비", "year": 2024, "month": 5, "amount": 5},
        {"category": "식비", "year": 2025, "month": 2, "amount": 7},
        {"category": "식비", "year": 2024, "month": 12, "amount": 6},
        {"category": "차", "year": 2020, "month": 1, "amount": 1},
    ]
    categories = [{"type": "expense", "name": name} for name in ("식비", "차")]
    response = restore({"categories": categories, "budgets": rows})
    assert response.data["budgets"] == 2
    today = timezone.localdate()
    found = Budget.objects.values_list("category__name", "year", "month", "amount")
    month = (today.year, today.month)
    assert set(found) == {("식비", *month, 7), ("차", *month, 1)}


def test_recurring_rules_never_book_the_past_again(restore):
    rule = WHOLE["recurring"][0] | {"category": None, "wallet": None, "tags": None}
    today = timezone.localdate()
    rows = [
        rule | {"name": "past", "nextDate": "2020-02-29", "active": None},
        rule | {"name": "ahead", "nextDate": "2999-06-30"},
        rule | {"name": "over", "endDate": "2020-12-31"},
    ]
    restore({"recurring": rows})
    found = {row.name: row for row in RecurringRule.objects.all()}
    assert found["past"].next_date >= today
    assert found["past"].active
    assert not found["ahead"].active
    assert found["ahead"].next_date == date(2999, 6, 30)
    assert found["over"].next_date is None


def test_pending_foreign_entry_without_a_rate_stays_so(restore):
    row = ENTRY | {"amount": 0, "currency": "usd", "originalAmount": 5, "pending": True}
    assert restore({"entries": [row]}).status_code == 200
    entry = Entry.objects.get()
    assert (entry.amount, entry.currency, entry.exchange_rate) == (0, "USD", None)
    assert entry.pending


@override_settings(ACCOUNT_NUMBER_KEYS=[KEY])
def test_account_numbers_are_plain_in_the_backup_and_sealed_at_rest(
    restore, premium_member
):
    restore(WHOLE)
    stored = Wallet.objects.get(name="카드").sealed_account_number
    assert stored.startswith("sealed:")
    wallets = read_book(back_up(premium_member))["wallets"]
    assert [row[3] for row in wallets] == ["accountNumber", None, "0123-45", None]


def test_number_that_no_key_opens_survives_with_its_wallet(client, premium_member):
    with override_settings(ACCOUNT_NUMBER_KEYS=[KEY]):
        send_json(client, WHOLE)
        sealed = Wallet.objects.get(name="카드").sealed_account_number
    with override_settings(ACCOUNT_NUMBER_KEYS=[bytes(32)]):
        response = upload(client, back_up(premium_member))
    assert response.status_code == 200
    assert Wallet.objects.get(name="카드").sealed_account_number == sealed


def test_order_of_rows_is_the_order_of_lists(restore):
    names = ["나", "가", "다"]
    restore({"tags": [{"name": name} for name in names]})
    assert list(Tag.objects.values_list("name", "sort_order")) == [
        ("나", 1),
        ("가", 2),
        ("다", 3),
    ]


def test_blank_rows_and_unknown_columns_and_sheets_are_passed_over(client):
    book = {"tags": [{"name": "a"}, {}, {"name": "b"}]}
    assert upload(client, make_xlsx(book)).data["tags"] == 2
    body = {"tags": [{"name": "a", "id": 5}], "stocks": [{"code": "x"}]}
    assert send_json(client, body).data["tags"] == 1


def test_form_without_a_file_and_other_types_are_refused(client):
    assert client.post("/api/account/restore", {"x": "y"}).status_code == 400
    response = client.post("/api/account/restore", b"a,b", content_type="text/csv")
    assert response.status_code == 415


@pytest.mark.parametrize("kind", ["xlsx", "json"])
def test_more_than_10_mb_is_413(client, kind):
    data = b" " * (10 * 2**20 + 1)
    if kind == "json":
        response = client.generic(
            "POST", "/api/account/restore", data, "application/json"
        )
        assert response.status_code == 413
    else:
        assert upload(client, data).status_code == 413


def test_json_above_the_limit_of_other_bodies_is_read(client):
    rows = [ENTRY | {"memo": "x" * 400}] * 8_000
    response = send_json(client, {"entries": rows})
    assert response.data["entries"] == 8_000, response.data
