"""Restore does what is asked or nothing: no unknown name is passed over in silence."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import AuthSession, Member, SecurityLogEntry
from tests.support.clients import JSONClient
from tests.support.factories import dump_rows_of, make_entry
from tests.support.problems import assert_problem
from tests.support.second_factors import give_totp
from tests.support.workbooks import (
    COUNTS,
    ENTRY,
    RESTORE,
    WHOLE,
    make_xlsx,
    send_json,
    upload,
    write_sheets,
)

pytestmark = pytest.mark.django_db

FROM_JSON = f"{RESTORE}/json"
# A request that is refused: query, body, and field and suggestion of the error.
REFUSED: dict[str, tuple[str, Any, str, str | None]] = {
    "lower case": ("?dryrun=true", WHOLE, "dryrun", "dryRun"),
    "snake case": ("?dry_run=true", WHOLE, "dry_run", "dryRun"),
    "two letters": ("?dryRunn=true", WHOLE, "dryRunn", "dryRun"),
    "far": ("?check=true", WHOLE, "check", None),
    "twice": ("?dryRun=true&dryRun=false", WHOLE, "dryRun", None),
    "empty": ("?dryRun=", WHOLE, "dryRun", None),
    "yes": ("?dryRun=yes", WHOLE, "dryRun", None),
    "2": ("?dryRun=2", WHOLE, "dryRun", None),
    "on": ("?dryRun=on", WHOLE, "dryRun", None),
    "in the body": ("", WHOLE | {"dryRun": True}, "dryRun", "dryRun"),
    "a sheet": ("", {"entrys": [], **WHOLE}, "entrys", "entries"),
    "another key": ("", WHOLE | {"stocks": []}, "stocks", None),
}


@pytest.fixture
def before(premium_member: Member) -> dict[str, str | None]:
    make_entry(premium_member)
    return dump_rows_of(premium_member)


@pytest.mark.parametrize("path", [RESTORE, FROM_JSON, "file"])
@pytest.mark.parametrize("case", REFUSED)
def test_unknown_name_or_value_is_refused_and_changes_nothing(
    client: JSONClient, premium_member: Member, before: Any, case: str, path: str
) -> None:
    query, body, field, suggestion = REFUSED[case]
    if path == "file":
        response = upload(client, json.dumps(body).encode(), query)
    else:
        response = client.send("POST", path + query, body)
    assert_problem(response, 400, "VALIDATION_ERROR")
    (error,) = response.json()["errors"]
    assert (error["field"], error.get("suggestion")) == (field, suggestion)
    assert dump_rows_of(premium_member) == before


@pytest.mark.parametrize("value", ["true", "TRUE", "True", "1"])
def test_dry_run_is_known_in_any_letter_case(
    client: JSONClient, premium_member: Member, before: Any, value: str
) -> None:
    response = send_json(client, WHOLE, f"?dryRun={value}")
    assert response.data["dryRun"] is True
    assert dump_rows_of(premium_member) == before


@pytest.mark.parametrize("value", ["false", "FALSE", "0"])
def test_no_dry_run_is_known_in_any_letter_case(client: JSONClient, value: str) -> None:
    response = send_json(client, WHOLE, f"?dryRun={value}")
    assert response.data == {"dryRun": False, **COUNTS, "ignored": []}


def test_other_parts_of_a_form_are_refused(
    client: JSONClient, premium_member: Member, before: Any
) -> None:
    for name in ("dryRun", "File", "note"):
        file = SimpleUploadedFile("backup.xlsx", make_xlsx(WHOLE))
        response: Any = client.post(RESTORE, {"file": file, name: "true"})
        assert_problem(response, 400, "VALIDATION_ERROR")
        (error,) = response.json()["errors"]
        assert (error["field"], error["code"]) == (name, "unknown")
    assert dump_rows_of(premium_member) == before


def test_second_file_is_refused(
    client: JSONClient, premium_member: Member, before: Any
) -> None:
    files = [SimpleUploadedFile("a.xlsx", make_xlsx(WHOLE)) for _ in range(2)]
    response: Any = client.post(RESTORE, {"file": files})
    assert_problem(response, 400, "VALIDATION_ERROR")
    (error,) = response.json()["errors"]
    assert (error["field"], error["code"]) == ("file", "repeated")
    assert dump_rows_of(premium_member) == before


@pytest.mark.parametrize(("path", "row"), [(RESTORE, 3), (FROM_JSON, 1)])
def test_unknown_names_in_rows_of_json_are_bad_rows(
    client: JSONClient, premium_member: Member, before: Any, path: str, row: int
) -> None:
    rows = [ENTRY, ENTRY | {"ammount": 5, "id": 3}]
    response = client.send("POST", path, {"entries": rows})
    assert_problem(response, 400, "INVALID_BACKUP")
    near, far = response.json()["errors"]
    place = {"sheet": "entries", "row": 3, "code": "unknown"}
    near.pop("detail"), far.pop("detail")
    assert near == place | {
        "field": f"entries.{row}.ammount",
        "column": "ammount",
        "suggestion": "amount",
    }
    assert far == place | {"field": f"entries.{row}.id", "column": "id"}
    assert dump_rows_of(premium_member) == before


def test_fields_count_rows_from_0_in_json(client: JSONClient) -> None:
    response = client.send("POST", FROM_JSON, {"entries": [ENTRY | {"amount": -1}]})
    (error,) = response.json()["errors"]
    assert (error["field"], error["row"]) == ("entries.0.amount", 2)


def test_json_operation_takes_json_alone(client: JSONClient) -> None:
    file = SimpleUploadedFile("backup.xlsx", make_xlsx(WHOLE))
    response: Any = client.post(FROM_JSON, {"file": file})
    assert_problem(response, 415, "UNSUPPORTED_MEDIA_TYPE")
    response = client.send("POST", FROM_JSON, WHOLE)
    assert response.data == {"dryRun": False, **COUNTS, "ignored": []}


@pytest.mark.parametrize("query", ["", "?dryRun=true"])
def test_misspelt_column_is_a_bad_row_where_the_sheet_lacks_it(
    client: JSONClient, premium_member: Member, before: Any, query: str
) -> None:
    rows: Any = [["date", "type", "amount", "mem0"], ["2026-11-02", "expense", 5, "x"]]
    response = upload(client, write_sheets({"entries": rows}), query)
    assert_problem(response, 400, "INVALID_BACKUP")
    (error,) = response.json()["errors"]
    assert error.pop("detail")
    assert error == {
        "field": "entries.1.mem0",
        "code": "unknown",
        "suggestion": "memo",
        "sheet": "entries",
        "row": 1,
        "column": "mem0",
    }
    assert dump_rows_of(premium_member) == before


@pytest.mark.parametrize(
    ("written", "lacking"), [("meom", "memo"), ("me", "memo"), ("tmie", "time")]
)
def test_short_column_within_two_letters_is_a_bad_row(
    client: JSONClient, before: Any, premium_member: Member, written: str, lacking: str
) -> None:
    rows: Any = [["date", "type", "amount", written], ["2026-11-02", "expense", 5, "x"]]
    response = upload(client, write_sheets({"entries": rows}))
    assert_problem(response, 400, "INVALID_BACKUP")
    (error,) = response.json()["errors"]
    assert (error["column"], error["suggestion"]) == (written, lacking)
    assert dump_rows_of(premium_member) == before


def test_column_that_is_there_twice_is_refused(
    client: JSONClient, before: Any, premium_member: Member
) -> None:
    rows: Any = [
        ["memo", "date", "type", "amount", "memo"],
        ["a", "2026-11-02", "expense", 5, "b"],
    ]
    response = upload(client, write_sheets({"entries": rows}))
    assert_problem(response, 400, "INVALID_BACKUP")
    assert "memo twice" in response.json()["detail"]
    assert dump_rows_of(premium_member) == before


@pytest.mark.parametrize("query", ["", "?dryRun=true"])
def test_near_column_beside_the_one_it_is_near_is_passed_over(
    client: JSONClient, query: str
) -> None:
    rows: Any = [
        ["date", "type", "amount", "memo", "memo2", "Memo", None],
        ["2026-11-02", "expense", 5, "a", "b", "c", "d"],
    ]
    response = upload(client, write_sheets({"entries": rows, "메모": []}), query)
    assert response.status_code == 200, response.content
    assert response.data["ignored"] == [
        {"sheet": "메모", "column": None},
        {"sheet": "entries", "column": "memo2"},
        {"sheet": "entries", "column": "Memo"},
    ]


def test_names_of_a_file_cannot_break_the_answer(client: JSONClient) -> None:
    body: Any = {"\ud800" + "x" * 10_000: []}
    response = client.send("POST", FROM_JSON, body)
    assert_problem(response, 400, "VALIDATION_ERROR")
    (error,) = response.json()["errors"]
    assert len(error["field"]) == 100


@pytest.mark.parametrize("path", [RESTORE, FROM_JSON])
def test_member_with_a_second_factor_restores_in_a_fresh_session(
    client: JSONClient, premium_member: Member, path: str
) -> None:
    AuthSession.objects.update(fresh_until=None)
    assert client.send("POST", path, WHOLE).status_code == 200
    give_totp(premium_member)
    before = dump_rows_of(premium_member)
    response = client.send("POST", path, {"tags": [{"name": "a"}]})
    assert_problem(response, 403, "REAUTHENTICATION_REQUIRED", "methods")
    assert dump_rows_of(premium_member) == before


def test_restore_is_in_the_security_log_and_a_dry_run_is_not(
    client: JSONClient, premium_member: Member
) -> None:
    entries = SecurityLogEntry.objects.filter(kind="RESTORED")
    send_json(client, WHOLE, "?dryRun=true")
    send_json(client, {"entries": [{"date": "x"}]})
    assert not entries.exists()
    send_json(client, WHOLE)
    entry = entries.get()
    assert (entry.member, entry.is_by_staff) == (premium_member, False)
