"""Files of apps and banks: samples with the records expected of them."""

import json
from datetime import date
from pathlib import Path
from typing import Any

from ledger.imports.formats.contents import read_contents
from ledger.imports.records import (
    BadRow,
    FileReading,
    ReadContext,
    Record,
    RecordKind,
    RecordLine,
    Table,
)

SAMPLES = Path(__file__).parents[1] / "samples" / "imports"
CONTEXT = ReadContext(date(2026, 9, 10), "KRW")


def list_samples() -> list[Path]:
    """Return the files that stand beside their expected records."""
    found = []
    for expected in sorted(SAMPLES.glob("*.json")):
        found += [
            each for each in SAMPLES.glob(f"{expected.stem}.*") if each != expected
        ]
    return found


def source_of(sample: Path) -> str:
    """Return the source of a sample: the first word of its name."""
    return sample.stem.partition("_")[0]


def read_tables(data: bytes) -> list[Table]:
    """Return the tables of a file, read in this process."""
    return [
        Table(kind, name, [list(row) for row in rows])
        for kind, name, rows in read_contents(data, None)
    ]


def read_expected(sample: Path) -> dict[str, Any]:
    expected: dict[str, Any] = json.loads(sample.with_suffix(".json").read_text())
    return expected


def describe(reading: FileReading) -> dict[str, Any]:
    """Return a reading as the expected ones are written: without empty fields."""
    described: dict[str, Any] = {
        "records": [
            describe_record(each)
            for each in reading.records
            if isinstance(each, Record)
        ],
        "bad": {
            str(each.row): each.errors[0].field
            for each in reading.records
            if isinstance(each, BadRow)
        },
        "passedOver": {name: n for name, n in reading.passed_over.items() if n},
        "leftOut": reading.left_out,
        "balances": [
            [each.wallet, each.amount, each.date.isoformat(), each.kind]
            for each in reading.balances
        ],
    }
    return {name: value for name, value in described.items() if value}


def describe_record(record: Record) -> list[Any]:
    moment = record.date.isoformat()
    if record.time is not None:
        moment += f"T{record.time.isoformat('seconds')}"
    others: dict[str, Any] = {
        "kind": "" if record.kind is RecordKind.FLOW else record.kind.value,
        "wallet": record.wallet,
        "other_wallet": record.other_wallet,
        "category": record.category,
        "minor_category": record.minor_category,
        "text": record.text,
        "memo": record.memo,
        "tags": list(record.tags),
        "currency": record.currency,
        "original_amount": record.original_amount and str(record.original_amount),
        "exchange_rate": record.exchange_rate and str(record.exchange_rate),
        "months": record.months,
        "external_id": record.external_id,
        "lines": list(map(_describe_line, record.lines)),
    }
    named = {name: value for name, value in others.items() if value}
    return [record.row, moment, record.direction.value, record.amount, named]


def _describe_line(line: RecordLine) -> list[Any]:
    return [line.amount, line.category, line.minor_category, line.memo, line.wallet]
