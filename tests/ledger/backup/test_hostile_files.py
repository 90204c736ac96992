"""Hostile files are rejected quickly, in bounded memory, and change nothing."""

import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from accounts.models import Member
from core.leases.holding import lease
from ledger.backup import concurrency_limits, sandboxed_reader, workbook
from tests.support.clients import JSONClient
from tests.support.factories import dump_rows_of, make_entry
from tests.support.niceness import read_niceness_at_work
from tests.support.waiting import MovedClock
from tests.support.workbooks import BACKUP, ENTRY, WHOLE, make_xlsx, send_json, upload

pytestmark = pytest.mark.django_db

GOOD = make_xlsx(WHOLE)
MOST_SECONDS = 10.0
MOST_MEGABYTES = 100


@dataclass
class Growth:
    megabytes: float = 0.0


@contextmanager
def memory_growth() -> Iterator[Growth]:
    """Measure how far the peak of this process rises above its present size (Linux)."""
    grown, status = Growth(), Path("/proc/self/status")

    def read(name: str) -> float:
        return int(status.read_text().split(f"{name}:")[1].split()[0]) / 1024

    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = read("VmRSS")
    yield grown
    grown.megabytes = read("VmHWM") - before


def repack(changes: Any, *, extra: Any = (), source: Any = GOOD) -> bytes:
    """Return the good workbook with some parts replaced or added."""
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


@cache
def string_bomb() -> bytes:
    text = "<si><t>" + "A" * 300_000_000 + "</t></si>"
    return repack({}, extra=[("xl/sharedStrings.xml", f"<sst>{text}</sst>")])


def with_declared_sizes(data: bytes, size: int) -> bytes:
    """Return an archive that claims that each part unpacks to `size` bytes."""
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
HOSTILE: dict[str, Callable[[], bytes]] = {
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
def test_hostile_file_is_rejected_and_changes_nothing(
    name: Any, premium_member: Member
) -> None:
    make_entry(premium_member)
    client = JSONClient(premium_member)
    data, before = HOSTILE[name](), dump_rows_of(premium_member)
    started = sum(os.times()[:4])

    with memory_growth() as grown:
        response = upload(client, data)

    assert response.status_code in {400, 413}, response.content
    assert response.data["code"] in {"INVALID_BACKUP", "PAYLOAD_TOO_LARGE"}
    # Processor time of this process and of the readers that have ended.
    assert sum(os.times()[:4]) - started < MOST_SECONDS
    assert grown.megabytes < MOST_MEGABYTES
    assert dump_rows_of(premium_member) == before


@pytest.mark.django_db(transaction=True)  # it may take longer than a lease
def test_memory_for_a_large_backup_is_bounded(premium_member: Member) -> None:
    client = JSONClient(premium_member)
    book = {"entries": [ENTRY | {"memo": f"memo {n}"} for n in range(20_000)]}
    data = make_xlsx(book)
    with memory_growth() as grown:
        assert upload(client, data).status_code == 200
    assert grown.megabytes < MOST_MEGABYTES
    with memory_growth() as grown:
        assert sum(map(len, client.get(BACKUP))) > 2**18
    assert grown.megabytes < MOST_MEGABYTES


def test_reader_limits_its_memory_and_cpu_time() -> None:
    program = (
        "import resource, runpy, sys; reader = runpy.run_path(sys.argv[1]);"
        " reader['set_resource_limits']();"
        " print(*(resource.getrlimit(each)[1] for each in"
        " (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE)))"
    )
    path = str(Path(sandboxed_reader.__file__))
    command = [sys.executable, "-I", "-c", program, path]
    found = subprocess.run(command, capture_output=True, check=True).stdout.split()
    assert list(map(int, found)) == [
        sandboxed_reader.MAX_MEMORY_BYTES,
        sandboxed_reader.MAX_CPU_SECONDS,
        0,
    ]


def test_too_many_rows_are_rejected(premium_member: Member) -> None:
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="b"><v>1</v></c></row>' for n in range(2, 200_003)
    )
    cells = '<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row>' + rows
    response = upload(JSONClient(premium_member), repack({SHEET: sheet_of(cells)}))
    assert response.status_code == 400
    assert "more than 200000 rows" in response.data["detail"]


