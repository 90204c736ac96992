"""Files, forms and states that an import refuses, over HTTP (spec 3.29).

Each refusal is a clear error, writes nothing, and says nothing of the file in a log.
"""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils import timezone

from accounts.models import Member
from accounts.models.security import SecurityLogEntry
from core.leases.holding import lease
from ledger.backup import concurrency_limits
from ledger.imports import committing, reading, storing
from ledger.models import Entry, Import, Ledger, Operation, OperationKind, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import dump_rows_of
from tests.support.import_samples import (
    CAMT,
    encrypt_xlsx,
    make_aes_zip,
    make_xlsx,
    make_zip,
)
from tests.support.imports import HEADER, IMPORTS, commit, read_file, rows_of, upload
from tests.support.problems import assert_invalid, assert_problem
from tests.support.stores import find_closed_port, redis_at
from tests.support.waiting import MovedClock

pytestmark = pytest.mark.django_db

ROW = "2026-09-05,,,Lunch,-9000\n"
PASSWORD = "swordfish-9001"
# Stands in each file; no log may have it.
SECRET = "비밀가게-4711"


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> Any:
    """Collect what all loggers say, and look for words of the files at the end."""
    caplog.set_level(logging.DEBUG)
    yield caplog
    said = "\n".join(map(describe_record, caplog.records))
    said += repr(list(SecurityLogEntry.objects.values()))
    for word in (SECRET, PASSWORD, "Lunch"):
        assert word not in said


def describe_record(record: logging.LogRecord) -> str:
    """Return a line of the log with its fields and its trace; statements apart."""
    if record.name == "django.db.backends":
        return ""
    return logging.Formatter().format(record) + repr(record.__dict__)


def many_rows(count: int) -> bytes:
    return (HEADER + f"2026-09-05,,,{SECRET},-1\n" * count).encode()


def zip_bomb() -> bytes:
    return make_zip({"a.csv": SECRET.encode() + b",2\n" * 40_000_000})


def external_entity() -> bytes:
    head, body = CAMT.split("\n", 1)
    entity = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    return f"{head}\n{entity}{body.replace('Rechnung 7', '&e;')}".encode()


def damaged_workbook() -> bytes:
    return make_xlsx([[SECRET]])[:-300]


UNREADABLE: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "white space": lambda: b" \n\n",
    "a row too many": lambda: many_rows(100_001),
    "zip bomb": zip_bomb,
    "external entity": external_entity,
    "damaged workbook": damaged_workbook,
    "bytes of no encoding": lambda: b"\xff\xfe\xfa" + SECRET.encode() + b"\x80\x81\xff",
    "half of UTF-8": lambda: HEADER.encode() + SECRET.encode()[:-1] + b"\x80\xff,1\n",
    "no table": lambda: SECRET.encode(),
    "a picture": lambda: b"\x89PNG\r\n\x1a\n" + bytes(1_000),
    "no header": lambda: f"{SECRET},y\nz,w\n".encode(),
    "two files in an archive": lambda: make_zip(
        {"a.csv": (HEADER + ROW).encode(), "b.csv": (HEADER + ROW).encode()}
    ),
    "JSON of something else": lambda: b'{"a": 1}',
    "damaged JSON": lambda: b'{"format": "household',
    "deep JSON": lambda: b'{"a":' + b"[" * 100_000,
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_file_that_cannot_be_read(
    client: JSONClient, free_member: Member, name: str
) -> None:
    data = UNREADABLE[name]()
    before = dump_rows_of(free_member)
    answer = upload(client, data)
    assert_problem(answer, 400, "IMPORT_UNREADABLE")
    assert SECRET not in answer.content.decode()
    assert dump_rows_of(free_member) == before


def test_most_rows_are_read() -> None:
    (table,) = reading.read_file(many_rows(100_000))
    assert len(table.rows) == 100_001


