"""Reads an untrusted file and prints its rows: run as a process of its own.

    python -I sandboxed_reader.py xlsx|json COLUMNS MAX_ROWS < FILE > FRAMES

A workbook of a few kilobytes can expand to gigabytes: the system limits memory and CPU
time of this process. The program needs neither Django nor the rest of the service.

COLUMNS is a JSON object: the columns of each sheet. The output is one JSON array a
line:

    ["unknown", NAMES]    sheets of the file that COLUMNS does not name
    ["sheet", [NAME, COLUMNS, NAMES]]
                          a sheet begins; of a workbook, the columns that it lacks and
                          the unknown ones that it has
    ["rows", ROWS]        some rows, as lists of cells; after the last, none
    ["error", [NAME, {}]] a key of `ledger.backup.workbook.FILE_ERRORS`, with values
    ["end", null]         the file was read to its end

A cell is text, a number, a boolean, or null for a column that is missing. JSON adds
"" for null, `{"number": TEXT}` for a number with a fraction or an exponent, lists, and
`{}` for any object. A row that is no object is null; an object with unknown names is
`{"unknown": NAMES}`.
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
# Other requests go first on busy processors.
NICENESS = 5
ROWS_PER_FRAME = 2_000
MAX_COLUMNS = 64
# Of unknown names, which the answer repeats.
MAX_NAME_LENGTH = 100
MAX_NAMES = 200
# The bounds of orjson's integers.
MAX_INTEGER = 2**63 - 1
SURROGATE_RE = re.compile("[\ud800-\udfff]")

SheetColumns: TypeAlias = dict[str, list[str]]
Row: TypeAlias = list[Any] | dict[str, list[str]] | None
# A sheet, the columns that it lacks, and those that are unknown.
SheetHead: TypeAlias = tuple[str, list[str], list[str]]
SheetData: TypeAlias = tuple[SheetHead, int, Iterator[Row]]


class InvalidFileError(Exception):
    def __init__(self, name: str, **values: str | int) -> None:
        self.name = name
        self.values = values
        super().__init__(name)


class NumberText(str):
    """A JSON number with a fraction or an exponent."""

    __slots__ = ()


def main() -> None:
    os.nice(NICENESS)
    set_resource_limits()
    kind, columns, max_rows = sys.argv[1:]
    sheets: SheetColumns = orjson.loads(columns)
    data = sys.stdin.buffer.read()
    read = read_workbook if kind == "xlsx" else read_json
    try:
        for head, row_count, rows in read(data, sheets):
            if row_count > int(max_rows):
                raise InvalidFileError("rows", sheet=head[0], limit=max_rows)
            send_frame("sheet", head)
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
        matched = match_names(sheets, workbook.sheet_names)
        send_frame("unknown", list_others(workbook.sheet_names, matched))
        for name, spelling in matched.items():
            sheet = workbook.get_sheet_by_name(spelling)
            if sheet.total_width > MAX_COLUMNS:
                raise InvalidFileError("columns", sheet=name, limit=MAX_COLUMNS)
            rows, row_count = iter(sheet.iter_rows()), (sheet.end or (0, 0))[0]
            headers = [str(cell).strip() for cell in next(rows, [])]
            # An empty sheet would silently delete the ledger's rows.
            spellings = match_names(sheets[name], headers)
            if row_count and not spellings:
                raise InvalidFileError("headers", sheet=name)
            for spelling in spellings.values():
                if headers.count(spelling) > 1:
                    raise InvalidFileError("repeated", sheet=name, column=spelling)
            lacking = [column for column in sheets[name] if column not in spellings]
            head = name, lacking, list_others(headers, spellings)
            yield head, row_count, select_cells(headers, rows, sheets[name])
    except (CalamineError, OSError, ValueError):
        raise InvalidFileError("workbook") from None


def match_names(
    wanted: Iterable[str], given: list[str] | dict[str, Any]
) -> dict[str, str]:
    """Map each given name to its spelling: the exact name before other cases."""
    spellings = {name.strip().casefold(): name for name in reversed(given)}
    return {
        name: name if name in given else spellings[name.casefold()]
        for name in wanted
        if name.casefold() in spellings
    }


def list_others(given: Iterable[str], matched: dict[str, str]) -> list[str]:
    """Return the names that match none; nameless columns are none."""
    used = set(matched.values())
    return [
        plain_name(name)
        for name in islice(given, MAX_NAMES)
        if name and name not in used
    ]


def plain_name(name: str) -> str:
    return SURROGATE_RE.sub("\ufffd", name[:MAX_NAME_LENGTH])


def select_cells(
    headers: list[str], rows: Iterable[list[Any]], columns: list[str]
) -> Iterator[Row]:
    spellings = match_names(columns, headers)
    # -1 is the None that is appended to each row, for missing columns.
    indexes = [headers.index(spellings[c]) if c in spellings else -1 for c in columns]
    for cells in rows:
        cells.append(None)
        yield [to_plain_cell(cells[index]) for index in indexes]


def to_plain_cell(cell: Any) -> Any:
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
        # The standard library's parser: orjson cannot keep exact numbers.
        body = loads(
            data.decode("utf-8-sig"),
            parse_float=NumberText,
            parse_constant=reject_constant,
        )
    except (ValueError, RecursionError):
        raise InvalidFileError("json") from None
    if not isinstance(body, dict):
        raise InvalidFileError("object")
    if unknown := list_unknown(body, sheets):
        send_frame("unknown", unknown)
    for name, spelling in match_names(sheets, body).items():
        rows, columns = body[spelling], sheets[name]
        if rows is None:
            continue
        if not isinstance(rows, list):
            raise InvalidFileError("list", sheet=name)
        yield (name, [], []), len(rows), select_fields(rows, columns)


def list_unknown(given: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the names that are none of the known ones in any letter case."""
    folded = {name.casefold() for name in known}
    return [
        plain_name(name)
        for name in islice(given, MAX_NAMES)
        if name.strip().casefold() not in folded
    ]


def reject_constant(constant: str) -> NoReturn:
    """Reject NaN and Infinity, which Python's parser accepts."""
    raise ValueError(constant)


def select_fields(rows: list[Any], columns: list[str]) -> Iterator[Row]:
    known = set(columns)
    for row in rows:
        if not isinstance(row, dict):
            yield None
            continue
        if not row.keys() <= known:
            if unknown := list_unknown(row, columns):
                yield {"unknown": unknown}
                continue
            row = {name: row[key] for name, key in match_names(columns, row).items()}
        yield [to_plain_field(row[name]) if name in row else None for name in columns]


def to_plain_field(value: Any) -> Any:
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
