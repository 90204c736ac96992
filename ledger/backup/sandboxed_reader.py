"""The program that reads a file nobody has vouched for, in a process of its own.

A workbook of a few kilobytes can ask for gigabytes, and the parser then ends its
process. So it runs here, with bounds on memory and time that the system enforces, and
hands over plain rows: frames of a length and a marshalled tuple. It needs neither
Django nor the rest of the service.

    python reader.py xlsx|json COLUMNS MAX_ROWS < file > frames
"""

import datetime
import io
import json
import marshal
import resource
import struct
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

MAX_MEMORY_BYTES = 448 * 2**20
MAX_CPU_SECONDS = 20
ROWS_PER_FRAME = 2_000
MAX_COLUMNS = 64
FRAME_LENGTH = struct.Struct("<I")

SheetColumns = dict[str, list[str]]
Row = list[Any] | None
SheetData = tuple[str, int, Iterator[Row]]
"""A name, the number of its rows, and these."""


class InvalidFileError(Exception):
    """What is wrong with the file as a whole."""


def main() -> None:
    set_resource_limits()
    kind, columns, max_rows = sys.argv[1:]
    sheets: SheetColumns = json.loads(columns)
    data = sys.stdin.buffer.read()
    read = read_workbook if kind == "xlsx" else read_json
    try:
        for name, height, rows in read(data, sheets):
            if height > int(max_rows):
                raise InvalidFileError(
                    f"The sheet {name} has more than {max_rows} rows."
                )
            send_frame("sheet", name)
            send_rows(rows)
    except InvalidFileError as refusal:
        send_frame("refused", str(refusal))
    send_frame("end")
    sys.stdout.buffer.flush()


def set_resource_limits() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def send_frame(*frame: Any) -> None:
    payload = marshal.dumps(frame)
    sys.stdout.buffer.write(FRAME_LENGTH.pack(len(payload)) + payload)


def send_rows(rows: Iterable[Row]) -> None:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == ROWS_PER_FRAME:
            send_frame("rows", batch)
            batch = []
    send_frame("rows", batch)


def read_workbook(data: bytes, sheets: SheetColumns) -> Iterator[SheetData]:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        for name, spelled in match_names(sheets, workbook.sheet_names).items():
            sheet = workbook.get_sheet_by_name(spelled)
            if sheet.total_width > MAX_COLUMNS:
                raise InvalidFileError(
                    f"The sheet {name} has more than {MAX_COLUMNS} columns."
                )
            rows, height = iter(sheet.iter_rows()), (sheet.end or (0, 0))[0]
            headers = [str(cell).strip() for cell in next(rows, [])]
            if height and not match_names(sheets[name], headers):
                raise InvalidFileError(
                    f"Row 1 of the sheet {name} names none of its columns."
                )
            yield name, height, select_cells(headers, rows, sheets[name])
    except (CalamineError, OSError, ValueError):
        raise InvalidFileError(
            "This is not a workbook (xlsx) that can be read."
        ) from None


def match_names(
    wanted: Iterable[str], given: list[str] | dict[str, Any]
) -> dict[str, str]:
    """How each name that is there is spelled; letter case counts only between two."""
    spelled = {name.strip().casefold(): name for name in reversed(given)}
    return {
        name: name if name in given else spelled[name.casefold()]
        for name in wanted
        if name.casefold() in spelled
    }


def select_cells(
    headers: list[str], rows: Iterable[list[Any]], columns: list[str]
) -> Iterator[Row]:
    """The cells in the order of `columns`; those without a header are None."""
    spelled = match_names(columns, headers)
    places = [headers.index(spelled[c]) if c in spelled else -1 for c in columns]
    for cells in rows:
        cells.append(None)  # where -1 points to
        yield [plain_value(cells[place]) for place in places]


def plain_value(cell: Any) -> Any:
    if cell.__class__ is str or cell.__class__ is float or cell.__class__ is bool:
        return cell
    if isinstance(cell, datetime.datetime):
        is_day = cell.time() == datetime.time()
        return (cell.date() if is_day else cell).isoformat()
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    return None if cell is None else str(cell)


def read_json(data: bytes, sheets: SheetColumns) -> Iterator[SheetData]:
    try:
        body = json.loads(
            data.decode("utf-8-sig"),
            parse_float=str.encode,
            parse_constant=reject_constant,
        )
    except (ValueError, RecursionError):
        raise InvalidFileError(
            "This is neither a workbook (xlsx) nor valid JSON."
        ) from None
    if not isinstance(body, dict):
        raise InvalidFileError("A backup is an object with a list for each sheet.")
    for name, spelled in match_names(sheets, body).items():
        rows, columns = body[spelled], sheets[name]
        if rows is None:
            continue
        if not isinstance(rows, list):
            raise InvalidFileError(f"{name} is not a list.")
        yield name, len(rows), select_fields(rows, columns)


def reject_constant(constant: str) -> NoReturn:
    raise ValueError(constant)


def select_fields(rows: list[Any], columns: list[str]) -> Iterator[Row]:
    known = set(columns)
    for row in rows:
        if not isinstance(row, dict):
            yield None
            continue
        if not row.keys() <= known:
            row = {name: row[key] for name, key in match_names(columns, row).items()}
        yield [field_value(row, name) for name in columns]


def field_value(row: dict[str, Any], name: str) -> Any:
    """Null is "", as an empty cell is; None is a field that is not there."""
    value = row.get(name)
    return "" if value is None and name in row else value


if __name__ == "__main__":
    main()
