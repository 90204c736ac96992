"""Files made to harm: refused, quickly, in bounded memory, with nothing changed."""

import io
import resource
import time
import zipfile
from typing import Any

import pytest
from openpyxl import Workbook

from tests.clients import JSONClient
from tests.factories import make_entry
from tests.ledger.backup.books import WHOLE, make_xlsx, send_json, upload
from tests.test_isolation import dump_rows_of

pytestmark = pytest.mark.django_db

GOOD = make_xlsx(WHOLE)
MOST_SECONDS = 3.0
MOST_MEGABYTES = 100


def repack(changes, *, extra=(), source=GOOD) -> bytes:
    """The good workbook with some parts replaced or added."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(source)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.infolist():
            new.writestr(part.filename, changes.get(part.filename, old.read(part)))
        for name, data in extra:
            new.writestr(name, data)
    return file.getvalue()


def sheet_of(cells: str) -> str:
    return (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f"<sheetData>{cells}</sheetData></worksheet>"
    )


def far_cell(place: str) -> bytes:
    workbook = Workbook()
    sheet: Any = workbook.active
    sheet.title = "entries"
    sheet["A1"], sheet[place] = "date", "x"
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def string_bomb() -> bytes:
    text = "<si><t>" + "A" * 300_000_000 + "</t></si>"
    return repack({}, extra=[("xl/sharedStrings.xml", f"<sst>{text}</sst>")])


def with_declared_sizes(data: bytes, size: int) -> bytes:
    """The archive claims that each part unpacks to `size` bytes."""
    changed = bytearray(data)
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = changed.find(signature)
        while at != -1:
            changed[at + offset : at + offset + 4] = size.to_bytes(4, "little")
            at = changed.find(signature, at + 4)
    return bytes(changed)


def billion_laughs() -> str:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE x [<!ENTITY a0 "ha">{entities}]>' + sheet_of(
        '<row r="1"><c r="A1" t="inlineStr"><is><t>&a9;</t></is></c></row>'
    )


SHEET = "xl/worksheets/sheet1.xml"
HOSTILE = {
    "string bomb": string_bomb,
    "lying sizes of a bomb": lambda: with_declared_sizes(string_bomb(), 500),
    "cell at the far corner": lambda: far_cell("XFD1048576"),
    "row too far": lambda: far_cell("A1048576"),
    "column too far": lambda: far_cell("XFD2"),
    "10 000 parts": lambda: repack({}, extra=[(f"x/{n}", b"") for n in range(10_000)]),
    "name that leads out": lambda: repack({}, extra=[("../x", b"")]),
    "absolute name": lambda: repack({}, extra=[("/etc/x", b"")]),
    "billion laughs": lambda: repack({SHEET: billion_laughs()}),
    "broken xml": lambda: repack({SHEET: "<worksheet><sheetData><row"}),
    "truncated": lambda: GOOD[: len(GOOD) // 2],
    "cut short at the end": lambda: GOOD[:-30],
    "old xls": lambda: bytes.fromhex("d0cf11e0a1b11ae1") + bytes(5_000),
    "csv renamed": lambda: b"date,type\n2026-01-01,expense\n",
    "zip that is no workbook": lambda: repack({}, source=empty_zip()),
    "pdf": lambda: b"%PDF-1.7\n" + bytes(1_000),
    "nothing": lambda: b"",
    "deep json": lambda: b"[" * 5_000_000,
    "many small json values": lambda: b"[" + b"[]," * 3_000_000 + b"[]]",
    "json of another shape": lambda: b'{"entries": {"0": {}}}',
    "json with NaN": lambda: b'{"entries": [{"amount": NaN}]}',
    "long number": lambda: b'{"entries": [{"amount": ' + b"9" * 5_000 + b"}]}",
}


def empty_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("hello.txt", "hello")
    return file.getvalue()


def encrypted() -> bytes:
    data = bytearray(GOOD)
    at = data.find(b"PK\x01\x02")
    data[at + 8] |= 1
    return bytes(data)


HOSTILE["encrypted"] = encrypted


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_refused_and_harms_nothing(name, premium_member):
    make_entry(premium_member)
    client = JSONClient(premium_member)
    data, before = HOSTILE[name](), dump_rows_of(premium_member)
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()

    response = upload(client, data)

    assert response.status_code in {400, 413}, response.content
    assert response.data["code"] in {"INVALID_BACKUP", "PAYLOAD_TOO_LARGE"}
    assert time.monotonic() - started < MOST_SECONDS
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size
    assert grown < MOST_MEGABYTES * 1024
    assert dump_rows_of(premium_member) == before


def test_too_many_rows_are_refused(premium_member):
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="b"><v>1</v></c></row>' for n in range(1, 200_003)
    )
    response = upload(JSONClient(premium_member), repack({SHEET: sheet_of(rows)}))
    assert response.status_code == 400
    assert "more than 200000 rows" in response.data["detail"]


def test_formula_is_read_as_the_value_that_the_file_holds(premium_member):
    cells = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row>'
        '<row r="2"><c r="A2" t="str"><f>CONCAT("a","b")</f><v>ab</v></c></row>'
    )
    tags = make_xlsx({"tags": []})
    client = JSONClient(premium_member)
    data = repack({SHEET: sheet_of(cells)}, source=tags)
    assert upload(client, data).status_code == 200
    assert [tag["name"] for tag in client.read("/api/account/tags")] == ["ab"]


def test_readers_are_two_at_once_and_a_third_is_told_to_come_back(premium_member):
    from django.db import connections

    from ledger.backup.turns import READING_TURNS

    client = JSONClient(premium_member)
    other = connections["default"].copy()
    try:
        with other.cursor() as cursor:
            cursor.execute(f"SELECT pg_advisory_lock({READING_TURNS}, 0)")
            assert send_json(client, WHOLE).status_code == 200
            cursor.execute(f"SELECT pg_advisory_lock({READING_TURNS}, 1)")
            response = send_json(client, WHOLE)
            cursor.execute("SELECT pg_advisory_unlock_all()")
    finally:
        other.close()
    assert response.status_code == 503
    assert response.headers["Retry-After"]