def test_reader_that_hangs(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "slow_reader.py"
    program.write_text("import time; time.sleep(60)\n")
    monkeypatch.setattr(reading, "READER_PATH", program)
    monkeypatch.setattr(reading, "TIMEOUT_SECONDS", 0.5)
    assert_problem(upload(client, HEADER + ROW), 400, "IMPORT_UNREADABLE")
    assert not Import.objects.exists()


@pytest.mark.parametrize("is_large", [False, True])
def test_file_beyond_its_size(
    client: JSONClient, free_member: Member, is_large: bool
) -> None:
    """One byte above 10 MB, and a body that is larger than any."""
    size = 10 * 2**20 + (2**17 if is_large else 1)
    before = dump_rows_of(free_member)
    answer = upload(client, bytes(size))
    assert_problem(answer, 413, "PAYLOAD_TOO_LARGE")
    assert dump_rows_of(free_member) == before


@pytest.mark.parametrize("make", [encrypt_xlsx, None])
@pytest.mark.parametrize("fields", [{}, {"password": "wrong"}, {"password": "ü"}])
def test_encrypted_file_without_its_password(
    client: JSONClient, make: Any, fields: dict[str, str]
) -> None:
    if make is None:
        data = make_aes_zip({"a.csv": (HEADER + ROW).encode()}, PASSWORD)
    else:
        data = make(make_xlsx([HEADER.strip().split(","), ROW.split(",")]), PASSWORD)
    answer = upload(client, data, **fields)
    assert_problem(answer, 400, "PASSWORD_NEEDED")
    assert not Import.objects.exists()
    assert read_file(client, data, password=PASSWORD)["counts"]
    assert PASSWORD not in repr(list(Import.objects.values()))


def test_password_that_is_too_long(client: JSONClient) -> None:
    answer = upload(client, HEADER + ROW, password="x" * 1_000)
    assert_invalid(answer, "password")


def test_source_that_is_unknown(client: JSONClient) -> None:
    assert_invalid(upload(client, HEADER + ROW, source="megabank"), "source")
    assert not Import.objects.exists()


@pytest.mark.parametrize("source", ["ofx", "banksalad", "ledger", "kbcard", "qif"])
def test_source_that_does_not_fit(client: JSONClient, source: str) -> None:
    answer = upload(client, HEADER + ROW, source=source)
    assert_problem(answer, 400, "IMPORT_UNREADABLE")
    assert not Import.objects.exists()


def test_source_is_changed_to_one_that_does_not_fit(client: JSONClient) -> None:
    found = read_file(client, HEADER + ROW)
    path = f"{IMPORTS}/{found['id']}"
    for source in ("ofx", "kbcard"):
        answer = client.send("PATCH", path, {"source": source})
        assert_problem(answer, 400, "IMPORT_UNREADABLE")
    assert client.get_json(path) == found


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("0000-01-01,,,x,-1", "date"),
        ("9999-12-31,,,x,-1", "date"),
        ("10000-01-01,,,x,-1", "date"),
        ("2026-02-30,,,x,-1", "date"),
        ("today,,,x,-1", "date"),
        (",,,x,-1", "date"),
        ("2026-09-05,,,x,-1000000000000", "amount"),
        ("2026-09-05,,,x,1e99", "amount"),
        ("2026-09-05,,,x,NaN", "amount"),
        ("2026-09-05,,,x,Infinity", "amount"),
        ("2026-09-05,,,x," + "9" * 5_000, "amount"),
        ("2026-09-05,,,x,much", "amount"),
        ("2026-09-05,,,a\0b,-1", "memo"),
        ("2026-09-05,a\0b,,x,-1", "wallet"),
        ("2026-09-05,,a\0b,x,-1", "category"),
    ],
)
def test_bad_row_is_told_and_the_others_are_imported(
    client: JSONClient, row: str, field: str
) -> None:
    found = read_file(client, f"{HEADER}{ROW}{row}\n2026-09-06,,,Tea,-1\n")
    (bad,) = rows_of(client, found["id"], status="INVALID")
    assert (bad["row"], bad["action"]) == (3, "SKIP")
    (error,) = bad["errors"]
    assert error["field"] == field
    assert error["message"]
    result = commit(client, found["id"])
    assert (result["created"], result["skipped"]) == (2, 1)


def test_row_of_nothing_is_passed_over(client: JSONClient) -> None:
    found = read_file(client, HEADER + ROW + "2026-09-05,,,x,0\n")
    assert found["counts"]["NEW"] == 1
    assert sum(found["passedOver"].values()) == 1


