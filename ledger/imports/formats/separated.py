"""Values separated by commas, semicolons, tabs or bars."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from ledger.imports.formats.cells import InvalidFileError, RawTable

SEPARATORS = (",", ";", "\t", "|")
SAMPLE_ROWS = 50
# A quote that is not closed makes one cell of the rest of the file.
MAX_FIELD_LENGTH = 131_072


def read_separated(text: str) -> RawTable:
    """Return the table of a text; raise `InvalidFileError` "kind" or "damaged"."""
    separator = _find_separator(text)
    if separator is None:
        raise InvalidFileError("kind")
    return RawTable("csv", "", _read_rows(text, separator))


def _find_separator(text: str) -> str | None:
    """Return the separator that gives most rows the same number of cells."""
    best, best_score = None, 0
    for separator in SEPARATORS:
        rows = _iter_rows(text, separator, is_strict=False)
        try:
            lengths = [len(row) for row in islice(rows, SAMPLE_ROWS)]
        except csv.Error:
            continue
        counts = Counter(length for length in lengths if length > 1)
        if not counts:
            continue
        # Rows that agree count more than the columns that they have.
        score = max(count * 100 + length for length, count in counts.items())
        if score > best_score:
            best, best_score = separator, score
    return best


def _read_rows(text: str, separator: str) -> Iterator[list[str]]:
    """Read by the rules of quotes; a file that breaks them is read as it stands."""
    is_strict = True
    try:
        for _ in _iter_rows(text, separator, is_strict=True):
            pass
    except csv.Error as error:
        # The end stands within quotes, or a cell is longer than any text.
        if "end of data" in str(error) or "field limit" in str(error):
            raise InvalidFileError("damaged") from None
        is_strict = False
    try:
        yield from _iter_rows(text, separator, is_strict=is_strict)
    except csv.Error:
        raise InvalidFileError("damaged") from None


def _iter_rows(text: str, separator: str, *, is_strict: bool) -> Iterator[list[str]]:
    csv.field_size_limit(MAX_FIELD_LENGTH)
    file = io.StringIO(text, newline="")
    return csv.reader(file, delimiter=separator, strict=is_strict)
