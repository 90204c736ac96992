"""Checks an exported ledger by the rules of a restore, before it is written. Pure.

The columns of the database take what the API refuses: amounts beyond the range, lines
that do not add up, refunds of more than was spent.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from core.api.fields import MAX_AMOUNT
from ledger.backup.cell_parsers import CellError, parse_date, parse_name
from ledger.backup.columns import SHEETS
from ledger.backup.schema import Sheet
from ledger.backup.validation import validate_tables
from ledger.backup.workbook import Table
from ledger.cards.schedule import format_month
from ledger.errors import EmptyBackupError, ImportUnreadableError, InvalidBackupError
from ledger.imports.own_export.columns import LINES
from ledger.imports.own_export.reading import OwnExport, Row, format_term

# Of lists that no backup has.
_MONEY = {
    "expectedIncomes": ("amount",),
    "stocks": ("current_price",),
    "trades": ("price", "fee", "tax"),
}


def check_export(export: OwnExport, home_currency: str) -> None:
    """Raise `ImportUnreadableError` with the place of the first wrong value."""
    _check_other_lists(export)
    sheets = _Sheets(export)
    tables = (Table(sheet.name, iter(sheets.list_rows(sheet))) for sheet in SHEETS)
    try:
        validate_tables(tables, home_currency)
    except EmptyBackupError:
        return
    except InvalidBackupError as error:
        first = error.errors[0]
        location: Mapping[str, Any] = first.location or {}
        place = ".".join(filter(None, (location["sheet"], location["column"])))
        raise _wrong(place, str(first.detail)) from None


def _check_other_lists(export: OwnExport) -> None:
    for name, columns in _MONEY.items():
        for row in export.rows[name]:
            for column in columns:
                if not 0 <= (row[column] or 0) <= MAX_AMOUNT:
                    detail = gettext("Must be between {minimum} and {maximum}.")
                    detail = detail.format(minimum=0, maximum=MAX_AMOUNT)
                    raise _wrong(f"{name}.{column}", detail)
    try:
        for row in export.rows["stocks"]:
            parse_name(row["name"])
        for row in export.rows["trades"]:
            parse_date(to_cell(row["date"]))
    except CellError as error:
        raise _wrong("stocks", error.detail) from None


def _wrong(place: str, reason: str) -> ImportUnreadableError:
    detail = gettext("The export has a wrong value in {place}.")
    return ImportUnreadableError(f"{detail.format(place=place)} {reason}")


class _Sheets:
    """The rows of the export as a backup has them: with names in place of ids."""

    def __init__(self, export: OwnExport) -> None:
        self._export = export
        rows = export.rows
        self._wallets = {row["id"]: row["name"] for row in rows["wallets"]}
        self._categories = {row["id"]: row["name"] for row in rows["categories"]}
        self._tags = {row["id"]: row["name"] for row in rows["tags"]}
        self._dismissed: dict[int, list[str]] = {}
        for out_id, in_id in export.dismissed:
            self._dismissed.setdefault(out_id, []).append(_key("entries", in_id))

    def list_rows(self, sheet: Sheet[Any]) -> Iterator[list[Any]]:
        names = [column.name for column in sheet.columns]
        for row in self._iter_rows(sheet.name):
            yield [to_cell(row.get(name)) for name in names]

    def _iter_rows(self, name: str) -> Iterator[Row]:
        if name != "lines":
            for row in self._export.rows[name]:
                yield self._name(name, row)
            return
        for owner in LINES:
            for owner_id, lines in self._export.lines[owner].items():
                for line in lines:
                    yield self._name("lines", line) | {"entry": _key(owner, owner_id)}

    def _name(self, name: str, row: Row) -> Row:
        named = dict(row)
        for column, names in (
            ("wallet", self._wallets),
            ("to_wallet", self._wallets),
            ("category", self._categories),
            ("parent", self._categories),
        ):
            named[column] = names.get(row.get(f"{column}_id"))
        for column in ("entry", "refund_of"):
            if (entry_id := row.get(f"{column}_id")) is not None:
                named[column] = _key("entries", entry_id)
        if name in LINES:
            named["key"] = _key(name, row["id"])
            tags = self._export.tags[name].get(row["id"], ())
            named["tags"] = [self._tags[tag] for tag in tags]
        if row.get("bill_month") is not None:
            named["bill_month"] = format_month(row["bill_month"])
        if name == "cards":
            named |= self._name_card(row)
        if name == "bills":
            named["wallet"] = self._wallets.get(row["card_id"])
            named["month"] = row["month"] and format_month(row["month"])
        if name == "entries":
            named["not_with"] = self._dismissed.get(row["id"])
        if name == "mergedEntries":
            named["tags"] = [self._tags[tag] for tag in row["tag_ids"]]
        return named

    def _name_card(self, row: Row) -> Row:
        categories, tags = row["excluded_category_ids"], row["excluded_tag_ids"]
        return {
            "wallet": self._wallets.get(row["id"]),
            "terms": [format_term(term.to_json()) for term in row["terms"]],
            "pay_from": self._wallets.get(row["pay_from_wallet_id"]),
            "billed_with": self._wallets.get(row["billed_with_id"]),
            "excluded_categories": [self._categories[each] for each in categories],
            "excluded_tags": [self._tags[each] for each in tags],
        }


def _key(name: str, row_id: int) -> str:
    return f"{name} {row_id}"


def to_cell(value: Any) -> Any:
    """Return a value as the JSON of a backup has it."""
    match value:
        case datetime():
            text = value.astimezone(UTC).replace(tzinfo=None).isoformat()
            return f"{text}Z"
        case date() | UUID():
            return str(value)
        case time():
            # Rows of files have seconds too.
            return value.strftime("%H:%M")
        case Decimal():
            return format(value, "f")
    return value
