"""Reading of sheets: rows, headers and cells as spreadsheet programs write them."""

from datetime import date, datetime
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, EntryTag, Tag
from tests.support.clients import JSONClient
from tests.support.factories import dump_rows_of, make_entry
from tests.support.workbooks import (
    COUNTS,
    ENTRY,
    WHOLE,
    Rows,
    Sheets,
    download_backup,
    error_places,
    make_xlsx,
    read_book,
    send_json,
    upload,
    write_sheets,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_reader")]


@pytest.fixture(params=["xlsx", "json"])
def restore_any(request: pytest.FixtureRequest, client: JSONClient) -> Any:
    """Restore rows under names of sheets and fields that are no backup's own."""

    def send(book: Any) -> Any:
        if request.param == "json":
            return send_json(client, book)
        sheets = {
            name: [list(rows[0]), *(list(row.values()) for row in rows)]
            for name, rows in book.items()
        }
        return upload(client, write_sheets(sheets))

    return send


def test_tags_in_a_cell_are_joined_by_a_comma_and_a_blank(
    client: JSONClient, premium_member: Member
) -> None:
    send_json(client, WHOLE)
    headers, *rows = read_book(download_backup(premium_member))["entries"]
    assert {row[headers.index("tags")] for row in rows} == {None, "@home, 여행"}


def test_tags_in_a_cell_keep_their_order_and_count_once(client: JSONClient) -> None:
    tags = [["name"], *([name] for name in "abc")]
    cells = (
        ["date", "type", "amount", "tags"],
        ["2026-11-02", "expense", 5, " c,a ,, c,b"],
    )
    assert upload(client, write_sheets({"tags": tags, "entries": list(cells)})).data
    links = EntryTag.objects.order_by("position").values_list("tag__name", flat=True)
    assert list(links) == ["c", "a", "b"]


def test_blank_rows_are_no_rows_but_count_in_row_numbers(client: JSONClient) -> None:
    rows: Rows = [["name"], ["a"], [None], [""], ["b"], [None], ["a"]]
    response = upload(client, write_sheets({"tags": rows}))
    assert error_places(response) == {("tags", 7, "name", "duplicate")}
    response = upload(client, write_sheets({"tags": [["name"], ["a"], [None], ["b"]]}))
    assert response.data["tags"] == 2


def test_unknown_sheets_and_columns_are_passed_over_in_any_order(
    client: JSONClient,
) -> None:
    stocks = [["code"], ["005930"]]
    tags: Rows = [
        ["id", "shape", " name "],
        [5, "red", "a"],
        [6, None, "b"],
        [7, "x", None],
    ]
    response = upload(client, write_sheets({"stocks": stocks, "tags": tags}))
    assert response.data["tags"] == 2
    assert response.data["ignored"] == [
        {"sheet": "stocks", "column": None},
        {"sheet": "tags", "column": "id"},
        {"sheet": "tags", "column": "shape"},
    ]


def test_letter_case_of_sheets_and_headers_does_not_count(
    restore_any: Any, client: JSONClient
) -> None:
    tags = {"Tags": [{"NAME": "a"}]}
    entries = {"ENTRIES": [{**ENTRY, "Memo": "kept", "Tags": "a", "PENDING": True}]}
    response = restore_any(tags | entries)
    assert (response.data["tags"], response.data["entries"]) == (1, 1)
    (entry,) = client.get_json("/api/account/entries")["results"]
    assert (entry["memo"], entry["tags"], entry["pending"]) == ("kept", ["a"], True)


def test_exact_name_goes_before_other_letter_cases(
    restore_any: Any, client: JSONClient
) -> None:
    restore_any({"tags": [{"Name": "other", "name": "a", "NAME": "another"}]})
    assert [tag["name"] for tag in client.get_json("/api/account/tags")] == ["a"]


def test_error_names_sheet_and_column_as_the_api_does(restore_any: Any) -> None:
    response = restore_any({"TAGS": [{"Name": "a"}, {"Name": "a"}]})
    assert error_places(response) == {("tags", 3, "name", "duplicate")}


def test_workbook_of_unknown_sheets_only_is_an_empty_backup(
    client: JSONClient, premium_member: Member
) -> None:
    make_entry(premium_member)
    before = dump_rows_of(premium_member)
    workbooks: tuple[Sheets, ...] = (
        {"Sheet1": [["date", "type"], ["2026-11-02", "expense"]]},
        {"x": []},
    )
    for sheets in workbooks:
        response = upload(client, write_sheets(sheets))
        assert (response.status_code, response.data["code"]) == (400, "EMPTY_BACKUP")
    assert dump_rows_of(premium_member) == before


@pytest.mark.parametrize(
    "rows",
    [
        [["My entries"], ["date", "type", "amount"], ["2026-11-02", "expense", 5]],
        [[None], ["date", "type", "amount"], ["2026-11-02", "expense", 5]],
        [["날짜", "종류", "금액"], ["2026-11-02", "expense", 5]],
    ],
    ids=["a title", "a blank row", "other names"],
)
def test_sheet_without_its_headers_in_row_1_is_rejected(
    client: JSONClient, premium_member: Member, rows: list[Any]
) -> None:
    make_entry(premium_member)
    before = dump_rows_of(premium_member)
    sheets = {"tags": [["name"], ["a"]], "entries": rows}
    response = upload(client, write_sheets(sheets))
    assert (response.status_code, response.data["code"]) == (400, "INVALID_BACKUP")
    assert "sheet entries" in response.data["detail"]
    assert dump_rows_of(premium_member) == before


def test_missing_column_is_named_in_each_row_that_needs_it(client: JSONClient) -> None:
    rows = [["date", "type"], ["2026-11-02", "expense"], ["2026-11-03", "income"]]
    response = upload(client, write_sheets({"entries": rows}))
    assert error_places(response) == {
        ("entries", 2, "amount", "required"),
        ("entries", 3, "amount", "required"),
    }


def test_date_cells_are_days_unless_they_have_a_time(client: JSONClient) -> None:
    headers = ["date", "type", "amount"]
    times = map(datetime.fromisoformat, ("2026-11-03T00:00", "2026-11-04T05:06"))
    rows: Rows = [
        headers,
        *([day, "expense", 5] for day in (date(2026, 11, 2), *times)),
    ]
    response = upload(client, write_sheets({"entries": rows}))
    assert error_places(response) == {("entries", 4, "date", "invalid")}
    assert upload(client, write_sheets({"entries": rows[:3]})).status_code == 200
    assert set(Entry.objects.values_list("date", flat=True)) == set(
        map(date.fromisoformat, ("2026-11-02", "2026-11-03"))
    )


def test_numbers_and_errors_in_text_cells_are_text(client: JSONClient) -> None:
    rows: Rows = [["name"], [2024], [1.5], [True], ["#N/A"]]
    response = upload(client, write_sheets({"tags": rows}))
    assert error_places(response) >= {("tags", 4, "name", "invalid")}
    assert upload(client, write_sheets({"tags": rows[:3]})).status_code == 200
    assert set(Tag.objects.values_list("name", flat=True)) == {"2024", "1.5"}


def test_rows_of_json_are_numbered_as_those_of_a_sheet(client: JSONClient) -> None:
    book = {"entries": [ENTRY, ENTRY | {"amount": -1}]}
    assert error_places(send_json(client, book)) == {("entries", 3, "amount", "range")}
    assert error_places(upload(client, make_xlsx(book))) == error_places(
        send_json(client, book)
    )


@pytest.mark.parametrize("rows", [None, []])
def test_missing_sheet_is_an_empty_one(
    client: JSONClient, premium_member: Member, rows: list[Any] | None
) -> None:
    make_entry(premium_member, tags=("old",))
    assert send_json(client, {"tags": [{"name": "a"}], "entries": rows}).data == {
        "dryRun": False,
        **dict.fromkeys(COUNTS, 0),
        "tags": 1,
        "ignored": [],
    }
    assert not Entry.objects.exists()
