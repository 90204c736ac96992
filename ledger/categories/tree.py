"""Two-level trees of members' categories and of default categories.

A foreign key from (parent, generated parent level) to (id, level) makes a third level
impossible. `validate_parent` adds a readable error.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import (
    QuerySet,
)
from django.utils.translation import gettext

from core.errors import CategoryHierarchyError, MissingItemError

Node = TypeVar("Node", bound=Any)


def flatten_tree(rows: Sequence[Node]) -> Iterator[Node]:
    """Yield each major category, followed by its minor ones."""
    minors: dict[int, list[Node]] = {}
    for row in rows:
        if row.parent_id is not None:
            minors.setdefault(row.parent_id, []).append(row)
    for row in rows:
        if row.parent_id is None:
            yield row
            yield from minors.get(row.pk, [])


def list_minors(category: Any) -> QuerySet[Any]:
    rows: QuerySet[Any] = type(category).objects.filter(parent_id=category.pk)
    if hasattr(category, "member_id"):
        rows = rows.filter(member_id=category.member_id)
    return rows


def has_children(category: Any) -> bool:
    return category.pk is not None and list_minors(category).exists()


def validate_parent(category: Any) -> None:
    """Raise `CategoryHierarchyError` for a wrong parent (spec 3.7)."""
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
    # The parent was read before the lock.
    try:
        parent.refresh_from_db()
    except ObjectDoesNotExist:
        raise MissingItemError("parentId") from None
    if parent.parent_id is not None:
        raise CategoryHierarchyError(gettext("The parent must be a major category."))
    if parent.type != category.type:
        raise CategoryHierarchyError(gettext("The parent has another type."))
