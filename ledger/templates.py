"""The common part of quick entries and recurring rules: shape, lines and tags."""

from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef
from django.db.models.functions import JSONObject

from accounts.models import Member
from ledger.categories import get_or_create_category
from ledger.errors import LinesMismatchError
from ledger.lines import (
    LineData,
    is_reversal,
    make_lines,
    natural_category_type,
    read_lines,
    validate_shape,
)
from ledger.models import QuickEntryTag, RecurringTag, Wallet
from ledger.models.base import EntryType, OwnedQuerySet
from ledger.models.lines import Line
from ledger.moves import raise_if_wallet_is_moving

_SHAPE_FIELDS = ("category", "category_type", "to_wallet", "lines")


@dataclass(frozen=True, slots=True)
class TemplateShape:
    """The values of a template that say what its amount is for."""

    type: str
    amount: int | None
    category: str | None
    category_type: str | None
    wallet: Wallet | None
    to_wallet: Wallet | None
    lines: tuple[LineData, ...]


def with_lines_and_tags(
    rows: OwnedQuerySet,
    member: Member,
    owner: str,
    lines: type[Line],
    tags: type[QuickEntryTag | RecurringTag],
) -> OwnedQuerySet:
    """Add the `line_values` and `tag_names` of templates, which `owner` names."""
    of_template = {owner: OuterRef("pk")}
    links = tags.objects.owned_by(member).filter(**of_template)
    own = lines._default_manager.filter(member_id=member.pk, **of_template)
    values = own.order_by("position")
    annotated: OwnedQuerySet = rows.select_related("category", "to_wallet").annotate(
        line_values=ArraySubquery(
            values.values(
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


def assign_shape(
    template: Any, values: dict[str, Any], model: type[Line], owner: str
) -> list[Any] | None:
    """Assign type, amount, category and wallets; return new lines, if they change.

    The values are taken out of `values`. Call under `lock_ledger`. Categories belong to
    a type: after a change of type, the one of the same name. Raises
    `LinesMismatchError` for another type or amount of a split one without its lines.
    """
    member = template.member
    raise_if_wallet_is_moving(values.get("wallet"))
    raise_if_wallet_is_moving(values.get("to_wallet"))
    stored: list[Any] = []
    previous_type = template.type if template.pk else None
    previous_amount = template.amount
    if template.pk:
        rows: Any = model._default_manager.filter(
            member_id=member.pk, **{owner: template.pk}
        )
        stored = list(rows.select_related("category", "wallet").order_by("position"))
    given = {name: values.pop(name) for name in _SHAPE_FIELDS if name in values}
    for field in ("type", "amount", "wallet"):
        if field in values:
            setattr(template, field, values.pop(field))
    is_same_type = previous_type == template.type
    is_rescaled = not is_same_type or template.amount != previous_amount
    if stored and is_rescaled and "lines" not in given:
        raise LinesMismatchError
    lines = given.get("lines", read_lines(stored))
    defaults = {
        "category": template.category.name if template.category else None,
        "category_type": template.category_type if is_same_type else None,
        "to_wallet": template.to_wallet,
    }
    if lines:
        defaults |= {"category": None, "to_wallet": None}
    if template.type == EntryType.TRANSFER:
        defaults["category"] = None
    else:
        defaults["to_wallet"] = None
    chosen = defaults | given
    type_ = chosen["category_type"] or natural_category_type(template.type)
    shape = TemplateShape(
        type=template.type,
        amount=template.amount,
        category=chosen["category"],
        category_type=type_,
        wallet=template.wallet,
        to_wallet=chosen["to_wallet"],
        lines=lines,
    )
    validate_shape(shape)
    template.is_reversal = is_reversal(template.type, type_)
    template.to_wallet = shape.to_wallet
    template.category = get_or_create_category(member, type_, shape.category)
    if "lines" not in given:
        return None
    return make_lines(member, template.type, lines, model)


def replace_lines(
    template: Any, rows: list[Any] | None, model: type[Line], owner: str
) -> None:
    """Store the new lines of a saved template; None keeps those that it has."""
    if rows is None:
        return
    stored: Any = model._default_manager.filter(
        member_id=template.member_id, **{owner: template.pk}
    )
    stored.delete()
    for row in rows:
        setattr(row, owner, template.pk)
    model._default_manager.bulk_create(rows)
