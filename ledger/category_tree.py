"""Two-level trees, for the members' categories and for the default categories.

A category has generated columns with its own level and the level that its parent must
have. A foreign key from (parent, parent level) to (id, level) makes a third level
impossible, even for concurrent requests. `validate_parent` checks the same beforehand,
for a readable error.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import (
    Case,
    GeneratedField,
    Q,
    QuerySet,
    SmallIntegerField,
    Value,
    When,
)
from django.utils.translation import gettext

from core.errors import CategoryHierarchyError, InvalidFieldError

Node = TypeVar("Node", bound=Any)


def generated_level_field(*, when_major: int | None, when_minor: int) -> GeneratedField:
    """Return a generated column: one value for major categories, one for minor."""
    return GeneratedField(
        expression=Case(
            When(Q(parent__isnull=True), then=Value(when_major)),
            default=Value(when_minor),
            output_field=SmallIntegerField(null=True),
        ),
        output_field=SmallIntegerField(null=True),
        db_persist=True,
    )


def flatten_tree(rows: Sequence[Node]) -> Iterator[Node]:
    """Yield each major category of the ordered `rows`, followed by its minor ones."""
    minors: dict[int, list[Node]] = {}
    for row in rows:
        if row.parent_id is not None:
            minors.setdefault(row.parent_id, []).append(row)
    for row in rows:
        if row.parent_id is None:
            yield row
            yield from minors.get(row.pk, [])


def list_minors(category: Any) -> QuerySet[Any]:
    """Return the minor categories under a category, those of one member."""
    rows: QuerySet[Any] = type(category).objects.filter(parent_id=category.pk)
    if hasattr(category, "member_id"):
        rows = rows.filter(member_id=category.member_id)
    return rows


def has_children(category: Any) -> bool:
    return category.pk is not None and list_minors(category).exists()


def validate_parent(category: Any) -> None:
    """Raise an error unless the category may have its parent (spec 3.7).

    A parent must be a major category of the same type. A category with minor ones must
    be major, and of their type.
    """
    is_parent = has_children(category)
    if is_parent and list_minors(category).exclude(type=category.type).exists():
        raise CategoryHierarchyError(gettext("Its minor categories have another type."))
    parent = category.parent
    if parent is None:
        return
    if is_parent or parent.pk == category.pk:
        raise CategoryHierarchyError(
            gettext("A category with minor categories must be major.")
        )
    # The parent was read before the locks and may have changed or disappeared.
    try:
        parent.refresh_from_db()
    except ObjectDoesNotExist:
        raise InvalidFieldError(
            "parentId", gettext("Category not found."), "does_not_exist"
        ) from None
    if parent.parent_id is not None:
        raise CategoryHierarchyError(gettext("The parent must be a major category."))
    if parent.type != category.type:
        raise CategoryHierarchyError(gettext("The parent has another type."))
