"""Default categories, which administrators maintain and members import.

A table lock serializes all changes. Each is written to the audit log.
"""

from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Member
from accounts.security.audit_log import ADDITION, CHANGE, DELETION, log_admin_action
from core.api.ordering import next_position
from core.db.transactions import retry_on_conflict
from core.errors import (
    CategoryHierarchyError,
    DuplicateError,
    InvalidOrderError,
    NotFoundError,
    violated_constraint_name,
)
from ledger.base.quotas import require_room_in
from ledger.categories.tree import flatten_tree, has_children, validate_parent
from ledger.models import DefaultCategory

NAME_TAKEN = gettext_lazy("A default category with this name and type already exists.")
UP, DOWN = -1, 1


def list_default_categories() -> list[DefaultCategory]:
    return list(flatten_tree(list(DefaultCategory.objects.all())))


def get_default_category(category_id: int) -> DefaultCategory:
    try:
        return DefaultCategory.objects.get(pk=category_id)
    except DefaultCategory.DoesNotExist:
        raise NotFoundError(gettext("Category not found.")) from None


@retry_on_conflict
def create_default_category(actor: Member, fields: dict[str, Any]) -> DefaultCategory:
    category = DefaultCategory(**fields)
    with transaction.atomic():
        lock_default_categories()
        require_room_in(DefaultCategory.objects.all())
        validate_parent(category)
        category.sort_order = next_position(siblings_of(category))
        save_default_category(category)
        log_admin_action(actor, category, ADDITION)
    return category


@retry_on_conflict
def update_default_category(
    actor: Member, category_id: int, changes: dict[str, Any]
) -> DefaultCategory:
    """Update a category; under a new type or parent it goes last."""
    with transaction.atomic():
        lock_default_categories()
        category = get_default_category(category_id)
        position = (category.type, category.parent_id)
        for name, value in changes.items():
            setattr(category, name, value)
        validate_parent(category)
        if (category.type, category.parent_id) != position:
            category.sort_order = next_position(siblings_of(category))
        save_default_category(category)
        log_admin_action(actor, category, CHANGE)
    return category


@retry_on_conflict
def delete_default_category(actor: Member, category_id: int) -> None:
    """Delete a category; raise `CategoryHierarchyError` if it has minor ones."""
    with transaction.atomic():
        lock_default_categories()
        category = get_default_category(category_id)
        if has_children(category):
            raise CategoryHierarchyError(gettext("The category has minor categories."))
        log_admin_action(actor, category, DELETION)
        category.delete()


@retry_on_conflict
def reorder_default_categories(actor: Member, ids: list[int]) -> None:
    with transaction.atomic():
        lock_default_categories()
        first = DefaultCategory.objects.filter(pk__in=ids[:1]).first()
        if first is None:
            if ids or DefaultCategory.objects.exists():
                raise InvalidOrderError
            return
        _save_order(actor, first, ids)


@retry_on_conflict
def move_default_category(actor: Member, category_id: int, step: int) -> None:
    with transaction.atomic():
        lock_default_categories()
        category = get_default_category(category_id)
        ids = list(siblings_of(category).values_list("pk", flat=True))
        index = ids.index(category_id)
        if 0 <= index + step < len(ids):
            ids.insert(index + step, ids.pop(index))
            _save_order(actor, category, ids)


def siblings_of(category: DefaultCategory) -> QuerySet[DefaultCategory]:
    return DefaultCategory.objects.filter(type=category.type, parent=category.parent_id)


def _save_order(actor: Member, first: DefaultCategory, ids: list[int]) -> None:
    siblings = {row.pk: row for row in siblings_of(first)}
    if len(ids) != len(siblings) or set(ids) != set(siblings):
        raise InvalidOrderError
    for position, category_id in enumerate(ids, start=1):
        siblings[category_id].sort_order = position
    DefaultCategory.objects.bulk_update(siblings.values(), ["sort_order"])
    log_admin_action(actor, siblings[ids[0]], CHANGE, "Order changed.")


def lock_default_categories() -> None:
    # The mode conflicts with itself and with writes, not with reads.
    with connection.cursor() as cursor:
        cursor.execute("LOCK TABLE default_category IN SHARE ROW EXCLUSIVE MODE")


def save_default_category(category: DefaultCategory) -> None:
    try:
        with transaction.atomic():
            category.save()
    except IntegrityError as error:
        match violated_constraint_name(error):
            case "default_category_name_unique":
                raise DuplicateError(NAME_TAKEN) from error
            case "default_category_parent_is_major":
                raise CategoryHierarchyError from error
        raise
