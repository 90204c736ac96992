"""Writes xlsx workbooks of plain cells, row by row, in constant memory.

Own code: openpyxl's write-only mode takes five times as long, and neither escapes text
that a spreadsheet would decode nor writes equal files for equal data (decision 0060).
"""

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import IO, Any, Self
from xml.sax.saxutils import escape

from core.api.fields import DISALLOWED_CHARACTERS
from core.api.renderers import format_decimal

# Spreadsheets compute with floats, which keep this many decimal digits.
MAX_EXACT_DIGITS = 15
COMPRESSION_LEVEL = 6

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_COLUMN_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
_SPECIAL_RE = re.compile(rf"[&<>]|_(?=x[0-9A-Fa-f]{{4}}_)|{DISALLOWED_CHARACTERS}")
# Rows stored before such characters were rejected: neither XML nor a restore takes
# them.
_REPLACEMENT = "\ufffd"


class WorkbookWriter:
    def __init__(self, file: IO[bytes], sheets: Sequence[str]) -> None:
        self._archive = zipfile.ZipFile(
            file, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION_LEVEL
        )
        self._sheets = list(sheets)
        for path, text in _package_parts(self._sheets).items():
            self._archive.writestr(_zip_info(path), _XML + text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._archive.close()

    @contextmanager
    def open_sheet(self, name: str) -> Iterator["SheetWriter"]:
        path = _sheet_path(self._sheets.index(name) + 1)
        with self._archive.open(_zip_info(path), "w", force_zip64=True) as part:
            part.write(f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            yield SheetWriter(part)
            part.write(b"</sheetData></worksheet>")


class SheetWriter:
    """The rows of one sheet, of up to 26 columns."""

    def __init__(self, part: IO[bytes]) -> None:
        self._part = part
        self._row_count = 0

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Append rows; None and "" leave a cell empty."""
        parts = []
        for row in rows:
            self._row_count += 1
            number = self._row_count
            parts.append(f'<row r="{number}">')
            parts += [
                _format_cell(f"{letter}{number}", value)
                for letter, value in zip(_COLUMN_LETTERS, row, strict=False)
                if value is not None and value != ""
            ]
            parts.append("</row>")
        self._part.write("".join(parts).encode())


def _format_cell(reference: str, value: Any) -> str:
    if value is True or value is False:
        return f'<c r="{reference}" t="b"><v>{value:d}</v></c>'
    if isinstance(value, int):
        return f'<c r="{reference}"><v>{value}</v></c>'
    if isinstance(value, Decimal):
        text = format_decimal(value)
        if len(value.normalize().as_tuple().digits) <= MAX_EXACT_DIGITS:
            return f'<c r="{reference}"><v>{text}</v></c>'
    else:
        text = str(value)
    if _SPECIAL_RE.search(text):
        text = _SPECIAL_RE.sub(_escape, text)
    space = ' xml:space="preserve"' if text != text.strip() or "\n" in text else ""
    # An inline string is never a formula, whatever it begins with.
    return f'<c r="{reference}" t="inlineStr"><is><t{space}>{text}</t></is></c>'


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    if found in "&<>":
        return escape(found)
    return "_x005F_" if found == "_" else _REPLACEMENT


def _zip_info(path: str) -> zipfile.ZipInfo:
    # A constant time: equal ledgers make equal files.
    info = zipfile.ZipInfo(path, _ZIP_EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _sheet_path(number: int) -> str:
    return f"xl/worksheets/sheet{number}.xml"


def _package_parts(sheets: list[str]) -> dict[str, str]:
    numbered = list(enumerate(sheets, start=1))
    overrides = "".join(
        f'<Override PartName="/{_sheet_path(number)}"'
        f' ContentType="{_CONTENT_TYPE}.worksheet+xml"/>'
        for number, _ in numbered
    )
    names = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
        for number, name in numbered
    )
    relations = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/worksheet"'
        f' Target="worksheets/sheet{number}.xml"/>'
        for number, _ in numbered
    )
    return {
        "[Content_Types].xml": (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels"'
            ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Override PartName="/xl/workbook.xml"'
            f' ContentType="{_CONTENT_TYPE}.sheet.main+xml"/>{overrides}</Types>'
        ),
        "_rels/.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1"'
            f' Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
            "</Relationships>"
        ),
        "xl/workbook.xml": (
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
            f"<sheets>{names}</sheets></workbook>"
        ),
        "xl/_rels/workbook.xml.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships">{relations}'
            "</Relationships>"
        ),
    }
