"""Categories: two levels, an order, names that other rows go by, the defaults."""

from typing import Any

from django.db import IntegrityError, connection, transaction

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from core.api.ordering import next_position
from core.errors import (
    CategoryHierarchy,
    Duplicate,
    InUse,
    InvalidField,
    InvalidOrder,
    broken_constraint,
)
from ledger.category_tree import check_place, has_minors, list_by_major
from ledger.locking import lock_ledger, lock_lists
from ledger.models import (
    Budget,
    Category,
    DefaultCategory,
    Entry,
    QuickEntry,
    RecurringRule,
)
from ledger.models.base import OwnedQuerySet
from ledger.ownership import find_owned

USERS = (Entry, QuickEntry, RecurringRule)
"""What refers to categories and moves with them; budgets are added up instead."""
IN_USE = frozenset(
    {
        "account_entry_category_owned",
        "account_quick_entry_category_owned",
        "account_recurring_category_owned",
        "account_budget_category_owned",
    }
)
"""The foreign keys to categories: what breaks one of them is a user."""
_ADD_BUDGETS = """
    INSERT INTO account_budget AS kept
        (member_id, category_id, type, year, month, amount)
    SELECT member_id, %(target)s, type, year, month, amount FROM account_budget
    WHERE member_id = %(member)s AND category_id = %(source)s
    ORDER BY year, month
    ON CONFLICT (member_id, year, month, category_id)
    DO UPDATE SET amount = least(kept.amount + excluded.amount, %(most)s)
"""
NAME_TAKEN = "There is a category of this name and type."


def list_categories(member: Member, type_: str | None = None) -> list[Category]:
    """A flat list: each major category, followed by its minor ones."""
    rows = Category.objects.owned_by(member)
    return list(list_by_major(list(rows.filter(type=type_) if type_ else rows)))


def create_category(
    member: Member, *, name: str, type: str, parent: Category | None
) -> Category:
    """A new category, last among its siblings."""
    category = Category(member=member, name=name, type=type, parent=parent)
    with transaction.atomic():
        lock_ledger(member)
        lock_lists(member)
        check_place(category)
        category.sort_order = next_position(siblings_of(category))
        _save(category)
    return category


def change_category(
    member: Member, category_id: int, changes: dict[str, Any]
) -> Category:
    """Rename or move a category, one at a time for each member.

    Entries, budgets and templates refer to the category, so that a new name reaches
    all of them at once.
    """
    with transaction.atomic():
        lock_ledger(member)
        lock_lists(member)
        category: Category = find_owned(Category.objects.all(), member, category_id)
        place = (category.type, category.parent_id)
        for name, value in changes.items():
            setattr(category, name, value)
        check_place(category)
        if category.type != place[0] and is_used(category):
            raise InUse("Entries use this category, so that its type stays.")
        if (category.type, category.parent_id) != place:
            category.sort_order = next_position(siblings_of(category))
        _save(category)
    return category


def delete_category(member: Member, category_id: int, move_to: int | None) -> None:
    """Delete a category; what uses it moves to another, or it is `InUse`.

    A major category with minor ones is never deleted (service.md, Category rules).
    """
    with transaction.atomic():
        lock_ledger(member)
        lock_lists(member)
        category = find_owned(Category.objects.all(), member, category_id)
        if has_minors(category):
            raise CategoryHierarchy("This category still has minor ones.")
        if move_to is not None:
            _move_users(category, find_owned(Category.objects.all(), member, move_to))
        if is_used(category):
            raise InUse("This category is in use; name another one in moveTo.")
        Category.objects.filter(pk=category.pk).delete()


def reorder_categories(member: Member, ids: list[int]) -> None:
    """Order the categories of one type and one parent, that of the first id."""
    with transaction.atomic():
        lock_ledger(member)
        first = Category.objects.owned_by(member).filter(pk__in=ids[:1]).first()
        if first is None:
            if ids or Category.objects.owned_by(member).exists():
                raise InvalidOrder
            return
        siblings = {row.pk: row for row in siblings_of(first)}
        if len(ids) != len(siblings) or set(ids) != set(siblings):
            raise InvalidOrder
        for position, category_id in enumerate(ids, start=1):
            siblings[category_id].sort_order = position
        Category.objects.bulk_update(siblings.values(), ["sort_order"])


def resolve_category(member: Member, type_: str, name: str | None) -> Category | None:
    """The category of this name and type; an unknown one is made, major and last.

    Call inside a transaction.
    """
    if name is None:
        return None
    rows = Category.objects.owned_by(member).filter(type=type_, name=name)
    found: Category | None = rows.first()
    if found is None:
        lock_lists(member)
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


def is_used(category: Category) -> bool:
    return any(
        model.objects.owned_by(category.member).filter(category=category).exists()
        for model in (*USERS, Budget)
    )


def _save(category: Category) -> None:
    try:
        with transaction.atomic():
            category.save()
    except IntegrityError as error:
        match broken_constraint(error):
            case "account_category_name_unique":
                raise Duplicate(NAME_TAKEN) from error
            case "account_category_parent_is_major":
                raise CategoryHierarchy from error
            case name if name in IN_USE:
                raise InUse from error
        raise


def _move_users(source: Category, target: Category) -> None:
    if source.pk == target.pk:
        raise InvalidField("moveTo", "This is the category to be deleted.")
    if source.type != target.type:
        raise InvalidField("moveTo", "This category is of another type.")
    for model in USERS:
        rows = model.objects.owned_by(source.member).filter(category=source)
        rows.update(category=target)
    _add_budgets(source, target)


def _add_budgets(source: Category, target: Category) -> None:
    """The target's budget of a month grows by the source's."""
    values: dict[str, Any] = {
        "member": source.member_id,
        "source": source.pk,
        "target": target.pk,
        "most": MAX_AMOUNT,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ADD_BUDGETS, values)
    Budget.objects.owned_by(source.member).filter(category=source).delete()


def import_defaults(member: Member, *, english: bool) -> tuple[int, int]:
    """Copy the shared default categories; how many were imported and skipped.

    The hierarchy is kept. A name that the member already has in the type is
    skipped; minor ones of a skipped major go under the member's own.
    """
    with transaction.atomic():
        lock_ledger(member)
        lock_lists(member)
        defaults = list(list_by_major(list(DefaultCategory.objects.all())))
        known = {(c.type, c.name): c for c in Category.objects.owned_by(member)}
        imported = 0
        for default in defaults:
            name = _name_in(default, english=english)
            if (default.type, name) in known:
                continue
            category = _copy_default(member, default, name, known, english=english)
            known[default.type, name] = category
            imported += 1
    return imported, len(defaults) - imported


def _name_in(default: Any, *, english: bool) -> str:
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
        parent = known[default.type, _name_in(default.parent, english=english)]
        parent = parent.parent or parent
    category = Category(member=member, type=default.type, name=name, parent=parent)
    category.sort_order = next_position(siblings_of(category))
    category.save(force_insert=True)
    return category
