"""Two-level trees of categories that the database keeps at two levels.

A category carries its own `level` and the level its parent must have, both derived
from `parent`. A foreign key from (parent, parent level) to (id, level) then makes a
third level impossible, whatever two requests do at once. The checks here say the same
in advance, in words, for the members' categories and for the shared ones.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import (
    Case,
    GeneratedField,
    Q,
    SmallIntegerField,
    Value,
    When,
)

from core.errors import CategoryHierarchyError, InvalidFieldError

Leveled = TypeVar("Leveled", bound=Any)


def generated_level_field(*, when_major: int | None, when_minor: int) -> GeneratedField:
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


def flatten_tree(rows: Sequence[Leveled]) -> Iterator[Leveled]:
    """Each major one of the ordered `rows`, followed by its minor ones."""
    minors: dict[int, list[Leveled]] = {}
    for row in rows:
        if row.parent_id is not None:
            minors.setdefault(row.parent_id, []).append(row)
    for row in rows:
        if row.parent_id is None:
            yield row
            yield from minors.get(row.pk, [])


def has_children(category: Any) -> bool:
    return category.pk is not None and category.minors.exists()


def validate_parent(category: Any) -> None:
    """A minor one sits under a major one of its type, and has none below it.

    Raises `CategoryHierarchyError` (spec 3.7).
    """
    holds_others = has_children(category)
    if holds_others and category.minors.exclude(type=category.type).exists():
        raise CategoryHierarchyError("Its minor categories are of another type.")
    parent = category.parent
    if parent is None:
        return
    if holds_others or parent.pk == category.pk:
        raise CategoryHierarchyError("A category with minor ones stays a major one.")
    try:
        parent.refresh_from_db()
    except ObjectDoesNotExist:
        raise InvalidFieldError(
            "parentId", "There is no such category.", "does_not_exist"
        ) from None
    if parent.parent_id is not None:
        raise CategoryHierarchyError("Only a major category can hold others.")
    if parent.type != category.type:
        raise CategoryHierarchyError("The major category is of another type.")
