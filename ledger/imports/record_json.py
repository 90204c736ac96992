"""Records as JSON, for the rows that are stored. Pure."""

import datetime
from dataclasses import fields as fields_of
from decimal import Decimal
from typing import Any

from ledger.imports.records import Direction, Record, RecordKind, RecordLine

_FIELDS = fields_of(Record)
_READERS: dict[str, Any] = {
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "direction": Direction,
    "kind": RecordKind,
    "original_amount": Decimal,
    "exchange_rate": Decimal,
    "tags": tuple,
    "lines": lambda lines: tuple(RecordLine(*line) for line in lines),
}


def dump_record(record: Record) -> dict[str, Any]:
    """Return the fields that have a value; decimals are texts, dates stay dates."""
    found: dict[str, Any] = {}
    for each in _FIELDS:
        value = getattr(record, each.name)
        if value is None or value == "" or value == ():
            continue
        if isinstance(value, Decimal):
            value = format(value, "f")
        elif each.name == "lines":
            value = [
                (
                    line.amount,
                    line.category,
                    line.minor_category,
                    line.memo,
                    line.wallet,
                )
                for line in value
            ]
        found[each.name] = value
    return found


def load_record(stored: dict[str, Any]) -> Record:
    fields: dict[str, Any] = {"amount": None} | stored
    return Record(
        **{
            name: _READERS[name](value) if name in _READERS else value
            for name, value in fields.items()
        }
    )
