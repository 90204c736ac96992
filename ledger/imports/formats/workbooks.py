"""Workbooks: XLSX, BIFF (.xls) and ODS, by calamine; encrypted ones by msoffcrypto."""

import io
from collections.abc import Iterator
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

from ledger.backup.sandboxed_reader import to_plain_cell
from ledger.imports.formats import cells
from ledger.imports.formats.cells import InvalidFileError, RawTable, Row

OLE_SIGNATURE = bytes.fromhex("d0cf11e0a1b11ae1")
# Excel encrypts with it what is protected against changes alone.
DEFAULT_PASSWORD = "VelvetSweatshop"  # noqa: S105  # of the format


def read_ole(data: bytes, password: str | None) -> Iterator[RawTable]:
    """Yield the sheets of an OLE file: BIFF, or any encrypted workbook."""
    plain = _decrypt(data, password)
    kind = "xls" if plain.startswith(OLE_SIGNATURE) else "xlsx"
    return read_workbook(plain, kind)


def read_workbook(data: bytes, kind: str) -> Iterator[RawTable]:
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        for name in workbook.sheet_names:
            rows = _iter_rows(workbook, name)
            yield RawTable(kind, name[: cells.MAX_NAME_LENGTH], rows)
    except (CalamineError, OSError, ValueError):
        raise InvalidFileError("damaged") from None


def _iter_rows(workbook: CalamineWorkbook, name: str) -> Iterator[Row]:
    try:
        sheet = workbook.get_sheet_by_name(name)
        # Before the cells are made: a sheet may be some cells in its far corner.
        if sheet.total_width > cells.MAX_CELLS // max(sheet.total_height, 1) and (
            sheet.total_width > cells.MAX_COLUMNS
        ):
            raise InvalidFileError("columns", limit=cells.MAX_COLUMNS)
        for row in sheet.iter_rows():
            # BIFF has integers too.
            yield [c if c.__class__ is int else to_plain_cell(c) for c in row]
    except (CalamineError, OSError, ValueError):
        raise InvalidFileError("damaged") from None


def _decrypt(data: bytes, password: str | None) -> bytes:
    """Return the workbook without its encryption; raise `PasswordError`."""
    import msoffcrypto
    from msoffcrypto import exceptions

    try:
        office = msoffcrypto.OfficeFile(io.BytesIO(data))
        if not office.is_encrypted():
            return data
        output = io.BytesIO()
        for candidate in filter(None, (password, DEFAULT_PASSWORD)):
            try:
                _decrypt_to(office, candidate, output)
            except exceptions.InvalidKeyError:
                continue
            return output.getvalue()
    except exceptions.FileFormatError:
        raise InvalidFileError("kind") from None
    # The library meets damaged files with any error of Python.
    except Exception:
        raise InvalidFileError("damaged") from None
    raise cells.PasswordError(is_wrong=password is not None)


def _decrypt_to(office: Any, password: str, output: io.BytesIO) -> None:
    # Workbooks of before 2007 are verified whenever a key is loaded.
    if getattr(office, "format", None) == "ooxml":
        office.load_key(password=password, verify_password=True)
    else:
        office.load_key(password=password)
    output.seek(0)
    output.truncate()
    office.decrypt(output)
