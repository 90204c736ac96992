"""Files are read in a process of their own: bounded, killed, and without secrets."""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from core.leases.holding import lease
from ledger.backup import concurrency_limits, sandboxed_reader
from ledger.errors import BackupsBusyError
from ledger.imports import reading
from ledger.imports.errors import PasswordNeededError, UnreadableFileError
from ledger.imports.reading import FILE_ERRORS, read_file
from ledger.imports.records import Table
from tests.support.import_samples import (
    CAMT,
    HEADER,
    TEXT_ROWS,
    encrypt_xlsx,
    make_csv,
    make_xlsx,
    make_zip,
    repack_zip,
)
from tests.support.niceness import read_niceness_at_work
from tests.support.waiting import MovedClock

pytestmark = pytest.mark.django_db

PASSWORD = "900101"
FORMATS = Path(reading.READER_PATH).with_name("formats")


def test_file_is_read_to_tables() -> None:
    assert read_file(make_csv().encode()) == [Table("csv", "", TEXT_ROWS)]
    tables = read_file(make_xlsx())
    assert [(table.kind, table.name, len(table.rows)) for table in tables] == [
        ("xlsx", "거래내역", 3)
    ]


def test_rows_of_several_frames_are_one_table() -> None:
    rows = [HEADER, *(["2026-09-05", str(n), "1", ""] for n in range(5_000))]
    table = read_file(make_csv(rows).encode())[0]
    assert len(table.rows) == 5_001
    assert table.rows[-1][1] == "4999"


@pytest.mark.parametrize(("password", "is_wrong"), [(None, False), ("1", True)])
def test_encrypted_file_needs_its_password(
    password: str | None, is_wrong: bool
) -> None:
    data = encrypt_xlsx(make_xlsx(), PASSWORD)
    with pytest.raises(PasswordNeededError) as error:
        read_file(data, password)
    assert error.value.wrong is is_wrong
    assert read_file(data, PASSWORD)[0].rows[0] == HEADER


def billion_laughs() -> str:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE x [<!ENTITY a0 "ha">{entities}]>'


def with_doctype(doctype: str, text: str) -> bytes:
    head, body = CAMT.split("\n", 1)
    return f"{head}\n{doctype}{body.replace('Rechnung 7', text)}".encode()


def external_entity() -> bytes:
    return with_doctype('<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>', "&e;")


def string_bomb() -> bytes:
    text = f"<sst><si><t>{'A' * 300_000_000}</t></si></sst>"
    return repack_zip(make_xlsx(), {"xl/sharedStrings.xml": text})


def with_declared_sizes(data: bytes, size: int) -> bytes:
    """Return an archive that claims that each part unpacks to `size` bytes."""
    changed = bytearray(data)
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = changed.find(signature)
        while at != -1:
            changed[at + offset : at + offset + 4] = size.to_bytes(4, "little")
            at = changed.find(signature, at + 4)
    return bytes(changed)


def sheet_of(cells: str) -> dict[str, str]:
    name = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{name}"><sheetData>{cells}</sheetData></worksheet>'
    return {"xl/worksheets/sheet1.xml": sheet}


def far_cells() -> bytes:
    cells = (
        '<row r="1"><c r="A1" t="b"><v>1</v></c></row>'
        '<row r="1048576"><c r="XFD1048576" t="b"><v>1</v></c></row>'
    )
    return repack_zip(make_xlsx(), sheet_of(cells))


