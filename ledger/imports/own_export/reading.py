"""Reads an exported ledger, and checks each value before anything is written. Pure."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from ledger.backup.cell_parsers import CellError, parse_month, parse_terms
from ledger.export.json_shape import FORMAT, SETTINGS, VERSION, get_default
from ledger.imports.errors import UnreadableFileError
from ledger.imports.own_export.columns import (
    IMPORT_KEYS,
    LINE_FIELDS,
    LINES,
    LISTS,
    REFUND_FIELD,
    Field,
    OwnList,
)
from ledger.models.imports import DIGEST_BYTES

MAX_ROWS = 500_000
# Of a card, in the order of a backup.
_TERM_FIELDS = ("from", "closingDay", "paymentDay", "paymentMonth", "shift")
# The ranges of the columns.
_MAX_INTEGER = 2**63 - 1
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_MISSING = object()

Row = dict[str, Any]


@dataclass(slots=True)
class OwnExport:
    """A ledger as the file has it; references are still ids of the file.

    `rows` are by list; lines and tags are by list and by the id of their owner.
    """

    rows: dict[str, list[Row]] = field(default_factory=dict)
    lines: dict[str, dict[int, list[Row]]] = field(default_factory=dict)
    tags: dict[str, dict[int, list[int]]] = field(default_factory=dict)
    dismissed: list[tuple[int, int]] = field(default_factory=list)
    captures_bank_texts: bool = False

    def count_rows(self) -> dict[str, int]:
        return {name: len(rows) for name, rows in self.rows.items() if rows}


def parse_export(text: str) -> Mapping[str, Any]:
    """Return the object of a file of this version; raise `UnreadableFileError`."""
    try:
        body = json.loads(text, parse_float=Decimal, parse_constant=_refuse)
    except (ValueError, RecursionError, InvalidOperation):
        raise UnreadableFileError(gettext("The JSON is damaged.")) from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise UnreadableFileError(gettext("The JSON is no export of a ledger."))
    if body.get("version") != VERSION:
        detail = gettext("The export is of another version; this one reads {version}.")
        raise UnreadableFileError(detail.format(version=VERSION))
    return body


def read_export(body: Mapping[str, Any]) -> OwnExport:
    """Check all rows and references; raise `UnreadableFileError` for a wrong one."""
    export = OwnExport()
    ids: dict[str, set[int]] = {}
    for each in LISTS:
        rows = _list_of(body, each.name)
        ids[each.name] = set()
        if each.has_id:
            ids[each.name] = {_read_id(row, each.name) for row in rows}
            if len(ids[each.name]) != len(rows):
                raise _wrong(each.name, "id")
    if sum(map(len, ids.values())) > MAX_ROWS:
        raise UnreadableFileError(gettext("The export has too many rows."))
    for each in LISTS:
        export.rows[each.name] = [
            _read_row(row, each, ids) for row in _list_of(body, each.name)
        ]
        if each.name in LINES:
            _read_parts(export, each, _list_of(body, each.name), ids)
    export.dismissed = [
        (_known(row, "outId", ids["entries"]), _known(row, "inId", ids["entries"]))
        for row in _list_of(body, "dismissedTransfers")
    ]
    own_settings = body.get(SETTINGS) or {}
    if isinstance(own_settings, dict):
        export.captures_bank_texts = own_settings.get("captureBankTexts") is True
    return export


def _read_parts(
    export: OwnExport,
    each: OwnList,
    rows: Sequence[Mapping[str, Any]],
    ids: Mapping[str, set[int]],
) -> None:
    fields = dict(LINE_FIELDS)
    if each.name == "entries":
        fields["refundOf"] = REFUND_FIELD
    lines, tags = export.lines, export.tags
    lines[each.name], tags[each.name] = {}, {}
    for row in rows:
        parts = _list_of(row, "lines")
        if parts:
            lines[each.name][row["id"]] = [
                _read_fields(part, fields, f"{each.name}.lines", ids) for part in parts
            ]
        tag_field = Field("tag_id", refers_to="tags", is_list=True)
        place = f"{each.name}.tagIds"
        if linked := _read_value(row.get("tagIds", []), tag_field, place, ids):
            tags[each.name][row["id"]] = list(dict.fromkeys(linked))


def _read_row(
    row: Mapping[str, Any], each: OwnList, ids: Mapping[str, set[int]]
) -> Row:
    found = _read_fields(row, each.fields, each.name, ids)
    if each.has_id:
        found["id"] = row["id"]
    if "categoryType" in row:
        kind = Field("category_type", "text")
        place = f"{each.name}.categoryType"
        found["category_type"] = _read_value(row["categoryType"], kind, place, ids)
    if each.name == "mergedEntries":
        found["former_id"] = _read_id(row, each.name, "formerId")
    if each.name == IMPORT_KEYS and found["digest"] is None:
        raise _wrong(each.name, "digest")
    return found


def _read_fields(
    row: Any,
    fields: Mapping[str, Field],
    place: str,
    ids: Mapping[str, set[int]],
) -> Row:
    if not isinstance(row, dict):
        raise _wrong(place, "")
    return {
        each.column: _read_value(
            get_default(name) if row.get(name) is None else row[name],
            each,
            f"{place}.{name}",
            ids,
        )
        for name, each in fields.items()
    }


def _read_value(
    value: Any, each: Field, place: str, ids: Mapping[str, set[int]]
) -> Any:
    if value is None:
        return [] if each.is_list else None
    if each.is_list:
        if not isinstance(value, list):
            raise _wrong(place, "")
        found = [_read_reference(item, each, place, ids) for item in value]
        return [item for item in found if item is not None]
    if each.refers_to:
        return _read_reference(value, each, place, ids)
    read = _READERS[each.kind](value)
    if read is _MISSING:
        raise _wrong(place, "")
    return read


def _read_reference(
    value: Any, each: Field, place: str, ids: Mapping[str, set[int]]
) -> int | None:
    if not _is_integer(value):
        raise _wrong(place, "")
    if value in ids[str(each.refers_to)]:
        number: int = value
        return number
    if each.is_loose:
        return None
    raise _wrong(place, "")


def _list_of(body: Any, name: str) -> list[Any]:
    rows = body.get(name, []) if isinstance(body, dict) else None
    if not isinstance(rows, list):
        raise _wrong(name, "")
    return rows


def _read_id(row: Any, name: str, field: str = "id") -> int:
    if not isinstance(row, dict) or not _is_integer(row.get(field)):
        raise _wrong(name, field)
    number: int = row[field]
    return number


def _known(row: Any, name: str, known: set[int]) -> int:
    number = _read_id(row, "dismissedTransfers", name)
    if number not in known:
        raise _wrong("dismissedTransfers", name)
    return number


def _wrong(place: str, name: str) -> UnreadableFileError:
    detail = gettext("The export has a wrong value in {place}.")
    return UnreadableFileError(
        detail.format(place=".".join(filter(None, (place, name))))
    )


def _is_integer(value: Any) -> bool:
    return type(value) is int and abs(value) <= _MAX_INTEGER


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _read_text(value: Any) -> Any:
    is_text = isinstance(value, str) and not _CONTROL.search(value)
    return value if is_text else _MISSING


def format_term(stored: Mapping[str, Any]) -> str:
    """Return the days of bills as a backup has them."""
    return " ".join(str(stored[name]) for name in _TERM_FIELDS)


def _read_terms(value: Any) -> Any:
    if not isinstance(value, list):
        return _MISSING
    try:
        return list(parse_terms([format_term(each) for each in value]))
    except (CellError, KeyError, TypeError):
        return _MISSING


def _read_month(text: str) -> date:
    try:
        return parse_month(text)
    except CellError as error:
        raise ValueError(text) from error


def _read_integers(value: Any) -> Any:
    is_list = isinstance(value, list) and all(map(_is_integer, value))
    return value if is_list else _MISSING


def _read_decimal(value: Any) -> Any:
    if isinstance(value, Decimal) and value.is_finite():
        return value if abs(value.adjusted()) < 40 else _MISSING
    return Decimal(value) if _is_integer(value) else _MISSING


def _parser(parse: Callable[[str], Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return _MISSING
        try:
            return parse(value)
        except (ValueError, OverflowError):
            return _MISSING

    return read


def _read_digest(text: str) -> bytes:
    digest = bytes.fromhex(text)
    if len(digest) != DIGEST_BYTES:
        raise ValueError(text)
    return digest


def _read_time(text: str) -> time:
    read = time.fromisoformat(text)
    if read.tzinfo is not None:
        raise ValueError(text)
    return read


def _read_moment(text: str) -> datetime:
    read = datetime.fromisoformat(text)
    if read.tzinfo is None:
        raise ValueError(text)
    # Of the years that a database takes in any time zone.
    return read.astimezone(UTC)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "int": lambda value: value if _is_integer(value) else _MISSING,
    "text": _read_text,
    "bool": lambda value: value if isinstance(value, bool) else _MISSING,
    "date": _parser(date.fromisoformat),
    "time": _parser(_read_time),
    "datetime": _parser(_read_moment),
    "decimal": _read_decimal,
    "uuid": _parser(UUID),
    "digest": _parser(_read_digest),
    "month": _parser(_read_month),
    "ints": _read_integers,
    "terms": _read_terms,
}
