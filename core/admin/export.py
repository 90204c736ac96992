"""Streamed CSV files of lists."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone, translation

from core.admin.columns import Column
from core.csv_cells import BYTE_ORDER_MARK, make_cell

ROWS_PER_STATEMENT = 1_000


class Echo:
    def write(self, text: str) -> str:
        return text


def iterate_rows(rows: QuerySet[Any]) -> Iterator[Any]:
    """Read by descending key, without a transaction between batches."""
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
    writer = csv.writer(Echo())
    # The response is streamed after the request and its language have ended.
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
        yield line  # returned by `Echo.write`


def csv_response(
    name: str, columns: Sequence[Column], rows: Iterable[Any]
) -> StreamingHttpResponse:
    language = translation.get_language() or "en"
    response = StreamingHttpResponse(
        write_lines(columns, rows, language), content_type="text/csv; charset=utf-8"
    )
    filename = f"{name}-{timezone.localdate():%Y%m%d}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response
