"""CSV files of lists: streamed, and harmless in spreadsheets."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone, translation

from core.admin.columns import Column

ROWS_PER_STATEMENT = 1_000
# What spreadsheets take for a formula, those of East Asia in full width as well. Blanks
# may stand before one.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# Tells spreadsheets that the file is in UTF-8.
BYTE_ORDER_MARK = "\ufeff"


class Echo:
    """A file for `csv.writer` that returns what is written."""

    def write(self, text: str) -> str:
        return text


def make_cell(value: object) -> str:
    """Return the text of a cell; one that could be a formula begins with a quote."""
    if value is None:
        return ""
    text = str(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    starts = (text, text.lstrip())
    if any(each.startswith(FORMULA_STARTS) for each in starts) and not is_number:
        return f"'{text}"
    return text


def iterate_rows(rows: QuerySet[Any]) -> Iterator[Any]:
    """Yield all rows by descending key, in statements of `ROWS_PER_STATEMENT` each.

    No statement is long, and no transaction is held, however slowly the client reads.
    """
    rows = rows.order_by("-pk")
    batch = list(rows[:ROWS_PER_STATEMENT])
    while batch:
        yield from batch
        if len(batch) < ROWS_PER_STATEMENT:
            return
        last = batch[-1].pk
        batch = list(rows.filter(pk__lt=last)[:ROWS_PER_STATEMENT])


def write_lines(
    columns: Sequence[Column], rows: Iterable[Any], language: str
) -> Iterator[str]:
    """Yield the lines of the file, with the labels of the columns first."""
    writer = csv.writer(Echo())
    # The response is sent after the request has ended, and with it its language.
    with translation.override(language):
        head = writer.writerow([str(column.short_description) for column in columns])
    yield f"{BYTE_ORDER_MARK}{head}"
    iterator = iter(rows)
    while True:
        with translation.override(language):
            row = next(iterator, None)
            if row is None:
                return
            line = writer.writerow([make_cell(c.get_text(row)) for c in columns])
        yield line  # what `Echo.write` returns


def csv_response(
    name: str, columns: Sequence[Column], rows: Iterable[Any]
) -> StreamingHttpResponse:
    """Return the file as a download, whose lines are read while they are sent."""
    language = translation.get_language() or "en"
    response = StreamingHttpResponse(
        write_lines(columns, rows, language), content_type="text/csv; charset=utf-8"
    )
    filename = f"{name}-{timezone.localdate():%Y%m%d}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response
