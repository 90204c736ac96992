"""Columns that a member corrects."""

from typing import Any

from django.utils.translation import gettext

from core.errors import DomainError, FieldError, InvalidFieldError
from ledger.imports.records import ColumnMapping, MappedColumn
from ledger.imports.sources import SOURCES
from ledger.models import Import

_NAMES = ("mapping", "date_order")


def raise_on_unknown_source(name: str | None) -> None:
    if name is not None and name not in SOURCES:
        detail = gettext("Unknown source. Known are: {names}.")
        detail = detail.format(names=", ".join(SOURCES))
        raise InvalidFieldError("source", detail, "invalid_choice")


def change_mapping(row: Import, values: dict[str, Any]) -> dict[str, Any]:
    """Return the whole mapping of a request that changes it, None to guess anew.

    Raises `DomainError` for columns that the file has not, or that stand there twice,
    and for a source that knows its columns.
    """
    if not any(name in values for name in _NAMES):
        return {}
    if values.get("mapping", ()) is None and "date_order" not in values:
        return {"mapping": None}
    columns = {each["column"]: each["name"] for each in row.description["columns"]}
    if not columns:
        detail = gettext("The columns of this source are known.")
        raise InvalidFieldError("mapping", detail)
    sent = values.get("mapping")
    if sent is None:
        fields = {each["column"]: each["field"] for each in row.description["mapping"]}
    else:
        fields = _read_fields(sent, columns)
    return {
        "mapping": ColumnMapping(
            header_row=row.description["headerRow"],
            columns=tuple(
                MappedColumn(column, name, fields.get(column))
                for column, name in columns.items()
            ),
            date_order=values.get("date_order", row.description["dateOrder"]),
        )
    }


def _read_fields(
    sent: list[dict[str, Any]], columns: dict[int, str]
) -> dict[int, str | None]:
    errors = []
    fields: dict[int, str | None] = {}
    for index, each in enumerate(sent):
        name = f"mapping.{index}.column"
        if each["column"] not in columns:
            detail = gettext("The file has no such column.")
            errors.append(FieldError(name, detail, "does_not_exist"))
        elif each["column"] in fields:
            detail = gettext("The column is named twice.")
            errors.append(FieldError(name, detail, "repeated"))
        fields[each["column"]] = each["field"]
    if errors:
        raise DomainError(errors=tuple(errors))
    return fields