def test_header_that_stands_twice(client: JSONClient) -> None:
    """The second one is a row that cannot be read; columns of one name are two."""
    found = read_file(client, HEADER + ROW + HEADER + "2026-09-06,,,Tea,-1\n")
    assert found["counts"]["NEW"] == 2
    found = read_file(client, "date,memo,memo,amount\n2026-09-05,a,b,-1\n")
    columns = [(each["column"], each["name"]) for each in found["columns"]]
    assert len(columns) == len(dict(columns)) == 4
    assert commit(client, found["id"])["created"] == 1


def test_texts_of_any_length(client: JSONClient) -> None:
    """Cells are cut at what fits: names at 100 characters, memos at 500."""
    name = "가" * 900
    found = read_file(client, f"{HEADER}2026-09-05,{name},{name},{name},-1\n")
    assert commit(client, found["id"])["created"] == 1
    entry = Entry.objects.select_related("wallet", "category").get()
    assert entry.wallet is not None
    assert entry.category is not None
    assert len(entry.memo) == 500
    assert (len(entry.wallet.name), len(entry.category.name)) == (100, 100)


def test_words_that_look_like_formulas_stay_words(client: JSONClient) -> None:
    data = make_xlsx([HEADER.strip().split(","), ["2026-09-05", "", "", "=1+1", -5]])
    found = read_file(client, data)
    assert found["counts"]["INVALID"] == 0


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, ["file"]),
        ({"file": "words"}, ["file"]),
        ({"walletId": "x"}, ["walletId"]),
        ({"walletId": "0"}, ["walletId"]),
        ({"walletId": "9" * 40}, ["walletId"]),
        ({"walletID": "1"}, ["walletID"]),
        ({"balances": "true"}, ["balances"]),
        ({"source": "a\0b"}, ["source"]),
        ({"password": "a\0b"}, ["password"]),
    ],
)
def test_wrong_form_fields(
    client: JSONClient, fields: dict[str, Any], names: list[str]
) -> None:
    if fields and "file" not in fields:
        fields |= {"file": SimpleUploadedFile("any", (HEADER + ROW).encode())}
    answer: Any = client.post(IMPORTS, fields)
    answer.data = answer.json()
    assert_invalid(answer, *names)
    assert not Import.objects.exists()


def make_file() -> SimpleUploadedFile:
    return SimpleUploadedFile("any", (HEADER + ROW).encode())


@pytest.mark.parametrize(
    ("make_fields", "name", "code"),
    [
        (lambda: {"file": [make_file(), make_file()]}, "file", "repeated"),
        (lambda: {"file": make_file(), "other": make_file()}, "other", "unknown"),
        (lambda: {"file": make_file(), "source": ["csv", "x"]}, "source", "repeated"),
    ],
)
def test_parts_of_one_name_and_other_files(
    client: JSONClient, make_fields: Callable[[], dict[str, Any]], name: str, code: str
) -> None:
    answer: Any = client.post(IMPORTS, make_fields())
    answer.data = answer.json()
    assert_invalid(answer, name)
    assert answer.data["errors"][0]["code"] == code
    assert not Import.objects.exists()


@pytest.mark.parametrize("kept", [0, 40, 120, 250, -300, -30, -4])
def test_body_that_is_cut_off(client: JSONClient, kept: int) -> None:
    file = SimpleUploadedFile("any", (HEADER + ROW * 50).encode())
    body = encode_multipart(BOUNDARY, {"file": file})
    answer: Any = client.generic("POST", IMPORTS, body[:kept], MULTIPART_CONTENT)
    assert_problem(answer, 400, answer.json()["code"])
    assert not Import.objects.exists()


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "text/csv", "application/x-www-form-urlencoded", ""],
)
def test_wrong_content_type(client: JSONClient, content_type: str) -> None:
    answer: Any = client.generic("POST", IMPORTS, HEADER + ROW, content_type)
    assert_problem(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    "content_type", ["multipart/form-data", "multipart/form-data; boundary=é"]
)
def test_form_without_its_boundary(client: JSONClient, content_type: str) -> None:
    answer: Any = client.generic("POST", IMPORTS, HEADER + ROW, content_type)
    assert_problem(answer, 400, "VALIDATION_ERROR")


