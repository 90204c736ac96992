"""`ledger`: the JSON of our own `/export`, as rows beside what a ledger has.

An empty ledger takes the whole file instead (`ledger.imports.own_export`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from ledger.entry_shape import EXPENSE, INCOME, TRANSFER
from ledger.imports.own_export.reading import OwnExport, Row, parse_export, read_export
from ledger.imports.records import (
    ColumnMapping,
    Direction,
    FileReading,
    ReadContext,
    Record,
    RecordKind,
    RecordLine,
    Table,
)

# Lists that no row of a file can bring.
_WHOLE_ONLY = (
    *("valuations", "mergedEntries", "quickEntries", "recurring", "occurrences"),
    *("budgets", "expectedIncomes", "stocks", "trades", "notifications", "layouts"),
    *("cards", "bills", "cardPayments"),
)


OWN_SOURCE = "ledger"


class OwnSource:
    name = OWN_SOURCE

    def recognizes(self, tables: Sequence[Table]) -> bool:
        return bool(tables) and tables[0].kind == "ledger"

    def read(
        self,
        tables: Sequence[Table],
        mapping: ColumnMapping | None,
        context: ReadContext,
    ) -> FileReading:
        export = read_export(parse_export(str(tables[0].rows[0][0])))
        names = _Names(export)
        records: list[Any] = [
            names.make_record(number, row)
            for number, row in enumerate(export.rows["entries"], start=1)
            if not row["pending"]
        ]
        pending = len(export.rows["entries"]) - len(records)
        lacking = [name for name in _WHOLE_ONLY if export.rows[name]]
        left_out = []
        if lacking:
            detail = gettext("Only an empty ledger takes these lists: {names}.")
            left_out.append(detail.format(names=", ".join(lacking)))
        if any(row["excluded"] for row in export.rows["entries"]):
            left_out.append(gettext("Excluded entries count in the statistics."))
        if any(row["refund_of_id"] is not None for row in export.rows["entries"]):
            left_out.append(gettext("Refunds do not name their expenses."))
        if any(
            row["bill_month"] or row["installment_parts"]
            for row in export.rows["entries"]
        ):
            detail = gettext("Entries do not name their bill, and have equal parts.")
            left_out.append(detail)
        return FileReading(
            self.name,
            None,
            records,
            passed_over={"pending": pending} if pending else {},
            left_out=left_out,
        )


class _Names:
    """The names that the rows of a file refer to by id."""

    def __init__(self, export: OwnExport) -> None:
        self._export = export
        self._wallets = {row["id"]: row["name"] for row in export.rows["wallets"]}
        self._categories = {row["id"]: row for row in export.rows["categories"]}
        self._tags = {row["id"]: row["name"] for row in export.rows["tags"]}

    def make_record(self, number: int, row: Row) -> Record:
        major, minor = self._name_category(row["category_id"])
        tags = self._export.tags["entries"].get(row["id"], ())
        is_income = row["type"] == INCOME
        return Record(
            row=number,
            date=row["date"],
            direction=Direction.IN if is_income else Direction.OUT,
            amount=row["amount"],
            kind=_kind_of(row),
            time=row["time"],
            wallet=self._name_wallet(row["wallet_id"]),
            other_wallet=self._name_wallet(row["to_wallet_id"]),
            category=major,
            minor_category=minor,
            text=row["memo"] or "",
            memo=row["memo"] or "",
            tags=tuple(self._tags[tag] for tag in tags),
            currency=row["currency"],
            original_amount=row["original_amount"],
            exchange_rate=row["exchange_rate"],
            months=row["installment_months"],
            # Another export of the same ledger has the same ids.
            external_id=f"{row['created_at'].isoformat()} {row['id']}"
            if row["created_at"]
            else None,
            lines=tuple(
                self._make_line(line)
                for line in self._export.lines["entries"].get(row["id"], ())
            ),
        )

    def _make_line(self, line: Mapping[str, Any]) -> RecordLine:
        major, minor = self._name_category(line["category_id"])
        return RecordLine(
            amount=line["amount"],
            category=major,
            minor_category=minor,
            memo=line["memo"] or "",
            wallet=self._name_wallet(line["wallet_id"]),
        )

    def _name_wallet(self, wallet_id: int | None) -> str | None:
        return None if wallet_id is None else self._wallets[wallet_id]

    def _name_category(self, category_id: int | None) -> tuple[str | None, str | None]:
        if category_id is None:
            return None, None
        row = self._categories[category_id]
        if row["parent_id"] is None:
            return row["name"], None
        return self._categories[row["parent_id"]]["name"], row["name"]


def _kind_of(row: Row) -> RecordKind:
    # With lines it is written as an expense, which moves the same money.
    if row["type"] == TRANSFER and row["to_wallet_id"] is not None:
        return RecordKind.TRANSFER
    if row["type"] == INCOME and row.get("category_type") == EXPENSE:
        return RecordKind.REFUND
    return RecordKind.FLOW