HOSTILE: dict[str, tuple[set[str], Callable[[], bytes]]] = {
    "external entity": ({"entities"}, external_entity),
    "billion laughs": ({"entities"}, lambda: with_doctype(billion_laughs(), "&a9;")),
    "string bomb": ({"size"}, string_bomb),
    "lying sizes of a bomb": (
        {"size", "damaged"},
        lambda: with_declared_sizes(string_bomb(), 500),
    ),
    "zip bomb": ({"size"}, lambda: make_zip({"a.csv": b"1,2\n" * 20_000_000})),
    "cells in far corners": ({"columns", "size", "damaged"}, far_cells),
    "deeply nested html": ({"damaged"}, lambda: b"<table><tr><td>" * 300_000),
    "many html cells": ({"columns"}, lambda: b"<table><tr>" + b"<td>x" * 1_000_000),
    "spans of html": (
        {"columns"},
        lambda: b"<table><tr>" + b"<td colspan=64 rowspan=99999>x" * 100_000,
    ),
    "many commas": ({"columns"}, lambda: b"a,b\n" + b"," * 1_000_000 + b"x"),
    "one long cell": ({"kind"}, lambda: b'a,b\n"' + b"x" * 9_000_000 + b'",1\n'),
    "too many cells": ({"cells"}, lambda: b"x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x\n" * 100_000),
    "too large": ({"size"}, lambda: bytes(reading.MAX_FILE_BYTES + 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_refused_in_little_time(name: str) -> None:
    reasons, make = HOSTILE[name]
    data = make()
    with pytest.raises(UnreadableFileError) as error:
        read_file(data)
    texts = {
        re.sub(r"\\\{\w+\\\}", ".+", re.escape(str(FILE_ERRORS[r]))) for r in reasons
    }
    assert any(re.fullmatch(text, error.value.reason) for text in texts), error.value


def test_entities_of_a_workbook_are_not_expanded() -> None:
    cell = '<row r="1"><c r="A1" t="inlineStr"><is><t>&a9;</t></is></c></row>'
    [(name, sheet)] = sheet_of(cell).items()
    with pytest.raises(UnreadableFileError) as error:
        read_file(repack_zip(make_xlsx(), {name: billion_laughs() + sheet}))
    assert error.value.reason == str(FILE_ERRORS["damaged"])


def slow_workbook() -> bytes:
    """Return an encrypted workbook whose key takes as long to derive as it may."""
    data = encrypt_xlsx(make_xlsx(), PASSWORD)
    old, declaration = b'spinCount="100000"', b' standalone="yes"'
    assert data.count(old) == 1
    slow = data.replace(old, b'spinCount="10000000"')
    # The stream keeps its length.
    assert slow.count(declaration) >= 1
    at = slow.index(declaration)
    end = at + len(declaration)
    return slow[:at] + b" " * (len(declaration) - 2) + slow[end:]


def test_workbook_that_hangs_its_reader_ends_by_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "TIMEOUT_SECONDS", 2.0)
    with pytest.raises(UnreadableFileError) as error:
        read_file(slow_workbook(), PASSWORD)
    assert error.value.reason == str(FILE_ERRORS["time"])


def test_workbook_that_hangs_its_reader_ends_by_the_processor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The real program, with one second instead of 20.
    program = tmp_path / "short_reader.py"
    root = str(reading.READER_PATH.parents[2])
    program.write_text(
        f"import sys; sys.path.append({root!r})\n"
        "from ledger.backup import sandboxed_reader\n"
        "from ledger.imports.file_reader import main\n"
        "sandboxed_reader.MAX_CPU_SECONDS = 1\n"
        "main()\n"
    )
    monkeypatch.setattr(reading, "READER_PATH", program)
    with pytest.raises(UnreadableFileError) as error:
        read_file(slow_workbook(), PASSWORD)
    assert error.value.reason == str(FILE_ERRORS["time"])


def test_reader_that_dies_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "dead_reader.py"
    program.write_text("import sys; sys.exit(1)\n")
    monkeypatch.setattr(reading, "READER_PATH", program)
    with pytest.raises(UnreadableFileError) as error:
        read_file(b"x" * 5_000_000)
    assert error.value.reason == str(FILE_ERRORS["damaged"])


def test_reader_lets_the_requests_of_others_go_first() -> None:
    command = [sys.executable, "-I", str(reading.READER_PATH)]
    assert read_niceness_at_work(command) == sandboxed_reader.NICENESS > 0


def test_password_is_in_no_argument_and_no_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[tuple[Any, dict[str, Any]]] = []
    real = subprocess.Popen

    def start(command: Any, **options: Any) -> Any:
        started.append((command, options))
        return real(command, **options)

    monkeypatch.setattr(subprocess, "Popen", start)
    read_file(encrypt_xlsx(make_xlsx(), PASSWORD), PASSWORD)
    [(command, options)] = started
    assert PASSWORD not in repr(command) + repr(options)
    assert options["stdin"] == subprocess.PIPE
    assert options["stderr"] == subprocess.DEVNULL


def held_slots(stack: ExitStack) -> None:
    for number in range(concurrency_limits.MAX_READERS):
        assert stack.enter_context(lease(f"reader slot {number}"))


def test_reader_waits_for_its_turn_and_then_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = MovedClock()
    monkeypatch.setattr(concurrency_limits, "time", clock)
    with ExitStack() as stack:
        held_slots(stack)
        with pytest.raises(BackupsBusyError) as error:
            read_file(make_csv().encode())
    assert error.value.status == 503
    assert error.value.headers["Retry-After"]
    assert read_file(make_csv().encode())


def test_turn_is_given_back_after_an_error() -> None:
    for _ in range(concurrency_limits.MAX_READERS + 1):
        with pytest.raises(UnreadableFileError):
            read_file(b"")


def test_every_error_of_the_reader_has_its_text() -> None:
    names = {
        name
        for path in FORMATS.glob("*.py")
        for name in re.findall(r'InvalidFileError\(\s*"(\w+)"', path.read_text("utf-8"))
    }
    assert names <= set(FILE_ERRORS)
    # Named by the service itself.
    assert set(FILE_ERRORS) - names == {"time"}


def test_reader_needs_neither_django_nor_a_database() -> None:
    program = (
        "import sys; sys.path.append(sys.argv[1]);"
        " from ledger.imports.formats import contents, camt053, mt940, ofx;"
        " print(*(name for name in sys.modules if name.startswith(('django', 'psycopg'))))"
    )
    root = str(reading.READER_PATH.parents[2])
    command = [sys.executable, "-I", "-c", program, root]
    found = subprocess.run(command, capture_output=True, check=True, text=True)
    assert found.stdout.strip() == ""


def test_no_reader_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    processes: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> Any:
        processes.append(real(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    before = threading.active_count()
    with pytest.raises(UnreadableFileError):
        read_file(b"hello")
    assert all(process.poll() is not None for process in processes)
    for _ in range(100):
        if threading.active_count() <= before:
            break
        time.sleep(0.01)
    assert threading.active_count() <= before
