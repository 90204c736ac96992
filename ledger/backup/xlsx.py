"""Writes xlsx workbooks of plain cells, row by row, in constant memory.

Pure. Text is always written as a string (`inlineStr`), so that what begins with = + - @
stays text and is never a formula. Numbers that a spreadsheet cannot hold exactly (more
than 15 digits) are written as text as well.
"""

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from types import TracebackType
from typing import IO, Any
from xml.sax.saxutils import escape

from core.api.fields import DISALLOWED_CHARACTERS
from core.api.renderers import format_decimal

EXACT_DIGITS = 15
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
_SPECIAL = re.compile(rf"[&<>]|_(?=x[0-9A-Fa-f]{{4}}_)|{DISALLOWED_CHARACTERS}")
_REPLACEMENT = "\ufffd"
"""Stands for what rows of before may hold: neither XML nor a restore takes it."""


class WorkbookWriter:
    """A workbook whose sheets are written one after another."""

    def __init__(self, file: IO[bytes], sheets: Sequence[str]) -> None:
        self._archive = zipfile.ZipFile(
            file, "w", zipfile.ZIP_DEFLATED, compresslevel=6
        )
        self._sheets = list(sheets)
        for path, text in _package_parts(self._sheets):
            self._archive.writestr(_zip_info(path), _XML + text)

    def __enter__(self) -> "WorkbookWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._archive.close()

    @contextmanager
    def open_sheet(self, name: str) -> Iterator["SheetWriter"]:
        path = _sheet_path(self._sheets.index(name))
        with self._archive.open(_zip_info(path), "w", force_zip64=True) as part:
            part.write(f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            yield SheetWriter(part)
            part.write(b"</sheetData></worksheet>")


class SheetWriter:
    def __init__(self, part: IO[bytes]) -> None:
        self._part = part
        self._row = 0

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Write rows below those before; None leaves a cell empty."""
        parts = []
        for row in rows:
            self._row += 1
            parts.append(f'<row r="{self._row}">')
            parts += [
                _cell(f"{chr(ord('A') + place)}{self._row}", value)
                for place, value in enumerate(row)
                if value is not None and value != ""
            ]
            parts.append("</row>")
        self._part.write("".join(parts).encode())


def _cell(place: str, value: Any) -> str:
    if value is True or value is False:
        return f'<c r="{place}" t="b"><v>{value:d}</v></c>'
    if isinstance(value, Decimal):
        text = format_decimal(value)
        if len(value.normalize().as_tuple().digits) <= EXACT_DIGITS:
            return f'<c r="{place}"><v>{text}</v></c>'
    elif isinstance(value, int):
        return f'<c r="{place}"><v>{value}</v></c>'
    else:
        text = str(value)
    if _SPECIAL.search(text):
        text = _SPECIAL.sub(_escape, text)
    space = ' xml:space="preserve"' if text != text.strip() or "\n" in text else ""
    return f'<c r="{place}" t="inlineStr"><is><t{space}>{text}</t></is></c>'


def _escape(match: re.Match[str]) -> str:
    """What XML or a spreadsheet's own escapes would take for something else."""
    found = match[0]
    if found in "&<>":
        return escape(found)
    return "_x005F_" if found == "_" else _REPLACEMENT


def _zip_info(path: str) -> zipfile.ZipInfo:
    """Without the time of writing: equal ledgers make equal files."""
    info = zipfile.ZipInfo(path, _ZIP_EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _sheet_path(index: int) -> str:
    return f"xl/worksheets/sheet{index + 1}.xml"


def _package_parts(sheets: list[str]) -> Iterator[tuple[str, str]]:
    """The parts that name the others, with their text."""
    numbers = range(1, len(sheets) + 1)
    overrides = "".join(
        f'<Override PartName="/{_sheet_path(n - 1)}" ContentType="{_TYPE}.worksheet+xml"/>'
        for n in numbers
    )
    types = (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f"{overrides}</Types>"
    )
    yield "[Content_Types].xml", types
    root = (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    )
    yield "_rels/.rels", root
    names = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>'
        for n, name in zip(numbers, sheets, strict=True)
    )
    workbook = (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets>'
        "</workbook>"
    )
    yield "xl/workbook.xml", workbook
    relations = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet" '
        f'Target="worksheets/sheet{n}.xml"/>'
        for n in numbers
    )
    yield (
        "xl/_rels/workbook.xml.rels",
        f'<Relationships xmlns="{_PACKAGE}/relationships">{relations}</Relationships>',
    )
