"""A commit in work, which its steps read and change."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ledger.base.ledger_write import LockedLedger
from ledger.imports.choices import Choices
from ledger.imports.judging import JudgedRow
from ledger.imports.preparing import PreparedRows, RowChoice


@dataclass(slots=True)
class Commit:
    """One commit in work; `entry_ids` are the entries of rows, old and new ones."""

    ledger: LockedLedger
    choices: Choices
    prepared: PreparedRows
    row_choices: dict[int, RowChoice]
    learned: dict[int, str]
    now: datetime
    entry_ids: dict[int, int | None] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[JudgedRow]:
        return self.prepared.rows

    def edits(self, row: JudgedRow) -> Mapping[str, Any]:
        return self.row_choices.get(row.record.row, RowChoice()).edits
