"""Categories and tags that a request names by id (spec 3.24)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from django.utils.translation import gettext

from core.errors import InvalidFieldError, MissingItemError
from ledger.base.ledger_write import LockedLedger
from ledger.entry_shape import EXPENSE, EntryShape, LineShape, default_category_type
from ledger.models import Category, Tag

MISMATCH: Final = "mismatch"


class SentCategory(NamedTuple):
    """A category by id; `name` counts if it `has_name`."""

    id: int | None
    name: str | None = None
    has_name: bool = False
    # Of a line that is sent back.
    line_id: int | None = None


class SentTags(NamedTuple):
    ids: tuple[int, ...]
    names: tuple[str, ...] = ()
    has_names: bool = False


class Names(NamedTuple):
    """Categories and tags of a ledger by id."""

    categories: Mapping[int, Category]
    tags: Mapping[int, Tag]


class Stored(NamedTuple):
    """The category or tag of a row before a change."""

    id: int | None
    name: str | None


def has_ids(values: Mapping[str, Any]) -> bool:
    """Return True if the values of a request name a category or tags by id."""
    return isinstance(values.get("tags"), SentTags) or any(
        isinstance(part, SentCategory) for part in _list_categories(values)
    )


def _list_categories(values: Mapping[str, Any]) -> list[Any]:
    lines = values.get("lines", ())
    return [values.get("category"), *(line.category for line in lines)]


def read_values(shape: EntryShape) -> dict[str, Any]:
    """Return what `resolve_values` takes of a new entry."""
    names = ("category", "category_type", "lines", "tags", "refund_of")
    return {name: getattr(shape, name) for name in names}


def resolve_values(
    ledger: LockedLedger,
    values: Mapping[str, Any],
    type_: str,
    *,
    row: Any = None,
    lines: Sequence[Any] = (),
    tags: Sequence[Stored] = (),
    names: "Names | None" = None,
) -> dict[str, Any]:
    """Return the values of a request with names for ids, under the ledger's lock.

    `row` with its `lines` and `tags` is what the request changes. An id decides alone;
    beside a name, the one that differs from what is stored does. Raises
    `InvalidFieldError` for an unknown id, for another type of category beside it, and
    for an id and a name that differ from each other and from what is stored. `names`
    are those of the whole ledger, if they were read before.
    """
    resolved = dict(values)
    sent_parts = _list_categories(values)
    ids = {part.id for part in sent_parts if isinstance(part, SentCategory)} - {None}
    categories: Mapping[int, Category] = names.categories if names else {}
    if ids and names is None:
        categories = Category.objects.owned_by(ledger.member).in_bulk(ids)
    default = values.get("category_type") or _find_default_type(values, type_, row)
    if isinstance(sent := values.get("category"), SentCategory):
        stored = None
        if row is not None:
            stored = Stored(row.category_id, row.category and row.category.name)
        name, category_type = _resolve_category(
            sent, categories, values.get("category_type"), default, stored, ""
        )
        resolved["category"] = name
        if category_type:
            resolved["category_type"] = category_type
    if values.get("lines"):
        stored_lines = {
            line.pk: Stored(line.category_id, line.category and line.category.name)
            for line in lines
        }
        resolved["lines"] = tuple(
            _resolve_line(line, f"lines.{number}.", categories, default, stored_lines)
            for number, line in enumerate(values["lines"])
        )
    if isinstance(sent_tags := values.get("tags"), SentTags):
        stored_tags = None if row is None else tags
        known = names.tags if names else None
        resolved["tags"] = _resolve_tags(ledger, sent_tags, stored_tags, known)
    return resolved


def _find_default_type(values: Mapping[str, Any], type_: str, row: Any) -> str:
    """Return the type of a category that is named without a type."""
    if values.get("refund_of"):
        return EXPENSE
    if row is not None and row.type == type_:
        stored: str = row.category_type
        return stored
    return default_category_type(type_)


def resolve_expense_category(
    ledger: LockedLedger, sent: str | SentCategory, stored: Category | None
) -> str:
    """Return the name of a budget's category; raise `InvalidFieldError`."""
    if isinstance(sent, str):
        return sent
    rows = Category.objects.owned_by(ledger.member).filter(type=EXPENSE)
    categories = rows.in_bulk([sent.id])
    before = None if stored is None else Stored(stored.pk, stored.name)
    name, _ = _resolve_category(sent, categories, None, EXPENSE, before, "")
    return str(name)


