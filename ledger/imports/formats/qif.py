"""QIF, the lines of Quicken, GnuCash and others; no maintained library is as small."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ledger.imports.formats.cells import InvalidFileError, RawTable, Row
from ledger.imports.formats.statement_columns import QIF_COLUMNS, QIF_SPLIT_COLUMNS

# "9/ 5'26": an apostrophe stands before a year of this century.
_APOSTROPHE_YEAR = re.compile(r"'\s*(\d{1,2})$")
_SHORT_YEAR = re.compile(r"(\d{1,2}/\d{1,2}/)(\d{2})")
FIRST_YEAR_OF_1900S = 70
_LISTS = frozenset({"bank", "cash", "ccard", "oth a", "oth l"})
_FIELDS = {"D": "date", "P": "payee", "M": "memo", "L": "category", "N": "number"}


@dataclass(slots=True)
class _Transaction:
    values: dict[str, str] = field(default_factory=dict)
    splits: list[list[str]] = field(default_factory=list)


def read_qif(text: str) -> Iterator[RawTable]:
    reader = _Reader()
    for line in text.splitlines():
        reader.read_line(line)
    reader.end_record()
    if len(reader.rows) == 1 and not reader.has_lists:
        raise InvalidFileError("damaged")
    yield RawTable("qif", "transactions", reader.rows)
    yield RawTable("qif", "splits", reader.splits)
    if reader.others:
        rows: list[Row] = [("type", "count"), *reader.others.items()]
        yield RawTable("qif", "others", rows)


class _Reader:
    """Reads line by line; `others` counts the records of lists that are no entries."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = [list(QIF_COLUMNS)]
        self.splits: list[list[str | int]] = [list(QIF_SPLIT_COLUMNS)]
        self.others: dict[str, int] = {}
        self.has_lists = False
        self._list = ""
        self._account, self._account_type = "", ""
        self._record = _Transaction()

    def read_line(self, line: str) -> None:
        code, value = line[:1], line[1:].strip()
        if code == "!":
            self.end_record()
            self._open_list(value)
        elif code == "^":
            self.end_record()
        elif line.strip():
            self._read_field(code, value)

    def _open_list(self, value: str) -> None:
        word, _, name = value.partition(":")
        if word.casefold() in {"option", "clear"}:
            return
        self._list = name.strip().casefold() if name else word.casefold()
        if self._list in _LISTS:
            self.has_lists = True
            self._account_type = name.strip()

    def _read_field(self, code: str, value: str) -> None:
        record = self._record
        if code in {"T", "U"}:
            record.values.setdefault("amount", value)
        elif code == "C":
            record.values["cleared"] = value
        elif code == "S":
            record.splits.append([value, "", ""])
        elif code in {"E", "$"} and record.splits:
            record.splits[-1][1 if code == "E" else 2] = value
        elif code in _FIELDS:
            name = _FIELDS[code]
            record.values[name] = _plain_date(value) if code == "D" else value

    def end_record(self) -> None:
        record, self._record = self._record, _Transaction()
        if not record.values and not record.splits:
            return
        if self._list == "account":
            # Its name and type stand in N and T.
            self._account = record.values.get("number", "")
            self._account_type = record.values.get("amount", "")
        elif self._list in _LISTS:
            values = {"account": self._account, "accountType": self._account_type}
            values |= record.values
            self.rows.append([values.get(name, "") for name in QIF_COLUMNS])
            for split in record.splits:
                self.splits.append([len(self.rows), *split])
        elif self._list not in {"cat", "class", "tag"}:
            self.others[self._list] = self.others.get(self._list, 0) + 1


def _plain_date(value: str) -> str:
    text = "".join(value.split())
    text = _APOSTROPHE_YEAR.sub(lambda match: f"/20{match[1]:0>2}", text)
    if match := _SHORT_YEAR.fullmatch(text):
        century = 20 if int(match[2]) < FIRST_YEAR_OF_1900S else 19
        return f"{match[1]}{century}{match[2]}"
    return text
