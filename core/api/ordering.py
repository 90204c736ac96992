"""Reordering of lists with a `sortOrder`."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Max, QuerySet

from core.api.fields import StrictIntegerField, StrictListField
from core.api.serializers import Serializer
from core.errors import InvalidOrderError


class ReorderRequestSerializer(Serializer):
    ids = StrictListField(
        child=StrictIntegerField(),
        help_text="The ids of all items of the list, in their new order.",
    )


def reorder(items: QuerySet[Any], ids: Sequence[int]) -> None:
    """Give `items` the order of `ids`, or raise `InvalidOrderError`.

    Call under a lock against other writers.
    """
    by_id = {item.pk: item for item in items}
    if len(ids) != len(by_id) or set(ids) != set(by_id):
        raise InvalidOrderError
    for position, item_id in enumerate(ids, start=1):
        by_id[item_id].sort_order = position
    items.bulk_update(by_id.values(), ["sort_order"])


def next_position(items: QuerySet[Any]) -> int:
    last = items.aggregate(last=Max("sort_order"))["last"]
    return int(last or 0) + 1
