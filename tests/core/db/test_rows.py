"""Rows of raw SQL by name."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.db.rows import build_rows, fetch_all, fetch_one, fetch_parts

pytestmark = pytest.mark.django_db
NUMBERS = "SELECT n AS number, n::text AS text FROM generate_series(1, %s) AS n"
SWAPPED = "SELECT n::text AS text, n AS number FROM generate_series(1, %s) AS n"


class Tuple(NamedTuple):
    number: int
    text: str
    note: str = ""


class Exact(NamedTuple):
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    number: int
    text: str


@pytest.mark.parametrize("row_class", [Tuple, Exact, Record])
@pytest.mark.parametrize("sql", [NUMBERS, SWAPPED])
def test_columns_are_matched_by_name(row_class: Any, sql: str) -> None:
    rows = fetch_all(sql, [2], row_class)
    assert rows == [row_class(1, "1"), row_class(2, "2")]


def test_one_row_or_none() -> None:
    assert fetch_one(NUMBERS, [5], Exact) == Exact(1, "1")
    assert fetch_one(NUMBERS, [0], Exact) is None


def test_named_parameters() -> None:
    sql = "SELECT %(number)s::int AS number, 'x' AS text"
    assert fetch_one(sql, {"number": 7}, Record) == Record(7, "x")


@pytest.mark.parametrize("columns", ["1 AS number", "1 AS number, 'x' AS text, 2 AS c"])
def test_column_or_field_without_its_counterpart_is_an_error(columns: str) -> None:
    with pytest.raises(TypeError):
        fetch_all(f"SELECT {columns}", None, Record)


def test_each_call_is_one_statement_of_the_query_log() -> None:
    with CaptureQueriesContext(connection) as queries:
        fetch_all(NUMBERS, [50], Exact)
    assert len(queries) == 1


def test_rows_of_a_cursor_that_the_caller_has() -> None:
    with connection.cursor() as cursor:
        cursor.execute(NUMBERS, [2])
        assert [row.text for row in build_rows(cursor, cursor, Exact)] == ["1", "2"]


def test_parts_of_one_statement_are_rows_by_name() -> None:
    queries = {
        "days": "SELECT day::date FROM (VALUES ('2026-11-02'), ('2026-11-01')) d (day)"
        " WHERE day <= %(last)s ORDER BY day",
        "sums": "SELECT sum(n)::bigint AS total, count(*) FROM (VALUES (1), (2)) v (n)",
        "nothing": "SELECT 1 AS one WHERE false",
    }
    with CaptureQueriesContext(connection) as log:
        found = fetch_parts(queries, {"last": "2026-11-02"})
    assert len(log) == 1
    assert found == {
        "days": [{"day": "2026-11-01"}, {"day": "2026-11-02"}],
        "sums": [{"total": 3, "count": 2}],
        "nothing": [],
    }
