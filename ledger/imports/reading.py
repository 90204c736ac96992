"""Reads an uploaded file to tables, in a process that may fail or be killed.

The kind is found by the content. `ledger.imports.formats.statement_columns` has the
first rows of the tables of formats that are no tables.
"""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

import orjson
from django.utils.translation import gettext_lazy

from ledger.backup.concurrency_limits import reader_slot
from ledger.imports.errors import PasswordNeededError, UnreadableFileError
from ledger.imports.records import Cell, Table

MAX_FILE_BYTES = 10 * 2**20
# Longer than the reader's limit of processor time, on a busy machine.
TIMEOUT_SECONDS = 45.0
READER_PATH = Path(__file__).with_name("file_reader.py")

# Errors by their names in the reader.
FILE_ERRORS = {
    "cells": gettext_lazy("The file has more than {limit} cells."),
    "columns": gettext_lazy("A table has more than {limit} columns."),
    "damaged": gettext_lazy("The file is damaged: it cannot be read to its end."),
    "empty": gettext_lazy("The file is empty."),
    "encoding": gettext_lazy("The text is neither UTF-8, UTF-16 nor CP949."),
    "encryption": gettext_lazy(
        "This kind of encryption cannot be read. Save the file without a password."
    ),
    "entities": gettext_lazy("XML with a document type is not read."),
    "files": gettext_lazy("The archive has more than {limit} files."),
    "kind": gettext_lazy(
        "This kind of file cannot be read. CSV, XLSX, XLS, ODS, HTML, OFX, QIF,"
        " CAMT.053, MT940, our own export, and a zip with one of them can be."
    ),
    "rows": gettext_lazy("The file has more than {limit} rows."),
    "several": gettext_lazy("The archive has {count} files: upload one at a time."),
    "size": gettext_lazy("The content of the file is too large."),
    "tables": gettext_lazy("The file has more than {limit} tables."),
    "time": gettext_lazy("Reading the file takes too long."),
}

# Without memory, libraries that are not of Python abort.
_SIGNALS: dict[int, str] = {
    signal.SIGXCPU: "time",
    signal.SIGKILL: "time",
    signal.SIGABRT: "size",
}

# A kind and a content, see `ledger.imports.file_reader`.
Frame: TypeAlias = tuple[str, Any]


def read_file(data: bytes, password: str | None = None) -> list[Table]:
    """Return the tables of a file of at most 10 MB, in their order.

    Raises `UnreadableFileError` with a reason, `PasswordNeededError`, and
    `BackupsBusyError` (503) if as many readers as may be are at work.
    """
    if len(data) > MAX_FILE_BYTES:
        raise _make_error("size")
    tables: list[Table] = []
    rows: list[list[Cell]] = []
    with reader_slot(), _run_reader(data, password) as frames:
        for kind, content in frames:
            if kind == "table":
                rows = []
                tables.append(Table(content[0], content[1], rows))
            else:
                rows += content
    return tables


@contextmanager
def _run_reader(data: bytes, password: str | None) -> Iterator[Iterator[Frame]]:
    """Yield the frames of a reader process, killed when the block ends."""
    process = subprocess.Popen(  # noqa: S603  # our own program
        # -I: environment and working directory change no import.
        [sys.executable, "-I", str(READER_PATH)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    timer = threading.Timer(TIMEOUT_SECONDS, process.kill)
    with process:
        timer.start()
        try:
            # It reads all of its input before it writes. If it dies, no frame follows.
            with suppress(BrokenPipeError):
                _send_input(cast("IO[bytes]", process.stdin), data, password)
            yield _iter_frames(process)
        finally:
            timer.cancel()
            process.kill()


def _send_input(stdin: IO[bytes], data: bytes, password: str | None) -> None:
    with stdin:
        stdin.write(orjson.dumps(password) + b"\n")
        stdin.write(data)


def _iter_frames(process: subprocess.Popen[bytes]) -> Iterator[Frame]:
    for line in cast("IO[bytes]", process.stdout):
        try:
            kind, content = orjson.loads(line)
        except orjson.JSONDecodeError:
            break  # cut off in the middle of a line
        if kind == "error":
            name, values = content
            raise _make_error(name, **values)
        if kind == "password":
            raise PasswordNeededError(wrong=content)
        if kind == "end":
            return
        yield kind, content
    # The system ends a process that exceeds its processor time, the timer any other.
    raise _make_error(_SIGNALS.get(-process.wait(), "damaged"))


def _make_error(name: str, **values: Any) -> UnreadableFileError:
    return UnreadableFileError(FILE_ERRORS[name].format(**values))
