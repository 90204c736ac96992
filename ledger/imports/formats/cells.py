"""Tables as the reader sends them, and their bounds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

# Below the header (spec 3.29).
MAX_ROWS = 100_000
MAX_COLUMNS = 64
# Of a sheet with empty rows between others.
MAX_ALL_ROWS = 1_048_576
# Of all tables: a cell takes up to a hundred bytes in the process of the service.
MAX_CELLS = 2_000_000
MAX_TABLES = 100
MAX_CELL_LENGTH = 1_000
MAX_NAME_LENGTH = 100
# Stands for NUL and single surrogates, which no database or JSON takes; a text with it
# is refused like one with any control character.
NO_CHARACTER = "\uffff"
_NO_CHARACTERS = dict.fromkeys((0, *range(55296, 57344)), NO_CHARACTER)

Row: TypeAlias = Sequence[Any]


class InvalidFileError(Exception):
    """A file cannot be read; `name` is a key of `FILE_ERRORS` of the service."""

    def __init__(self, name: str, **values: str | int) -> None:
        self.name = name
        self.values = values
        super().__init__(name)


class PasswordError(Exception):
    """A file is encrypted; `is_wrong` is True if a password was given."""

    def __init__(self, *, is_wrong: bool) -> None:
        self.is_wrong = is_wrong
        super().__init__()


@dataclass(frozen=True, slots=True)
class RawTable:
    kind: str
    name: str
    rows: Iterable[Row]


class Budget:
    """Counts the cells of a file; raises `InvalidFileError` beyond the bounds."""

    def __init__(self) -> None:
        self.tables = 0
        self.cells = 0

    def bound_rows(self, table: RawTable) -> Iterator[list[Any]]:
        """Yield rows without empty cells at their end and empty rows at the end."""
        self.tables += 1
        if self.tables > MAX_TABLES:
            raise InvalidFileError("tables", limit=MAX_TABLES)
        row_count = 0
        empty_count = 0
        for cells in table.rows:
            row = [bound_cell(cell) for cell in cells]
            while row and (row[-1] is None or row[-1] == ""):
                row.pop()
            if not row:
                empty_count += 1
                if empty_count > MAX_ALL_ROWS:
                    raise InvalidFileError("rows", limit=MAX_ROWS)
                continue
            if len(row) > MAX_COLUMNS:
                raise InvalidFileError("columns", limit=MAX_COLUMNS)
            row_count += 1
            self.cells += len(row) + empty_count
            # The header is no row of the limit.
            if row_count > MAX_ROWS + 1:
                raise InvalidFileError("rows", limit=MAX_ROWS)
            if self.cells > MAX_CELLS:
                raise InvalidFileError("cells", limit=MAX_CELLS)
            yield from ([] for _ in range(empty_count))
            empty_count = 0
            yield row


def bound_cell(cell: Any) -> Any:
    if cell.__class__ is not str:
        return cell
    text = cell if len(cell) <= MAX_CELL_LENGTH else cell[:MAX_CELL_LENGTH]
    return text if text.isprintable() else text.translate(_NO_CHARACTERS)