def test_formula_is_read_as_its_cached_value(
    premium_member: Member,
) -> None:
    cells = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row>'
        '<row r="2"><c r="A2" t="str"><f>CONCAT("a","b")</f><v>ab</v></c></row>'
    )
    tags = make_xlsx({"tags": []})
    client = JSONClient(premium_member)
    data = repack({SHEET: sheet_of(cells)}, source=tags)
    assert upload(client, data).status_code == 200
    assert [tag["name"] for tag in client.get_json("/api/account/tags")] == ["ab"]


@contextmanager
def held(name: str, count: int) -> Iterator[None]:
    """Hold the first leases of a name during the block."""
    with ExitStack() as stack:
        for number in range(count):
            assert stack.enter_context(lease(f"{name} {number}"))
        yield


def test_third_reader_gets_503_after_waiting(
    premium_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = MovedClock()
    monkeypatch.setattr(concurrency_limits, "time", clock)
    client = JSONClient(premium_member)
    with held("reader slot", concurrency_limits.MAX_READERS - 1):
        assert send_json(client, WHOLE).status_code == 200
    with held("reader slot", concurrency_limits.MAX_READERS):
        response = send_json(client, WHOLE)
    assert concurrency_limits.QUEUE_TIMEOUT_SECONDS <= clock.now < 11
    assert response.status_code == 503
    assert response.headers["Retry-After"]
    assert send_json(client, WHOLE).status_code == 200


def test_backup_gets_503_while_a_process_writes_as_many_as_it_may(
    premium_member: Member,
) -> None:
    # Large ones of one member would hold all of its threads for seconds.
    client = JSONClient(premium_member)
    with ExitStack() as stack:
        for _ in range(concurrency_limits.MAX_EXPORTS):
            assert b"".join(client.get(BACKUP)).startswith(b"PK")
            stack.enter_context(concurrency_limits.export_slot())
        refused = client.get(BACKUP)
        assert refused.status_code == 503
        assert b"SERVICE_UNAVAILABLE" in refused.content
        assert refused.headers["Retry-After"]
    assert b"".join(client.get(BACKUP)).startswith(b"PK")


def test_restore_waits_for_a_place_to_read(
    premium_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as others:
        others.enter_context(held("reader slot", concurrency_limits.MAX_READERS))
        clock = MovedClock(then=others.close)
        monkeypatch.setattr(concurrency_limits, "time", clock)
        assert send_json(JSONClient(premium_member), WHOLE).status_code == 200
    assert len(clock.naps) == 1


def test_restore_gets_503_at_once_if_the_queue_is_full(
    premium_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = MovedClock()
    monkeypatch.setattr(concurrency_limits, "time", clock)
    with (
        held("reader slot", concurrency_limits.MAX_READERS),
        held("reader queue", concurrency_limits.MAX_QUEUED_READERS),
    ):
        assert send_json(JSONClient(premium_member), WHOLE).status_code == 503
    assert clock.naps == []


@pytest.mark.parametrize(
    "name", ["old xls", "csv renamed", "pdf", "deep json", "nothing"]
)
def test_file_of_another_kind_is_neither_a_workbook_nor_json(
    name: str, premium_member: Member
) -> None:
    response = upload(JSONClient(premium_member), HOSTILE[name]())
    detail = "This is neither a workbook (xlsx) nor valid JSON."
    assert response.data["detail"] == detail


def test_reader_lets_the_requests_of_others_go_first() -> None:
    command = [sys.executable, "-I", str(workbook.READER_PATH), "json", "{}", "9"]
    assert read_niceness_at_work(command) == sandboxed_reader.NICENESS > 0