def test_imports_of_another_member(client: JSONClient, other_member: Member) -> None:
    found = read_file(JSONClient(other_member), HEADER + ROW)
    before = dump_rows_of(other_member)
    for method, suffix, body in (
        ("PATCH", "", {"balances": True}),
        ("PATCH", "/rows", [{"row": 2, "action": "SKIP"}]),
        ("POST", "/commit", None),
        ("DELETE", "", None),
    ):
        answer = client.send(method, f"{IMPORTS}/{found['id']}{suffix}", body)
        assert_problem(answer, 404, "NOT_FOUND")
    assert dump_rows_of(other_member) == before


def test_files_that_are_too_large_together(
    client: JSONClient, free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = read_file(client, HEADER + ROW)
    size = Import.objects.get().stored_bytes
    monkeypatch.setattr(storing, "MAX_STORED_BYTES", 2 * size - 1)
    before = dump_rows_of(free_member)
    assert_problem(upload(client, HEADER + ROW), 409, "LIMIT_REACHED")
    assert dump_rows_of(free_member) == before
    # A committed file is kept no more.
    commit(client, first["id"])
    read_file(client, HEADER + ROW)


def test_rows_beyond_the_entries_of_a_ledger(
    client: JSONClient, free_member: Member
) -> None:
    found = read_file(client, HEADER + ROW + "2026-09-06,New,Food,Tea,-1\n")
    Ledger.objects.owned_by(free_member).update(income_count=499_999)
    before = dump_rows_of(free_member)
    answer = client.send("POST", f"{IMPORTS}/{found['id']}/commit")
    assert_problem(answer, 409, "LIMIT_REACHED")
    assert dump_rows_of(free_member) == before
    Ledger.objects.owned_by(free_member).update(income_count=0)
    commit(client, found["id"])


def test_more_wallets_than_a_ledger_has(
    client: JSONClient, free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.base.quotas.MAX_ROWS", {Wallet: 1})
    rows = "".join(f"2026-09-05,Wallet {n},,x,-1\n" for n in range(2))
    found = read_file(client, HEADER + rows)
    before = dump_rows_of(free_member)
    answer = client.send("POST", f"{IMPORTS}/{found['id']}/commit")
    assert_problem(answer, 409, "LIMIT_REACHED")
    assert dump_rows_of(free_member) == before


def make_row(day: int) -> str:
    return f"2026-09-{day:02},,,Row {day},-1\n"


def test_more_entries_than_imports_make_in_a_day(
    client: JSONClient, free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committing, "MAX_ENTRIES_A_DAY", 3)
    first = read_file(client, HEADER + make_row(1) + make_row(2))
    second = read_file(client, HEADER + make_row(3) + make_row(4))
    commit(client, first["id"])
    before = dump_rows_of(free_member)
    answer = client.send("POST", f"{IMPORTS}/{second['id']}/commit")
    assert_problem(answer, 429, "RATE_LIMITED")
    assert 0 < int(answer.headers["Retry-After"]) <= 86_400
    assert dump_rows_of(free_member) == before
    # Tomorrow.
    rows = Operation.objects.filter(kind=OperationKind.IMPORT)
    rows.update(at=timezone.now() - timedelta(days=1, seconds=1))
    commit(client, second["id"])


def test_all_turns_to_read_are_taken(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concurrency_limits, "time", MovedClock())
    with ExitStack() as stack:
        for number in range(concurrency_limits.MAX_READERS):
            stack.enter_context(lease(f"reader slot {number}"))
        answer = upload(client, HEADER + ROW)
    assert_problem(answer, 503, "SERVICE_UNAVAILABLE")
    assert int(answer.headers["Retry-After"]) > 0
    assert not Import.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_database_that_fails_while_turns_are_taken(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        raise OperationalError(name)

    with monkeypatch.context() as patch:
        patch.setattr(concurrency_limits, "acquire_lease", fail)
        answer = upload(client, HEADER + ROW)
    assert_problem(answer, 503, "SERVICE_UNAVAILABLE")
    assert int(answer.headers["Retry-After"]) > 0
    assert not Import.objects.exists()


def test_valkey_that_is_down(client: JSONClient) -> None:
    """Turns are rows of the database: a file is read as ever."""
    with redis_at(f"redis://127.0.0.1:{find_closed_port()}/0"):
        found = read_file(client, HEADER + ROW)
        commit(client, found["id"])
    assert Entry.objects.count() == 1
