"""Reads an uploaded backup, xlsx or JSON, into plain rows.

The file is untrusted: its declared sizes are checked first, then a process of its own
unpacks it (`ledger.backup.sandboxed_reader`), which may fail or be killed.
"""

import json
import marshal
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, cast

from ledger.backup.columns import SHEETS
from ledger.errors import InvalidBackupError

MAX_PARTS = 200
MAX_TOTAL_BYTES = 160 * 2**20
MAX_PART_BYTES = 120 * 2**20
"""100,000 entries unpack to some 45 MB in one part."""
MAX_COMPRESSION_RATIO = 200
MAX_ROWS = 200_000
"""In one sheet."""

ZIP_SIGNATURE = b"PK\x03\x04"
ENCRYPTED_FLAG = 0x1
UNREADABLE_MESSAGE = "This is not a backup that can be read."
Frame = tuple[Any, ...]
_FRAME_LENGTH = struct.Struct("<I")
_READER_PATH = Path(__file__).with_name("sandboxed_reader.py")


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one sheet, as cells in the order of its columns.

    A row is None where JSON holds no object. `has_blanks`: rows of a sheet may be
    empty, and are no rows then.
    """

    name: str
    rows: Iterator[list[Any] | None]
    has_blanks: bool


@contextmanager
def open_tables(data: bytes) -> Iterator[Iterator[Table]]:
    """The sheets of a backup, in their order; take each one's rows before the next.

    Raises `InvalidBackupError` for a file that is none, or asks for too much, also while
    its rows are taken.
    """
    kind = "json"
    if data.startswith(ZIP_SIGNATURE):
        kind = "xlsx"
        validate_archive(data)
    with _run_reader(kind, data) as frames:
        yield _iter_tables(frames, has_blanks=kind == "xlsx")


def _iter_tables(frames: Iterator[Frame], *, has_blanks: bool) -> Iterator[Table]:
    frame = next(frames)
    while frame[0] == "sheet":
        rows = _SheetRows(frames)
        yield Table(frame[1], iter(rows), has_blanks)
        frame = rows.next_frame
    _raise_if_rejected(frame)


class _SheetRows:
    """The rows up to the frame `after` them."""

    def __init__(self, frames: Iterator[Frame]) -> None:
        self.frames = frames
        self.next_frame: Frame = ("end",)

    def __iter__(self) -> Iterator[list[Any] | None]:
        for frame in self.frames:
            if frame[0] != "rows":
                self.next_frame = frame
                _raise_if_rejected(frame)
                return
            yield from frame[1]


def _raise_if_rejected(frame: Frame) -> None:
    if frame[0] == "refused":
        raise InvalidBackupError(frame[1])


def validate_archive(data: bytes) -> None:
    """Refuse a zip archive by what it declares about itself."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        raise InvalidBackupError(UNREADABLE_MESSAGE) from None
    if len(parts) > MAX_PARTS:
        raise InvalidBackupError("The workbook has too many parts.")
    if sum(part.file_size for part in parts) > MAX_TOTAL_BYTES:
        raise InvalidBackupError("The workbook is too large.")
    for part in parts:
        _validate_part(part)


def _validate_part(part: zipfile.ZipInfo) -> None:
    is_outside = part.filename.startswith(("/", "\\")) or ".." in part.filename
    if part.flag_bits & ENCRYPTED_FLAG or is_outside or ":" in part.filename:
        raise InvalidBackupError(UNREADABLE_MESSAGE)
    size = part.file_size
    if size > MAX_PART_BYTES or size > MAX_COMPRESSION_RATIO * max(
        part.compress_size, 1_000
    ):
        raise InvalidBackupError("The workbook is too large.")


@contextmanager
def _run_reader(kind: str, data: bytes) -> Iterator[Iterator[Frame]]:
    """The frames of the reading process, which ends with the block at the latest."""
    columns = json.dumps({sheet.name: sheet.headers for sheet in SHEETS})
    command = [sys.executable, "-I", str(_READER_PATH), kind, columns, str(MAX_ROWS)]
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
            yield _read_frames(cast("IO[bytes]", process.stdout))
        finally:
            process.kill()


def _read_frames(pipe: IO[bytes]) -> Iterator[Frame]:
    while True:
        length = pipe.read(_FRAME_LENGTH.size)
        payload = pipe.read(_FRAME_LENGTH.unpack(length)[0]) if length else b""
        if not payload:
            raise InvalidBackupError(UNREADABLE_MESSAGE)
        frame: Frame = marshal.loads(payload)  # noqa: S302  # our own program
        yield frame
        if frame[0] == "end":
            return
