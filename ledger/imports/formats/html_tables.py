"""Tables of an HTML page, which banks and card issuers name .xls."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from ledger.imports.formats.cells import (
    MAX_CELL_LENGTH,
    MAX_COLUMNS,
    MAX_ROWS,
    InvalidFileError,
    RawTable,
)

_IGNORED = frozenset({"script", "style", "head", "template"})
MAX_DEPTH = 20


def read_html(text: str) -> Iterator[RawTable]:
    """Yield the tables of a page that have cells, nested ones after their outer one."""
    parser = _TableParser()
    parser.feed(text)
    parser.close()
    tables = [grid for grid in parser.grids if any(grid.rows)]
    if not tables:
        raise InvalidFileError("damaged")
    for number, grid in enumerate(tables, 1):
        yield RawTable("html", str(number), grid.rows)


class _Grid:
    """A table being read.

    A cell over several columns stands in the first of them, a cell over several rows
    in each of them: a date that is written once belongs to all of its rows.
    """

    def __init__(self) -> None:
        self.rows: list[list[str | None]] = []
        self.texts: list[str] | None = None
        self.length = 0
        self._spans = (1, 1)
        # Column -> how many more rows a cell covers, and its text.
        self._covered: dict[int, tuple[int, str]] = {}

    def open_row(self) -> None:
        self.close_cell()
        if len(self.rows) > 2 * MAX_ROWS:
            raise InvalidFileError("rows", limit=MAX_ROWS)
        self.rows.append([])

    def close_row(self) -> None:
        self.close_cell()
        if self.rows:
            self._fill_covered()

    def open_cell(self, attributes: dict[str, str | None]) -> None:
        self.close_cell()
        if not self.rows:
            self.rows.append([])
        self.texts, self.length = [], 0
        self._spans = (
            _read_span(attributes.get("colspan"), MAX_COLUMNS),
            _read_span(attributes.get("rowspan"), MAX_ROWS),
        )

    def add_text(self, text: str) -> None:
        if self.texts is not None and self.length <= MAX_CELL_LENGTH:
            self.texts.append(text[: MAX_CELL_LENGTH + 1])
            self.length += len(text)

    def close_cell(self) -> None:
        if self.texts is None:
            return
        text = "".join(self.texts).strip()
        self.texts = None
        self._fill_covered()
        row, (columns, rows) = self.rows[-1], self._spans
        if len(row) + columns > 2 * MAX_COLUMNS:
            raise InvalidFileError("columns", limit=MAX_COLUMNS)
        if rows > 1:
            self._covered[len(row)] = (rows - 1, text)
            for offset in range(1, columns):
                self._covered[len(row) + offset] = (rows - 1, "")
        row += [text, *[None] * (columns - 1)]

    def _fill_covered(self) -> None:
        """Add the cells of rows above that stand here."""
        row = self.rows[-1]
        while covered := self._covered.pop(len(row), None):
            rows, text = covered
            if rows > 1:
                self._covered[len(row)] = (rows - 1, text)
            row.append(text)


def _read_span(value: str | None, limit: int) -> int:
    if value is None or not value.strip().isdecimal():
        return 1
    return max(1, min(int(value.strip()[:6]), limit))


class _TableParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.grids: list[_Grid] = []
        self._open: list[_Grid] = []
        self._ignored = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _IGNORED:
            self._ignored += 1
        elif tag == "table":
            if len(self._open) >= MAX_DEPTH:
                raise InvalidFileError("damaged")
            grid = _Grid()
            self._open.append(grid)
            self.grids.append(grid)
        elif self._open:
            self._open_part(tag, dict(attrs))

    def _open_part(self, tag: str, attributes: dict[str, Any]) -> None:
        grid = self._open[-1]
        if tag == "tr":
            grid.open_row()
        elif tag in {"td", "th"}:
            # Many pages do not end their head.
            self._ignored = 0
            grid.open_cell(attributes)
        elif tag in {"br", "p", "div"}:
            grid.add_text("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _IGNORED:
            self._ignored = max(0, self._ignored - 1)
        elif self._open:
            if tag in {"td", "th"}:
                self._open[-1].close_cell()
            elif tag == "tr":
                self._open[-1].close_row()
            elif tag == "table":
                self._open.pop().close_row()

    def handle_data(self, data: str) -> None:
        if self._open and not self._ignored:
            self._open[-1].add_text(data)
