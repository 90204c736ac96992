"""The default categories as a file, to be kept and moved between installations.

A list of major categories, each with its minor ones as `children`, in their order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext
from rest_framework.exceptions import ValidationError

from core.db.transactions import retry_on_conflict
from core.errors import CategoryHierarchyError, DomainError, FieldError
from ledger.base.quotas import require_room_in
from ledger.categories.default_serializers import DefaultCategorySerializer
from ledger.categories.defaults import (
    list_default_categories,
    lock_default_categories,
    save_default_category,
    siblings_of,
)
from ledger.categories.tree import validate_parent
from ledger.models import DefaultCategory

FIELDS = {"name": "name", "nameEn": "name_en", "icon": "icon", "color": "color"}
CHILDREN = "children"


@dataclass(slots=True)
class ImportCounts:
    created: int = 0
    changed: int = 0
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class _Row:
    """A category of the file; `place` is where it stands, `2.children.0`."""

    place: str
    values: dict[str, Any]
    children: "tuple[_Row, ...]" = ()


def export_default_categories() -> list[dict[str, Any]]:
    exported: list[dict[str, Any]] = []
    for category in list_default_categories():
        row = {key: getattr(category, name) for key, name in FIELDS.items()}
        if category.parent_id is None:
            exported.append({"type": category.type, **row, CHILDREN: []})
        else:
            exported[-1][CHILDREN].append(row)
    return exported


def import_default_categories(data: Any, *, dry_run: bool = False) -> ImportCounts:
    """Create and change what the file names, and take its order; delete nothing.

    A category is known by its type and name. Raises `DomainError` with the places of
    invalid rows, and then has changed nothing.
    """
    return _write(_read_rows(data), dry_run=dry_run)


def _read_rows(data: Any) -> list[_Row]:
    if not isinstance(data, list):
        text = gettext("Expected a list of categories.")
        raise DomainError(errors=(FieldError("", text),))
    errors: list[FieldError] = []
    rows = [_read_row(str(n), each, None, errors) for n, each in enumerate(data)]
    seen: set[tuple[str, str]] = set()
    for row in rows:
        for each in (row, *row.children):
            key = (each.values.get("type", ""), each.values.get("name", ""))
            if key in seen:
                text = gettext("The file names it twice.")
                _add_error(errors, each.place, "name", text)
            seen.add(key)
    if errors:
        raise DomainError(errors=tuple(errors))
    return rows


def _read_row(
    place: str, data: Any, parent: Mapping[str, Any] | None, errors: list[FieldError]
) -> _Row:
    if not isinstance(data, dict):
        errors.append(FieldError(place, gettext("Expected a category.")))
        return _Row(place, {"name": place})
    children = data.get(CHILDREN, [])
    values = {key: value for key, value in data.items() if key != CHILDREN}
    if parent is not None:
        values.setdefault("type", parent.get("type"))
        if children:
            text = str(CategoryHierarchyError.detail)
            _add_error(errors, place, CHILDREN, text)
            children = []
    serializer = DefaultCategorySerializer(data=values)
    try:
        serializer.is_valid(raise_exception=True)
    except ValidationError as error:
        details: Any = error.detail
        for name, texts in details.items():
            _add_error(errors, place, name, texts[0])
        return _Row(place, {"type": values.get("type"), "name": place})
    valid: dict[str, Any] = dict(serializer.validated_data)
    valid.pop("parent", None)
    if not isinstance(children, list):
        _add_error(errors, place, CHILDREN, gettext("Expected a list."))
        children = []
    found = tuple(
        _read_row(f"{place}.{CHILDREN}.{n}", each, valid, errors)
        for n, each in enumerate(children)
    )
    return _Row(place, valid, found)


def _add_error(errors: list[FieldError], place: str, name: str, text: str) -> None:
    field = f"{place}.{name}"
    errors.append(FieldError(field, text))


@retry_on_conflict
def _write(rows: Sequence[_Row], *, dry_run: bool) -> ImportCounts:
    counts = ImportCounts()
    with transaction.atomic():
        lock_default_categories()
        known = {(each.type, each.name): each for each in DefaultCategory.objects.all()}
        for row in rows:
            major = _write_row(row, None, known, counts)
            for child in row.children:
                _write_row(child, major, known, counts)
        for majors in (rows, *(row.children for row in rows)):
            _save_order(
                [known[each.values["type"], each.values["name"]] for each in majors]
            )
        transaction.set_rollback(dry_run)
    return counts


def _write_row(
    row: _Row,
    parent: DefaultCategory | None,
    known: dict[tuple[str, str], DefaultCategory],
    counts: ImportCounts,
) -> DefaultCategory:
    key = (row.values["type"], row.values["name"])
    category = known.get(key)
    is_new = category is None
    if category is None:
        require_room_in(DefaultCategory.objects.all())
        category = known[key] = DefaultCategory()
    before = {name: getattr(category, name) for name in (*row.values, "parent_id")}
    for name, value in row.values.items():
        setattr(category, name, value)
    category.parent = parent
    after = {name: getattr(category, name) for name in before}
    if not is_new and before == after:
        counts.unchanged += 1
        return category
    try:
        validate_parent(category)
        save_default_category(category)
    except DomainError as error:
        raise DomainError(errors=(FieldError(row.place, str(error.detail)),)) from error
    counts.created += is_new
    counts.changed += not is_new
    return category


def _save_order(first: Sequence[DefaultCategory]) -> None:
    """Let these come first among the categories of their type and parent."""
    by_type: dict[str, list[DefaultCategory]] = {}
    for category in first:
        by_type.setdefault(category.type, []).append(category)
    for listed in by_type.values():
        ids = {each.pk for each in listed}
        others = [each for each in siblings_of(listed[0]) if each.pk not in ids]
        for position, category in enumerate([*listed, *others], start=1):
            category.sort_order = position
        DefaultCategory.objects.bulk_update([*listed, *others], ["sort_order"])