def _resolve_line(
    line: LineShape,
    prefix: str,
    categories: Mapping[int, Category],
    default: str,
    stored: Mapping[int, Stored],
) -> LineShape:
    sent: Any = line.category
    if not isinstance(sent, SentCategory):
        return line
    before = None if sent.line_id is None else stored.get(sent.line_id)
    default = line.category_type or (EXPENSE if line.refund_of else default)
    name, type_ = _resolve_category(
        sent, categories, line.category_type, default, before, prefix
    )
    return replace(line, category=name, category_type=type_ or line.category_type)


def _resolve_category(
    sent: SentCategory,
    categories: Mapping[int, Category],
    given_type: str | None,
    default_type: str,
    stored: Stored | None,
    prefix: str,
) -> tuple[str | None, str | None]:
    """Return the name, and the type if the id decides."""
    field = f"{prefix}categoryId"
    if sent.has_name and stored is not None and sent.id == stored.id:
        # Who changes the name sends the id back as it was read.
        return sent.name, None
    if sent.id is None:
        if sent.has_name and sent.name is not None and stored is not None:
            _raise_unless_stored(sent, stored, field)
        # On creation null says nothing beside a name.
        return (sent.name if stored is None else None), None
    category = categories.get(sent.id)
    if category is None:
        raise MissingItemError(field)
    is_same = (sent.name, default_type) == (category.name, category.type)
    if sent.has_name and not is_same and (stored is not None or sent.name is not None):
        _raise_unless_stored(sent, stored, field)
    if given_type not in (None, category.type):
        detail = gettext("The category has another type.")
        raise InvalidFieldError(f"{prefix}categoryType", detail, MISMATCH)
    return category.name, category.type


def _raise_unless_stored(sent: SentCategory, stored: Stored | None, field: str) -> None:
    """Raise `InvalidFieldError` unless the name is the stored one: the id is new."""
    if stored is None or sent.name != stored.name:
        raise InvalidFieldError(
            field, gettext("Is not the id of `category`."), MISMATCH
        )


def _resolve_tags(
    ledger: LockedLedger,
    sent: SentTags,
    stored: Sequence[Stored] | None,
    known: Mapping[int, Tag] | None,
) -> tuple[str, ...]:
    if sent.has_names and stored is not None:
        if sent.ids == tuple(tag.id for tag in stored):
            return sent.names
        is_new = sent.names == tuple(tag.name for tag in stored)
    else:
        # On creation an empty list says nothing beside another.
        is_new = not sent.has_names or not sent.names
        if sent.has_names and not sent.ids:
            return sent.names
    names = _name_tags(ledger, sent.ids, known)
    if not is_new and names != sent.names:
        raise InvalidFieldError(
            "tagIds", gettext("Are not the ids of `tags`."), MISMATCH
        )
    return names


def _name_tags(
    ledger: LockedLedger, ids: Collection[int], known: Mapping[int, Tag] | None
) -> tuple[str, ...]:
    rows: Mapping[int, Tag]
    if known is None:
        rows = Tag.objects.owned_by(ledger.member).in_bulk(list(ids))
    else:
        rows = known
    for number, tag_id in enumerate(ids):
        if tag_id not in rows:
            name = f"tagIds.{number}"
            raise MissingItemError(name)
    return tuple(rows[tag_id].name for tag_id in ids)
