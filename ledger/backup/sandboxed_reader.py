"""Reads an untrusted file and prints its rows: run as a process of its own.

    python -I sandboxed_reader.py xlsx|json COLUMNS MAX_ROWS < FILE > FRAMES

A workbook of a few kilobytes can expand to gigabytes and take down the process that
parses it. So it is parsed here, within limits on memory and CPU time that the system
enforces. The program needs neither Django nor the rest of the service.

COLUMNS is a JSON object: the columns of each sheet. The output is one JSON array a
line:

    ["sheet", NAME]       a sheet begins
    ["rows", ROWS]        some of its rows, as lists of cells; after the last, none
    ["error", [NAME, {}]] the file is invalid; nothing follows. The name is a key of
                          `ledger.backup.workbook.FILE_ERRORS`, with its values
    ["end", null]         the file was read to its end

A cell is text, a number, a boolean or null, which is a column that the sheet does not
have. JSON adds "" for null, `{"number": TEXT}` for a number with a fraction or an
exponent, lists, and `{}` for any object. A row that is no object is null.
"""

import datetime
import io
import math
import os
import re
import resource
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from json import loads
from typing import Any, NoReturn, TypeAlias

import orjson

MAX_MEMORY_BYTES = 448 * 2**20
MAX_CPU_SECONDS = 20
# Requests of others go first where the processors are busy.
NICENESS = 5
ROWS_PER_FRAME = 2_000
MAX_COLUMNS = 64
# The bounds of a JSON integer for orjson; larger ones break every rule anyway.
MAX_INTEGER = 2**63 - 1
SURROGATE_RE = re.compile("[\ud800-\udfff]")

SheetColumns: TypeAlias = dict[str, list[str]]
Row: TypeAlias = list[Any] | None
# The name of a sheet, the number of its rows, and the rows.
SheetData: TypeAlias = tuple[str, int, Iterator[Row]]


class InvalidFileError(Exception):
    """The file as a whole is invalid: a key of `FILE_ERRORS`, with its values."""

    def __init__(self, name: str, **values: str | int) -> None:
        self.name = name
        self.values = values
        super().__init__(name)


class NumberText(str):
    """The text of a JSON number with a fraction or an exponent."""

    __slots__ = ()


def main() -> None:
    os.nice(NICENESS)
    set_resource_limits()
    kind, columns, max_rows = sys.argv[1:]
    sheets: SheetColumns = orjson.loads(columns)
    data = sys.stdin.buffer.read()
    read = read_workbook if kind == "xlsx" else read_json
    try:
        for name, row_count, rows in read(data, sheets):
            if row_count > int(max_rows):
                raise InvalidFileError("rows", sheet=name, limit=max_rows)
            send_frame("sheet", name)
            while batch := list(islice(rows, ROWS_PER_FRAME)):
                send_frame("rows", batch)
            send_frame("rows", [])
    except InvalidFileError as error:
        send_frame("error", [error.name, error.values])
    else:
        send_frame("end", None)
    sys.stdout.buffer.flush()


def set_resource_limits() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def send_frame(kind: str, content: Any) -> None:
    frame = orjson.dumps([kind, content], option=orjson.OPT_APPEND_NEWLINE)
    sys.stdout.buffer.write(frame)


def read_workbook(data: bytes, sheets: SheetColumns) -> Iterator[SheetData]:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        for name, spelling in match_names(sheets, workbook.sheet_names).items():
            sheet = workbook.get_sheet_by_name(spelling)
            if sheet.total_width > MAX_COLUMNS:
                raise InvalidFileError("columns", sheet=name, limit=MAX_COLUMNS)
            rows, row_count = iter(sheet.iter_rows()), (sheet.end or (0, 0))[0]
            headers = [str(cell).strip() for cell in next(rows, [])]
            # Taken for an empty sheet, it would silently delete what the ledger has.
            if row_count and not match_names(sheets[name], headers):
                raise InvalidFileError("headers", sheet=name)
            yield name, row_count, select_cells(headers, rows, sheets[name])
    except (CalamineError, OSError, ValueError):
        raise InvalidFileError("workbook") from None


def match_names(
    wanted: Iterable[str], given: list[str] | dict[str, Any]
) -> dict[str, str]:
    """Map each wanted name that is given to its spelling there.

    Letter case does not count, but the exact name goes before other spellings.
    """
    spellings = {name.strip().casefold(): name for name in reversed(given)}
    return {
        name: name if name in given else spellings[name.casefold()]
        for name in wanted
        if name.casefold() in spellings
    }


def select_cells(
    headers: list[str], rows: Iterable[list[Any]], columns: list[str]
) -> Iterator[Row]:
    """Yield the cells of each row in the order of `columns`."""
    spellings = match_names(columns, headers)
    # -1 is the None that is appended to each row, for columns that are not there.
    indexes = [headers.index(spellings[c]) if c in spellings else -1 for c in columns]
    for cells in rows:
        cells.append(None)
        yield [to_plain_cell(cells[index]) for index in indexes]


def to_plain_cell(cell: Any) -> Any:
    """Convert a cell of a workbook to text, a number, a boolean or None."""
    kind = cell.__class__
    if kind is str or kind is bool:
        return cell
    if kind is float:
        # JSON has no infinity; as text it is no valid number either.
        return cell if math.isfinite(cell) else repr(cell)
    if isinstance(cell, datetime.datetime):
        is_day = cell.time() == datetime.time()
        return (cell.date() if is_day else cell).isoformat()
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    return None if cell is None else str(cell)


def read_json(data: bytes, sheets: SheetColumns) -> Iterator[SheetData]:
    try:
        # The standard library's parser: orjson has no way to keep exact numbers.
        body = loads(
            data.decode("utf-8-sig"),
            parse_float=NumberText,
            parse_constant=reject_constant,
        )
    except (ValueError, RecursionError):
        raise InvalidFileError("json") from None
    if not isinstance(body, dict):
        raise InvalidFileError("object")
    for name, spelling in match_names(sheets, body).items():
        rows, columns = body[spelling], sheets[name]
        if rows is None:
            continue
        if not isinstance(rows, list):
            raise InvalidFileError("list", sheet=name)
        yield name, len(rows), select_fields(rows, columns)


def reject_constant(constant: str) -> NoReturn:
    """Reject NaN and Infinity, which Python's parser accepts and JSON does not have."""
    raise ValueError(constant)


def select_fields(rows: list[Any], columns: list[str]) -> Iterator[Row]:
    """Yield the fields of each row in the order of `columns`."""
    known = set(columns)
    for row in rows:
        if not isinstance(row, dict):
            yield None
            continue
        if not row.keys() <= known:
            row = {name: row[key] for name, key in match_names(columns, row).items()}
        yield [to_plain_field(row[name]) if name in row else None for name in columns]


def to_plain_field(value: Any) -> Any:
    """Convert a JSON value to what orjson can send without loss of meaning."""
    kind = value.__class__
    if kind is str:
        # A lone surrogate is no valid UTF-8; NUL breaks the same rule of text.
        return value if value.isascii() else SURROGATE_RE.sub("\0", value)
    if kind is bool:
        return value
    if kind is int:
        return max(-MAX_INTEGER, min(value, MAX_INTEGER))
    if kind is NumberText:
        return {"number": str(value)}
    if kind is list:
        # Lists hold tags: only texts are valid.
        return [to_plain_field(item) if item.__class__ is str else {} for item in value]
    return "" if value is None else {}


if __name__ == "__main__":
    main()
