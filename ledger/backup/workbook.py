"""Opens an uploaded backup, xlsx or JSON, and yields the rows of its sheets.

The file is untrusted: the declared sizes of an archive are checked first, then
`ledger.backup.sandboxed_reader` unpacks it in a process that may fail or be killed.
"""

import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, TypeAlias, cast

import orjson
from django.utils.translation import gettext, gettext_lazy

from core.api.unknown_names import (
    MAX_REPORTED_NAMES,
    UNKNOWN,
    describe_unknown_name,
    find_suggestion,
)
from core.errors import DomainError, FieldError
from ledger.backup.columns import SHEETS
from ledger.errors import InvalidBackupError

MAX_PARTS = 200
MAX_TOTAL_BYTES = 160 * 2**20
# 100,000 entries unpack to some 45 MB in one part.
MAX_PART_BYTES = 120 * 2**20
MAX_COMPRESSION_RATIO = 200
# The ratio says nothing about a few bytes.
MIN_COMPRESSED_BYTES = 1_000
MAX_ROWS = 200_000

ZIP_SIGNATURE = b"PK\x03\x04"
ENCRYPTED_FLAG = 0x1
UNREADABLE_MESSAGE = gettext_lazy("This is not a backup that can be read.")
# Errors by their names in the reader.
FILE_ERRORS = {
    "columns": gettext_lazy("The sheet {sheet} has more than {limit} columns."),
    "headers": gettext_lazy("Row 1 of the sheet {sheet} names none of its columns."),
    "json": gettext_lazy("This is neither a workbook (xlsx) nor valid JSON."),
    "list": gettext_lazy("{sheet} must be a list."),
    "object": gettext_lazy("A backup must be an object with a list for each sheet."),
    "repeated": gettext_lazy("The sheet {sheet} has the column {column} twice."),
    "rows": gettext_lazy("The sheet {sheet} has more than {limit} rows."),
    "workbook": gettext_lazy("This is not a workbook (xlsx) that can be read."),
}
READER_PATH = Path(__file__).with_name("sandboxed_reader.py")

# Of a restore, which belong in no body.
QUERY_PARAMETERS = ("dryRun",)

# A kind and a content, see `ledger.backup.sandboxed_reader`.
Frame: TypeAlias = tuple[str, Any]
Row: TypeAlias = list[Any] | dict[str, list[str]] | None


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one sheet, as lists of cells in the order of its columns.

    A row is None if JSON has no object, and `{"unknown": names}` if the object has
    unknown names. With `has_blank_rows`, blank rows are skipped.
    """

    name: str
    rows: Iterator[Row]
    has_blank_rows: bool = False
    # A sheet of a workbook that no backup has; it comes without rows.
    is_unknown: bool = False
    # Of a workbook: columns that the sheet lacks, and others that it has.
    missing_columns: Sequence[str] = ()
    unknown_columns: Sequence[str] = ()


@contextmanager
def open_tables(data: bytes) -> Iterator[Iterator[Table]]:
    """Yield the sheets of a backup, in their order.

    Take all rows of a table before the next table. Raises `InvalidBackupError` for a
    file that is no backup or exceeds a limit, also while rows are taken, and
    `DomainError` for JSON with unknown keys.
    """
    is_workbook = data.startswith(ZIP_SIGNATURE)
    if is_workbook:
        validate_archive(data)
    with _run_reader("xlsx" if is_workbook else "json", data) as frames:
        yield _iter_tables(frames, is_workbook=is_workbook)


def _iter_tables(frames: Iterator[Frame], *, is_workbook: bool) -> Iterator[Table]:
    for kind, content in frames:
        if kind == "sheet":
            name, missing, unknown = content
            yield Table(
                name,
                _iter_rows(frames),
                has_blank_rows=is_workbook,
                missing_columns=missing,
                unknown_columns=unknown,
            )
        elif is_workbook:
            for name in content:
                yield Table(name, iter(()), is_unknown=True)
        else:
            raise _make_unknown_keys_error(content)


def _make_unknown_keys_error(names: Iterable[str]) -> DomainError:
    known = [sheet.name for sheet in SHEETS]
    errors = []
    for name in islice(names, MAX_REPORTED_NAMES):
        suggestion = find_suggestion(name, known, QUERY_PARAMETERS)
        text = describe_unknown_name(suggestion, "" if suggestion in known else "query")
        errors.append(FieldError(name, text, UNKNOWN, suggestion=suggestion))
    return DomainError(errors=tuple(errors))


def _iter_rows(frames: Iterator[Frame]) -> Iterator[Row]:
    for _, rows in frames:
        if not rows:
            return
        yield from rows


def validate_archive(data: bytes) -> None:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        raise InvalidBackupError(UNREADABLE_MESSAGE) from None
    if len(parts) > MAX_PARTS:
        raise InvalidBackupError(gettext("The workbook has too many parts."))
    if sum(part.file_size for part in parts) > MAX_TOTAL_BYTES:
        raise InvalidBackupError(gettext("The workbook is too large."))
    for part in parts:
        name = part.filename
        is_outside = name.startswith(("/", "\\")) or ".." in name or ":" in name
        if part.flag_bits & ENCRYPTED_FLAG or is_outside:
            raise InvalidBackupError(UNREADABLE_MESSAGE)
        compressed_size = max(part.compress_size, MIN_COMPRESSED_BYTES)
        max_size = min(MAX_PART_BYTES, MAX_COMPRESSION_RATIO * compressed_size)
        if part.file_size > max_size:
            raise InvalidBackupError(gettext("The workbook is too large."))


@contextmanager
def _run_reader(kind: str, data: bytes) -> Iterator[Iterator[Frame]]:
    """Yield the frames of a reader process, killed when the block ends."""
    columns = orjson.dumps({sheet.name: sheet.headers for sheet in SHEETS}).decode()
    # -I: environment and working directory change no import.
    command = [sys.executable, "-I", str(READER_PATH), kind, columns, str(MAX_ROWS)]
    # A file and not a pipe: nothing has to feed the process.
    with TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        process = subprocess.Popen(  # noqa: S603  # our own program
            command,
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    with process:
        try:
            yield _iter_frames(cast("IO[bytes]", process.stdout))
        finally:
            process.kill()


def _iter_frames(output: IO[bytes]) -> Iterator[Frame]:
    for line in output:
        try:
            kind, content = orjson.loads(line)
        except orjson.JSONDecodeError:
            break  # cut off in the middle of a line
        if kind == "error":
            name, values = content
            raise InvalidBackupError(FILE_ERRORS[name].format(**values))
        if kind == "end":
            return
        yield kind, content
    raise InvalidBackupError(UNREADABLE_MESSAGE)
