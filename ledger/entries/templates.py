"""Common part of quick entries and rules."""

from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef
from django.db.models.functions import JSONObject

from accounts.models import Member
from ledger.base.ledger_write import LockedLedger
from ledger.categories.categories import get_or_create_categories
from ledger.entries.rows import (
    Tables,
    assign_shape,
    make_lines,
    read_shape,
)
from ledger.entries.sent_ids import has_ids, resolve_values
from ledger.entry_shape import EntryShape
from ledger.models.base import OwnedQuerySet

_SHAPE_FIELDS = (
    *("type", "amount", "category", "category_type", "wallet", "to_wallet"),
    *("lines", "memo"),
)


def with_lines_and_tags(
    rows: OwnedQuerySet, member: Member, tables: Tables
) -> OwnedQuerySet:
    """Annotate templates with the `line_values` and `tag_names` of their JSON."""
    of_template: Any = {"member_id": member.pk, tables.owner: OuterRef("pk")}
    links = tables.tags.objects.filter(**of_template)
    lines = tables.lines._default_manager.filter(**of_template).order_by("position")
    annotated: OwnedQuerySet = rows.select_related("category", "to_wallet").annotate(
        line_values=ArraySubquery(
            lines.values(
                json=JSONObject(
                    id="id",
                    amount="amount",
                    category="category__name",
                    category_id="category_id",
                    category_type="category_type",
                    wallet_id="wallet_id",
                    wallet="wallet__name",
                    memo="memo",
                )
            )
        ),
        tag_names=ArraySubquery(links.order_by("position").values("tag__name")),
    )
    return annotated


def assign_values(
    ledger: LockedLedger, template: Any, values: dict[str, Any], tables: Tables
) -> list[Any] | None:
    """Assign the values of a request to a template, but for its tags.

    Returns its new lines, unsaved; None if it keeps its lines. Raises
    `InvalidFieldError`, and `LinesMismatchError` for another type or amount without
    lines.
    """
    before, stored = EntryShape(type=""), []
    if template.pk:
        stored = tables.list_lines(template)
        before = read_shape(template, stored)
    if has_ids(values):
        row = template if template.pk else None
        type_ = values.get("type", before.type)
        values = resolve_values(ledger, values, type_, row=row, lines=stored)
    given = {name: values[name] for name in _SHAPE_FIELDS if name in values}
    shape = before.change(given)
    has_new_lines = shape.rewrites_lines(before, are_given="lines" in given)
    shape.validate()
    categories = get_or_create_categories(ledger, shape.category_names())
    assign_shape(template, shape, categories)
    for name, value in values.items():
        if name not in _SHAPE_FIELDS and name != "tags":
            setattr(template, name, value)
    if not has_new_lines:
        return None
    return make_lines(ledger, shape, categories, tables.lines)
