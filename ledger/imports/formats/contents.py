"""The kind of a file by its content, and its tables."""

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ledger.imports.formats import archives, workbooks
from ledger.imports.formats.cells import (
    Budget,
    InvalidFileError,
    RawTable,
    Row,
)
from ledger.imports.formats.html_tables import read_html
from ledger.imports.formats.qif import read_qif
from ledger.imports.formats.separated import read_separated
from ledger.imports.formats.texts import decode_text

# Of a text, in which its kind shows.
_BEGINNING = 4_096
# Of our own export (spec 3.29).
MAX_JSON_BYTES = 10 * 2**20
_OFX = re.compile(r"\s*(?:OFXHEADER\s*:|<\?xml[^>]*\?>\s*<\?OFX|<\?OFX|<OFX>)", re.I)
_CAMT = re.compile(r"<(?:\w+:)?Document\b[^>]*camt\.05[234]", re.I)
_ANY_XML = re.compile(r"\s*<(?:\?xml|!DOCTYPE(?!\s+html))", re.I)
_JSON = re.compile(r"\s*\{\s*[\"}]")
_HTML = re.compile(r"<(?:html|table|body|!doctype\s+html)\b", re.I)
_QIF = re.compile(r"\s*!(?:Type|Account|Option|Clear)\b", re.I)
_MT940 = re.compile(r"^(?:\{4:)?:20:", re.M)

# Rows of a table that are within the bounds.
BoundTable: TypeAlias = tuple[str, str, Iterator[Row]]


def read_contents(data: bytes, password: str | None) -> Iterator[BoundTable]:
    """Yield kind, name and rows of each table of a file.

    Take all rows of a table before the next one. Raises `InvalidFileError` and
    `PasswordError`, also while rows are taken.
    """
    budget = Budget()
    for table in _read_any(data, password):
        rows = iter(table.rows) if table.kind == "ledger" else budget.bound_rows(table)
        yield table.kind, table.name, rows


def _read_any(data: bytes, password: str | None) -> Iterable[RawTable]:
    if data.startswith(archives.ZIP_SIGNATURES):
        archive = archives.open_archive(data)
        if not archives.is_workbook(archive):
            return _read_archive(archive, password)
    return _read_one(data, password)


def _read_one(data: bytes, password: str | None) -> Iterable[RawTable]:
    """Read a file that is no archive of others."""
    if not data.strip():
        raise InvalidFileError("empty")
    if data.startswith(archives.ZIP_SIGNATURES):
        if not archives.is_workbook(archives.open_archive(data)):
            raise InvalidFileError("kind")
        return workbooks.read_workbook(data, "xlsx")
    if data.startswith(workbooks.OLE_SIGNATURE):
        return workbooks.read_ole(data, password)
    return _read_text(data)


def _read_text(data: bytes) -> Iterable[RawTable]:
    head = data[:_BEGINNING].replace(b"\0", b"").decode("latin-1")
    # Both say in themselves how their bytes are to be read.
    if _OFX.match(head.lstrip("ÿþï»¿")):
        from ledger.imports.formats.ofx import read_ofx

        return read_ofx(data)
    if _CAMT.search(head):
        from ledger.imports.formats.camt053 import read_camt

        return read_camt(data)
    text = decode_text(data).lstrip("\ufeff")
    head = text[:_BEGINNING]
    if _JSON.match(head):
        if len(data) > MAX_JSON_BYTES:
            # Out of an archive. It is parsed outside of this process.
            raise InvalidFileError("size")
        return [RawTable("ledger", "", [[text]])]
    if _HTML.search(head):
        return read_html(text)
    if _ANY_XML.match(head):
        raise InvalidFileError("kind")
    if _QIF.match(head):
        return read_qif(text)
    if _MT940.search(head) and re.search("^:6[01][FM]?:", text, re.M):
        from ledger.imports.formats.mt940 import read_mt940

        return read_mt940(text)
    return [read_separated(text)]


def _read_archive(
    archive: archives.Archive, password: str | None
) -> Iterable[RawTable]:
    """Read the one file of an archive that can be read.

    Several files are tried; the error of the first one is the error of the archive, and
    two that can be read are one too many.
    """
    files = archives.list_files(archive)
    if len(files) == 1:
        return _read_one(archives.read_file(archive, files[0], password), password)
    readable: list[bytes] = []
    errors: list[InvalidFileError] = []
    for file in files:
        data = archives.read_file(archive, file, password)
        try:
            for _, _, rows in _bound(_read_one(data, password)):
                for _ in rows:
                    pass
        except InvalidFileError as error:
            errors.append(error)
        else:
            readable.append(data)
    if len(readable) > 1:
        raise InvalidFileError("several", count=len(readable))
    if not readable:
        raise errors[0]
    return _read_one(readable[0], password)


def _bound(tables: Iterable[RawTable]) -> Iterator[BoundTable]:
    budget = Budget()
    for table in tables:
        yield table.kind, table.name, budget.bound_rows(table)
