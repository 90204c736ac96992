"""Words of two letters, found by an index: half of all Korean words are that short.

PostgreSQL's trigram indexes know three letters and more. The function `letter_pairs` of
the database (made by a migration of accounts) gives all pairs of neighbours of a text;
an index over them answers what `LIKE '%ab%'` would read the whole table for.
"""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.lookups import DataContains
from django.db.models import Func, TextField, Value
from django.db.models.functions import Upper

PAIR = 2


class LetterPairs(Func):
    """All pairs of neighbouring letters of a text, each once; null for none."""

    function = "letter_pairs"
    output_field: Any = ArrayField(TextField())


def contains_pair(column: str, pair: str) -> DataContains:
    """Whether the column contains the two letters; for an index of `LetterPairs`."""
    return DataContains(LetterPairs(column), LetterPairs(Value(pair)))


def contains_pair_of_any_case(column: str, pair: str) -> DataContains:
    """The same whatever the case; for an index of `LetterPairs` of `Upper`."""
    return DataContains(LetterPairs(Upper(column)), LetterPairs(Upper(Value(pair))))
