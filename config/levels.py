"""Two-level trees that the database keeps at two levels.

A category carries its own `level` and the level its parent must have, both derived
from `parent`. A foreign key from (parent, parent level) to (id, level) then makes a
third level impossible, whatever two requests do at once.
"""

from django.db.models import (
    Case,
    GeneratedField,
    Q,
    SmallIntegerField,
    Value,
    When,
)


def level_of_parent(*, when_major: int | None, when_minor: int) -> GeneratedField:
    """A column that is derived from whether the row has a parent."""
    return GeneratedField(
        expression=Case(
            When(Q(parent__isnull=True), then=Value(when_major)),
            default=Value(when_minor),
            output_field=SmallIntegerField(null=True),
        ),
        output_field=SmallIntegerField(null=True),
        db_persist=True,
    )
