"""Words of two letters, found by an index: half of all Korean words are that short.

PostgreSQL's trigram indexes know three letters and more. The function `letter_pairs` of
the database (made by a migration of accounts) gives all pairs of neighbours of a text;
an index over them answers what `LIKE '%ab%'` would read the whole table for.
"""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, Func, TextField
from django.db.models.expressions import RawSQL

PAIR = 2

IDS = "SELECT id FROM {table} WHERE {conditions} OFFSET 0"
"""The offset makes the planner find all of them by the index: it would look at row
after row in the order of a list instead, in the hope of coming to an early end."""


class LetterPairs(Func):
    """All pairs of neighbouring letters of a text, each once; null for none."""

    function = "letter_pairs"
    output_field: Any = ArrayField(TextField())


def ids_with_pair(table: str, *columns: str, pair: str, written: str = "{}") -> RawSQL:
    """The ids of rows with the two letters in one of the columns.

    `written` is how the index writes the columns, such as `upper({})`. Nothing of
    this may come from a request but the pair.
    """
    value = written.format("%s")
    contains = [
        f"letter_pairs({written.format(column)}) @> letter_pairs({value})"
        for column in columns
    ]
    sql = IDS.format(table=table, conditions=" OR ".join(contains))
    params = [pair] * len(columns)
    return RawSQL(sql, params, output_field=BigIntegerField())  # noqa: S611
