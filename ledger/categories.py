"""Categories: two levels, an order, names that other rows go by, the defaults."""

from typing import Any

from django.db import IntegrityError, connection, transaction

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from core.api.ordering import next_position
from core.errors import (
    CategoryHierarchyError,
    DuplicateError,
    InUseError,
    InvalidFieldError,
    InvalidOrderError,
    violated_constraint_name,
)
from ledger.category_tree import flatten_tree, has_children, validate_parent
from ledger.locking import lock_ledger_exclusive, lock_member_row
from ledger.models import (
    Budget,
    Category,
    DefaultCategory,
    Entry,
    QuickEntry,
    RecurringRule,
)
from ledger.models.base import OwnedQuerySet
from ledger.ownership import get_owned_or_404

MODELS_WITH_CATEGORY = (Entry, QuickEntry, RecurringRule)
"""What refers to categories and moves with them; budgets are added up instead."""
CATEGORY_FOREIGN_KEYS = frozenset(
    {
        "account_entry_category_owned",
        "account_quick_entry_category_owned",
        "account_recurring_category_owned",
        "account_budget_category_owned",
    }
)
"""The foreign keys to categories: what breaks one of them is a user."""
_MERGE_BUDGETS = """
    INSERT INTO account_budget AS kept
        (member_id, category_id, type, year, month, amount)
    SELECT member_id, %(target)s, type, year, month, amount FROM account_budget
    WHERE member_id = %(member)s AND category_id = %(source)s
    ORDER BY year, month
    ON CONFLICT (member_id, year, month, category_id)
    DO UPDATE SET amount = least(kept.amount + excluded.amount, %(most)s)
"""
CATEGORY_NAME_TAKEN = "There is a category of this name and type."


def list_categories(member: Member, type_: str | None = None) -> list[Category]:
    """A flat list: each major category, followed by its minor ones."""
    rows = Category.objects.owned_by(member)
    return list(flatten_tree(list(rows.filter(type=type_) if type_ else rows)))


def create_category(
    member: Member, *, name: str, type: str, parent: Category | None
) -> Category:
    """A new category, last among its siblings."""
    category = Category(member=member, name=name, type=type, parent=parent)
    with transaction.atomic():
        lock_ledger_exclusive(member)
        lock_member_row(member)
        validate_parent(category)
        category.sort_order = next_position(siblings_of(category))
        _save(category)
    return category


def update_category(
    member: Member, category_id: int, changes: dict[str, Any]
) -> Category:
    """Rename or move a category, one at a time for each member.

    Entries, budgets and templates refer to the category, so that a new name reaches
    all of them at once.
    """
    with transaction.atomic():
        lock_ledger_exclusive(member)
        lock_member_row(member)
        category: Category = get_owned_or_404(
            Category.objects.all(), member, category_id
        )
        place = (category.type, category.parent_id)
        for name, value in changes.items():
            setattr(category, name, value)
        validate_parent(category)
        if category.type != place[0] and is_category_in_use(category):
            raise InUseError("Entries use this category, so that its type stays.")
        if (category.type, category.parent_id) != place:
            category.sort_order = next_position(siblings_of(category))
        _save(category)
    return category


def delete_category(member: Member, category_id: int, move_to: int | None) -> None:
    """Delete a category; what uses it moves to another, or it is `InUseError`.

    A major category with minor ones is never deleted (spec 3.7).
    """
    with transaction.atomic():
        lock_ledger_exclusive(member)
        lock_member_row(member)
        category = get_owned_or_404(Category.objects.all(), member, category_id)
        if has_children(category):
            raise CategoryHierarchyError("This category still has minor ones.")
        if move_to is not None:
            _move_references(
                category, get_owned_or_404(Category.objects.all(), member, move_to)
            )
        if is_category_in_use(category):
            raise InUseError("This category is in use; name another one in moveTo.")
        Category.objects.filter(pk=category.pk).delete()


