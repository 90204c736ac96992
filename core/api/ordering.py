"""The reorder request that every list with a `sortOrder` shares."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Max, QuerySet

from core.api.fields import StrictIntegerField, StrictListField
from core.api.serializers import Serializer
from core.errors import InvalidOrderError


class ReorderRequestSerializer(Serializer):
    ids = StrictListField(
        child=StrictIntegerField(),
        help_text="Exactly the caller's items of this list, in their new order.",
    )


def reorder(items: QuerySet[Any], ids: Sequence[int]) -> None:
    """Give the locked `items` the order of `ids`, or refuse with INVALID_ORDER.

    Call inside a transaction with a queryset that locks its rows; they are locked by
    id, so that two requests cannot lock them crosswise.
    """
    by_id = {item.pk: item for item in items.order_by("pk")}
    if len(ids) != len(by_id) or set(ids) != set(by_id):
        raise InvalidOrderError
    for position, item_id in enumerate(ids, start=1):
        by_id[item_id].sort_order = position
    items.bulk_update(by_id.values(), ["sort_order"])


def next_position(items: QuerySet[Any]) -> int:
    """The `sortOrder` behind all of `items`: a new one goes last."""
    last = items.aggregate(last=Max("sort_order"))["last"]
    return int(last or 0) + 1
