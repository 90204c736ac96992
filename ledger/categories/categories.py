"""Members' categories."""

from collections.abc import Collection
from typing import Any

from django.db import IntegrityError
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Member
from core.api.ordering import next_position
from core.errors import (
    CategoryHierarchyError,
    DuplicateError,
    InvalidFieldError,
    InvalidOrderError,
    violated_constraint_name,
)
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.ownership import get_owned_or_404
from ledger.base.quotas import require_room, require_room_in
from ledger.categories.tree import flatten_tree, has_children, validate_parent
from ledger.models import Category, CategoryRollup, DefaultCategory
from ledger.models.base import OwnedQuerySet
from ledger.moving.moves import move_category, raise_if_in_use
from ledger.rollups.definitions import delete_rollups

CATEGORY_NAME_TAKEN = gettext_lazy("A category with this name and type already exists.")


def list_categories(member: Member, type_: str | None = None) -> list[Category]:
    rows = Category.objects.owned_by(member)
    return list(flatten_tree(list(rows.filter(type=type_) if type_ else rows)))


@ledger_write
def create_category(
    ledger: LockedLedger,
    *,
    name: str,
    type: str,
    parent: Category | None,
    icon: str | None = None,
    color: str | None = None,
) -> Category:
    category = Category(
        member=ledger.member,
        name=name,
        type=type,
        parent=parent,
        icon=icon,
        color=color,
    )
    require_room(ledger, Category)
    validate_parent(category)
    category.sort_order = next_position(siblings_of(category))
    _save(category)
    return category


@ledger_write
def update_category(
    ledger: LockedLedger, category_id: int, changes: dict[str, Any]
) -> Category:
    """Rename or move a category; raise `InUseError` for a new type if it is used."""
    rows = Category.objects.all()
    category: Category = get_owned_or_404(rows, ledger.member, category_id)
    position = (category.type, category.parent_id)
    for name, value in changes.items():
        setattr(category, name, value)
    validate_parent(category)
    if (category.type, category.parent_id) != position:
        category.sort_order = next_position(siblings_of(category))
    with raise_if_in_use(
        gettext("The type cannot change while entries use the category.")
    ):
        _save(category)
    return category


@ledger_write
def delete_category(
    ledger: LockedLedger, category_id: int, move_to: int | None
) -> None:
    """Delete a category after moving its references to `move_to`, if given.

    Raises `InUseError` if anything still refers to it, and `CategoryHierarchyError` for
    a major category with minor ones (spec 3.7).
    """
    member, rows = ledger.member, Category.objects.all()
    category: Category = get_owned_or_404(rows, member, category_id)
    if has_children(category):
        raise CategoryHierarchyError(gettext("The category has minor categories."))
    if move_to is not None:
        target = get_owned_or_404(rows, member, move_to)
        if target.pk == category.pk:
            raise InvalidFieldError("moveTo", gettext("Must be another category."))
        if target.type != category.type:
            raise InvalidFieldError("moveTo", gettext("The category has another type."))
        move_category(ledger, category, target)
    with raise_if_in_use(
        gettext("The category is in use. Set `moveTo` to another one.")
    ):
        category.delete()
    # No index has the rows by memo of a category. They count 0 entries.
    delete_rollups(ledger, [CategoryRollup], category_id=category_id)


@ledger_write
def reorder_categories(ledger: LockedLedger, ids: list[int]) -> None:
    """Reorder the siblings of the first id; `ids` must name all of them."""
    rows = Category.objects.owned_by(ledger.member)
    first = rows.filter(pk__in=ids[:1]).first()
    if first is None:
        if ids or rows.exists():
            raise InvalidOrderError
        return
    siblings = {row.pk: row for row in siblings_of(first)}
    if len(ids) != len(siblings) or set(ids) != set(siblings):
        raise InvalidOrderError
    for position, category_id in enumerate(ids, start=1):
        siblings[category_id].sort_order = position
    rows.bulk_update(siblings.values(), ["sort_order"])


def get_or_create_categories(
    ledger: LockedLedger, names: Collection[tuple[str, str]]
) -> dict[tuple[str, str], Category]:
    """Return the categories by type and name; create unknown ones as major."""
    if not names:
        return {}
    rows = Category.objects.owned_by(ledger.member)
    known = rows.filter(name__in={name for _, name in names})
    found = {(row.type, row.name): row for row in known}
    for type_, name in names:
        if (type_, name) not in found:
            require_room_in(rows)
            category = Category(member=ledger.member, type=type_, name=name)
            category.sort_order = next_position(siblings_of(category))
            category.save(force_insert=True)
            ledger.made_names += 1
            found[type_, name] = category
    return found


def get_or_create_category(ledger: LockedLedger, type_: str, name: str) -> Category:
    return get_or_create_categories(ledger, [(type_, name)])[type_, name]


def siblings_of(category: Category) -> OwnedQuerySet:
    rows = Category.objects.owned_by(category.member)
    return rows.filter(type=category.type, parent_id=category.parent_id)


def _save(category: Category) -> None:
    try:
        category.save()
    except IntegrityError as error:
        match violated_constraint_name(error):
            case "account_category_name_unique":
                raise DuplicateError(CATEGORY_NAME_TAKEN) from error
            case "account_category_parent_is_major":
                raise CategoryHierarchyError from error
        raise


@ledger_write
def import_defaults(ledger: LockedLedger, *, english: bool) -> tuple[int, int]:
    """Copy the default categories; return how many were imported and skipped.

    Names that the member already has in the type are skipped. Minor categories of a
    skipped major one go under the member's own.
    """
    member = ledger.member
    defaults = list(flatten_tree(list(DefaultCategory.objects.all())))
    known = {(c.type, c.name): c for c in Category.objects.owned_by(member)}
    names = {(d.type, _localized_name(d, english=english)) for d in defaults}
    require_room(ledger, Category, len(names - set(known)))
    imported = 0
    for default in defaults:
        name = _localized_name(default, english=english)
        if (default.type, name) in known:
            continue
        category = Category(
            member=member,
            type=default.type,
            name=name,
            icon=default.icon,
            color=default.color,
        )
        if default.parent is not None:
            parent_name = _localized_name(default.parent, english=english)
            parent = known[default.type, parent_name]
            # The member's category of that name may itself be a minor one.
            category.parent = parent.parent or parent
        category.sort_order = next_position(siblings_of(category))
        category.save(force_insert=True)
        known[default.type, name] = category
        imported += 1
    return imported, len(defaults) - imported


def _localized_name(default: DefaultCategory, *, english: bool) -> str:
    return (english and default.name_en) or default.name