def reorder_categories(member: Member, ids: list[int]) -> None:
    """Order the categories of one type and one parent, that of the first id."""
    with transaction.atomic():
        lock_ledger_exclusive(member)
        first = Category.objects.owned_by(member).filter(pk__in=ids[:1]).first()
        if first is None:
            if ids or Category.objects.owned_by(member).exists():
                raise InvalidOrderError
            return
        siblings = {row.pk: row for row in siblings_of(first)}
        if len(ids) != len(siblings) or set(ids) != set(siblings):
            raise InvalidOrderError
        for position, category_id in enumerate(ids, start=1):
            siblings[category_id].sort_order = position
        Category.objects.bulk_update(siblings.values(), ["sort_order"])


def get_or_create_category(
    member: Member, type_: str, name: str | None
) -> Category | None:
    """The category of this name and type; an unknown one is made, major and last.

    Call inside a transaction.
    """
    if name is None:
        return None
    rows = Category.objects.owned_by(member).filter(type=type_, name=name)
    found: Category | None = rows.first()
    if found is None:
        lock_member_row(member)
        found = rows.first()
    if found is not None:
        return found
    category = Category(member=member, type=type_, name=name)
    category.sort_order = next_position(siblings_of(category))
    category.save(force_insert=True)
    return category


def siblings_of(category: Category) -> OwnedQuerySet:
    """The categories of the same type under the same parent."""
    rows = Category.objects.owned_by(category.member)
    return rows.filter(type=category.type, parent=category.parent_id)


def is_category_in_use(category: Category) -> bool:
    return any(
        model.objects.owned_by(category.member).filter(category=category).exists()
        for model in (*MODELS_WITH_CATEGORY, Budget)
    )


def _save(category: Category) -> None:
    try:
        with transaction.atomic():
            category.save()
    except IntegrityError as error:
        match violated_constraint_name(error):
            case "account_category_name_unique":
                raise DuplicateError(CATEGORY_NAME_TAKEN) from error
            case "account_category_parent_is_major":
                raise CategoryHierarchyError from error
            case name if name in CATEGORY_FOREIGN_KEYS:
                raise InUseError from error
        raise


def _move_references(source: Category, target: Category) -> None:
    if source.pk == target.pk:
        raise InvalidFieldError("moveTo", "This is the category to be deleted.")
    if source.type != target.type:
        raise InvalidFieldError("moveTo", "This category is of another type.")
    for model in MODELS_WITH_CATEGORY:
        rows = model.objects.owned_by(source.member).filter(category=source)
        rows.update(category=target)
    _merge_budgets(source, target)


def _merge_budgets(source: Category, target: Category) -> None:
    """The target's budget of a month grows by the source's."""
    values: dict[str, Any] = {
        "member": source.member_id,
        "source": source.pk,
        "target": target.pk,
        "most": MAX_AMOUNT,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MERGE_BUDGETS, values)
    Budget.objects.owned_by(source.member).filter(category=source).delete()


def import_defaults(member: Member, *, english: bool) -> tuple[int, int]:
    """Copy the shared default categories; how many were imported and skipped.

    The hierarchy is kept. A name that the member already has in the type is
    skipped; minor ones of a skipped major go under the member's own.
    """
    with transaction.atomic():
        lock_ledger_exclusive(member)
        lock_member_row(member)
        defaults = list(flatten_tree(list(DefaultCategory.objects.all())))
        known = {(c.type, c.name): c for c in Category.objects.owned_by(member)}
        imported = 0
        for default in defaults:
            name = _localized_name(default, english=english)
            if (default.type, name) in known:
                continue
            category = _copy_default(member, default, name, known, english=english)
            known[default.type, name] = category
            imported += 1
    return imported, len(defaults) - imported


def _localized_name(default: Any, *, english: bool) -> str:
    name: str = (english and default.name_en) or default.name
    return name


def _copy_default(
    member: Member,
    default: Any,
    name: str,
    known: dict[tuple[str, str], Category],
    *,
    english: bool,
) -> Category:
    parent = None
    if default.parent_id is not None:
        parent = known[default.type, _localized_name(default.parent, english=english)]
        parent = parent.parent or parent
    category = Category(member=member, type=default.type, name=name, parent=parent)
    category.sort_order = next_position(siblings_of(category))
    category.save(force_insert=True)
    return category
