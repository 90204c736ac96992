"""Categories in two levels: CRUD, order, creation by name, import of the defaults."""

from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from core.api.ordering import next_position
from core.db.transactions import retry_on_conflict
from core.errors import (
    CategoryHierarchyError,
    DuplicateError,
    InUseError,
    InvalidFieldError,
    InvalidOrderError,
    violated_constraint_name,
)
from ledger.category_tree import flatten_tree, has_children, validate_parent
from ledger.locking import lock_ledger
from ledger.models import (
    Budget,
    Category,
    CategoryRollup,
    DefaultCategory,
)
from ledger.models.base import OwnedQuerySet
from ledger.moves import (
    is_referred_to,
    move_references,
    raise_if_moving,
    raise_if_others_move_to,
)
from ledger.ownership import get_owned_or_404
from ledger.quotas import require_room
from ledger.rollups import delete_rollups

# A violation of one of them means that the category is in use.
CATEGORY_FOREIGN_KEYS = frozenset(
    {
        "account_entry_category_owned",
        "account_entry_line_category_owned",
        "account_merged_entry_category_owned",
        "account_quick_entry_category_owned",
        "account_quick_entry_line_category_owned",
        "account_recurring_category_owned",
        "account_recurring_line_category_owned",
        "account_budget_category_owned",
    }
)
_MERGE_BUDGETS = """
    INSERT INTO account_budget AS stored
        (member_id, category_id, type, year, month, amount)
    SELECT member_id, %(target)s, type, year, month, amount FROM account_budget
    WHERE member_id = %(member)s AND category_id = %(source)s
    ORDER BY year, month
    ON CONFLICT (member_id, year, month, category_id)
    DO UPDATE SET amount = least(stored.amount + excluded.amount, %(max)s)
"""
CATEGORY_NAME_TAKEN = gettext_lazy("A category with this name and type already exists.")


def list_categories(member: Member, type_: str | None = None) -> list[Category]:
    """Return a flat list: each major category, followed by its minor ones."""
    rows = Category.objects.owned_by(member)
    return list(flatten_tree(list(rows.filter(type=type_) if type_ else rows)))


@retry_on_conflict
def create_category(
    member: Member, *, name: str, type: str, parent: Category | None
) -> Category:
    """Create a category, last among its siblings."""
    category = Category(member=member, name=name, type=type, parent=parent)
    with transaction.atomic():
        lock_ledger(member)
        require_room(member, Category)
        validate_parent(category)
        raise_if_moving(parent)
        category.sort_order = next_position(siblings_of(category))
        _save(category)
    return category


@retry_on_conflict
def update_category(
    member: Member, category_id: int, changes: dict[str, Any]
) -> Category:
    """Rename or move a category, with everything that refers to it.

    Raises `InUseError` for a new type if anything but minor categories refers to it,
    and `MovingError` for a category that is moving.
    """
    with transaction.atomic():
        lock_ledger(member)
        category: Category = get_owned_or_404(
            Category.objects.all(), member, category_id
        )
        raise_if_moving(category)
        position = (category.type, category.parent_id)
        for name, value in changes.items():
            setattr(category, name, value)
        validate_parent(category)
        raise_if_moving(category.parent)
        if category.type != position[0]:
            raise_if_others_move_to(category)
            if is_category_in_use(category):
                raise InUseError(
                    gettext("The type cannot change while entries use the category.")
                )
        if (category.type, category.parent_id) != position:
            category.sort_order = next_position(siblings_of(category))
        _save(category)
    return category


@retry_on_conflict
def delete_category(
    member: Member, category_id: int, move_to: int | None
) -> Category | None:
    """Delete a category after moving what refers to it to `move_to`, if given.

    Return the category if its entries are left to a job, which deletes it then. Raises
    `InUseError` if anything still refers to it, `CategoryHierarchyError` for a major
    category with minor ones (spec 3.7), and `MovingError` if it, the other category, or
    one that moves to it is moving.
    """
    with transaction.atomic():
        lock_ledger(member)
        category: Category = get_owned_or_404(
            Category.objects.all(), member, category_id
        )
        raise_if_moving(category)
        raise_if_others_move_to(category)
        if has_children(category):
            raise CategoryHierarchyError(gettext("The category has minor categories."))
        if move_to is not None:
            target = get_owned_or_404(Category.objects.all(), member, move_to)
            if target.pk == category.pk:
                raise InvalidFieldError("moveTo", gettext("Must be another category."))
            if target.type != category.type:
                raise InvalidFieldError(
                    "moveTo", gettext("The category has another type.")
                )
            raise_if_moving(target)
            if not move_references(category, target):
                return category
            delete_moved_category(member, category, target)
        elif is_category_in_use(category):
            raise InUseError(
                gettext("The category is in use. Set `moveTo` to another one.")
            )
        else:
            _delete_unused(member, category)
    return None


