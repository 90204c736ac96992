"""OFX and QFX, 1.x (SGML) and 2.x (XML), by the parser of ofxtools.

Its model classes are left aside: they refuse a whole file for one field that a bank
fills in its own way.
"""

import html
import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from ofxtools.Parser import ParseError, TreeBuilder

from ledger.imports.formats.cells import InvalidFileError, RawTable, Row
from ledger.imports.formats.statement_columns import BALANCE_COLUMNS, OFX_COLUMNS
from ledger.imports.formats.texts import decode_text

_HEADER_BYTES = 2_000
_CHARSET = re.compile(rb"CHARSET:\s*(1252|ISO-8859-1|8859-1)", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"encoding=[\"'](windows-1252|iso-8859-1)", re.IGNORECASE)
_BODY = re.compile(r"<OFX>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z0-9._]+\s*/?>")
_END_TAG = re.compile(r"</([A-Z0-9._]+)\s*>")
_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{2})?(\d{2})?(\d{2})?")
# Times that banks write for a day without one.
_NO_TIMES = frozenset({"00:00:00", "12:00:00"})


def read_ofx(data: bytes) -> Iterator[RawTable]:
    text = _decode(data)
    body = _BODY.search(text)
    if body is None:
        raise InvalidFileError("damaged")
    message = _TAG.sub(_upper, text[body.start() :])
    builder = _Builder(set(_END_TAG.findall(message)))
    try:
        builder.feed(message)
        if builder.open_tags:
            raise ParseError
        root = builder.close()
    # Of the library, or of the tree below it.
    except SyntaxError:
        raise InvalidFileError("damaged") from None
    statements = [
        element
        for element in root.iter()
        if element.tag in {"STMTRS", "CCSTMTRS", "INVSTMTRS"}
    ]
    if not statements:
        raise InvalidFileError("damaged")
    yield RawTable("ofx", "transactions", _list_transactions(statements))
    yield RawTable("ofx", "balances", _list_balances(statements))


class _Builder(TreeBuilder):
    """The library's builder, which knows neither empty elements nor wrong end tags.

    Elements of OFX 1.x have no end tag: one without a value looks like the beginning
    of an aggregate, whose end tag is missing in the whole file.
    """

    def __init__(self, ended_tags: set[str]) -> None:
        super().__init__()
        self.open_tags: list[str] = []
        self._ended_tags = ended_tags

    def _start(self, tag: str, text: str | None, closetag: str | None) -> None:
        if text or closetag or tag in self._ended_tags:
            super()._start(tag, text, closetag)

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self.open_tags.append(tag)
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        if tag not in self.open_tags:
            raise ParseError(tag)
        # An element that is empty here has an end tag elsewhere.
        while self.open_tags[-1] != tag:
            super().end(self.open_tags.pop())
        self.open_tags.pop()
        return super().end(tag)


def _upper(match: re.Match[str]) -> str:
    return match[0].upper()


def _decode(data: bytes) -> str:
    """Decode by the header if it names a Western code page, else as any text.

    Korean banks write CHARSET:1252 in files of CP949 too, so that UTF-8 and CP949 go
    first where they fit.
    """
    header = data[:_HEADER_BYTES]
    try:
        return decode_text(data)
    except InvalidFileError:
        if _CHARSET.search(header) or _XML_CHARSET.search(header):
            return data.decode("cp1252", "replace")
        raise


def _text(element: Element, path: str) -> str:
    found = element.findtext(path)
    return html.unescape(found).strip() if found else ""


def _account(statement: Element) -> list[str]:
    """Return number, kind and currency of the account of a statement."""
    kinds = {"CCSTMTRS": "CREDITCARD", "INVSTMTRS": "INVESTMENT"}
    number = next(
        (_text(each, "ACCTID") for each in statement if each.tag.endswith("ACCTFROM")),
        "",
    )
    kind = kinds.get(statement.tag) or _text(statement, "BANKACCTFROM/ACCTTYPE")
    return [number, kind, _text(statement, "CURDEF")]


def _list_transactions(statements: Iterable[Element]) -> list[Row]:
    rows: list[Row] = [OFX_COLUMNS]
    for statement in statements:
        account = _account(statement)
        rows += [_make_row(account, each) for each in statement.iter("STMTTRN")]
    return rows


def _make_row(account: list[str], element: Element) -> Row:
    return [
        *account,
        _to_iso(_text(element, "DTPOSTED") or _text(element, "DTUSER")),
        _text(element, "TRNTYPE"),
        _text(element, "TRNAMT"),
        _text(element, "NAME") or _text(element, "PAYEE/NAME"),
        _text(element, "MEMO"),
        _text(element, "FITID"),
        _text(element, "CURRENCY/CURSYM"),
        _text(element, "ORIGCURRENCY/CURSYM"),
        _text(element, "CURRENCY/CURRATE") or _text(element, "ORIGCURRENCY/CURRATE"),
        _text(element, "CORRECTACTION"),
        _text(element, "CORRECTFITID"),
    ]


def _list_balances(statements: Iterable[Element]) -> list[Row]:
    rows: list[Row] = [BALANCE_COLUMNS]
    for statement in statements:
        amount = _text(statement, "LEDGERBAL/BALAMT")
        if amount:
            day = _to_iso(_text(statement, "LEDGERBAL/DTASOF"))[:10]
            rows.append([*_account(statement), amount, day])
    return rows


def _to_iso(text: str) -> str:
    """Return a date of OFX as ISO, with its time if it has one; else as it stands."""
    match = _DATE.match(text)
    if match is None:
        return text
    day = f"{match[1]}-{match[2]}-{match[3]}"
    time = f"{match[4] or '00'}:{match[5] or '00'}:{match[6] or '00'}"
    return day if time in _NO_TIMES else f"{day}T{time}"
