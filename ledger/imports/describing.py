"""What the API says of a file that was read. Pure."""

from collections import Counter
from typing import Any

from ledger.imports.choices import (
    CategoryName,
    Choices,
    GuessedWallet,
    list_categories,
)
from ledger.imports.interpreting import Interpretation
from ledger.imports.records import ColumnMapping
from ledger.imports.shapes import chosen_category
from ledger.models import ImportStatus


def describe_reading(
    interpretation: Interpretation, choices: Choices
) -> dict[str, Any]:
    """Return columns, wallets, categories, counts, balances and what is left out."""
    reading = interpretation.reading
    categories = list_categories(row.record for row in interpretation.rows)
    return {
        "columns": _list_columns(reading.mapping),
        "mapping": _list_mapped(reading.mapping),
        "headerRow": reading.mapping and reading.mapping.header_row,
        "dateOrder": reading.mapping and reading.mapping.date_order,
        "wallets": [_describe_wallet(each) for each in interpretation.prepared.wallets],
        "categories": [
            _describe_category(name, rows, choices) for name, rows in categories.items()
        ],
        "counts": count_statuses(interpretation),
        "balances": [
            {
                "wallet": each.wallet,
                "amount": each.amount,
                "date": each.date.isoformat(),
                "kind": each.kind,
            }
            for each in reading.balances
        ],
        "passedOver": dict(reading.passed_over),
        "leftOut": list(reading.left_out),
    }


def count_statuses(interpretation: Interpretation) -> dict[str, int]:
    counts = Counter(row.status for row in interpretation.rows)
    counts[ImportStatus.INVALID] += len(interpretation.prepared.bad)
    return {status.value: counts[status] for status in ImportStatus}


def _list_columns(mapping: ColumnMapping | None) -> list[dict[str, Any]]:
    columns = () if mapping is None else mapping.columns
    return [{"column": each.column, "name": each.name} for each in columns]


def _list_mapped(mapping: ColumnMapping | None) -> list[dict[str, Any]]:
    columns = () if mapping is None else mapping.columns
    return [
        {"column": each.column, "name": each.name, "field": each.field}
        for each in columns
        if each.field is not None
    ]


def _describe_wallet(guessed: GuessedWallet) -> dict[str, Any]:
    kind = guessed.choice.create_kind
    return {
        "name": guessed.name,
        "walletId": guessed.choice.wallet_id,
        "create": kind and {"kind": kind},
        "guess": guessed.guess,
        "rows": guessed.rows,
    }


def _describe_category(
    name: CategoryName, rows: int, choices: Choices
) -> dict[str, Any]:
    return {
        "name": name.name,
        "parent": name.parent,
        "type": name.type,
        "category": chosen_category(name, choices),
        "rows": rows,
    }