def delete_moved_category(member: Member, category: Category, target: Category) -> None:
    """Add its budgets to those of the target and delete the category.

    Call under `lock_ledger`, when nothing else refers to it any more.
    """
    # Budgets are unique per month.
    params: dict[str, Any] = {
        "member": member.pk,
        "source": category.pk,
        "target": target.pk,
        "max": MAX_AMOUNT,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MERGE_BUDGETS, params)
    Budget.objects.owned_by(member).filter(category=category).delete()
    _delete_unused(member, category)


def _delete_unused(member: Member, category: Category) -> None:
    category.delete()
    # Its rows by memo have gone with the entries, or are of 0 entries. To find those
    # PostgreSQL would read all memos of the member, who can have millions.
    delete_rollups(member, [CategoryRollup], category_id=category.pk)


@retry_on_conflict
def reorder_categories(member: Member, ids: list[int]) -> None:
    """Reorder the siblings of the first id; `ids` must name all of them."""
    with transaction.atomic():
        lock_ledger(member)
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
        rows = Category.objects.owned_by(member)
        rows.bulk_update(siblings.values(), ["sort_order"])


def get_or_create_category(
    member: Member, type_: str, name: str | None
) -> Category | None:
    """Return the category with this name and type, None if `name` is None.

    An unknown one is created as the last major category. Call under `lock_ledger`.
    Raises `MovingError` for a category that is moving.
    """
    if name is None:
        return None
    rows = Category.objects.owned_by(member).filter(type=type_, name=name)
    category: Category | None = rows.first()
    if category is not None:
        raise_if_moving(category)
        return category
    require_room(member, Category)
    category = Category(member=member, type=type_, name=name)
    category.sort_order = next_position(siblings_of(category))
    category.save(force_insert=True)
    return category


def siblings_of(category: Category) -> OwnedQuerySet:
    """Return the categories of the same type under the same parent."""
    rows = Category.objects.owned_by(category.member)
    return rows.filter(type=category.type, parent_id=category.parent_id)


def is_category_in_use(category: Category) -> bool:
    budgets = Budget.objects.owned_by(category.member).filter(category=category)
    return is_referred_to(category) or budgets.exists()


def _save(category: Category) -> None:
    """Save in a savepoint and translate violated constraints to domain errors."""
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


@retry_on_conflict
def import_defaults(member: Member, *, english: bool) -> tuple[int, int]:
    """Copy the default categories and return (imported, skipped) counts.

    The hierarchy is kept. Names that the member already has in the type are skipped;
    minor categories of a skipped major one go under the member's own.
    """
    with transaction.atomic():
        lock_ledger(member)
        defaults = list(flatten_tree(list(DefaultCategory.objects.all())))
        known = {(c.type, c.name): c for c in Category.objects.owned_by(member)}
        names = {(d.type, _localized_name(d, english=english)) for d in defaults}
        require_room(member, Category, len(names - set(known)))
        imported = 0
        for default in defaults:
            name = _localized_name(default, english=english)
            if (default.type, name) in known:
                continue
            category = Category(member=member, type=default.type, name=name)
            if default.parent is not None:
                parent_name = _localized_name(default.parent, english=english)
                parent = known[default.type, parent_name]
                # The member's category of that name may itself be a minor one.
                category.parent = parent.parent or parent
                raise_if_moving(category.parent)
            category.sort_order = next_position(siblings_of(category))
            category.save(force_insert=True)
            known[default.type, name] = category
            imported += 1
    return imported, len(defaults) - imported


def _localized_name(default: DefaultCategory, *, english: bool) -> str:
    return (english and default.name_en) or default.name
