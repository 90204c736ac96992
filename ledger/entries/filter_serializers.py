"""Filters of entries, in queries and in bodies."""

import calendar
from datetime import date
from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from core.api.fields import MAX_AMOUNT, IsoDateField, StrictCharField
from core.api.serializers import QuerySerializer, Serializer
from core.errors import InvalidFieldError
from ledger.entries.listing import EntryFilter
from ledger.models.base import MAX_NAME_LENGTH, CategoryType, EntryType

MIN_FILTER_YEAR, MAX_FILTER_YEAR = 1, 9999


class EntryFilterSerializer(Serializer):
    """Filters of entries, which are combined with AND."""

    has_stored_values = False

    from_ = IsoDateField(
        required=False, source="from_", help_text="Only entries of this day and later."
    )
    to = IsoDateField(required=False, help_text="Only entries of this day and before.")
    year = serializers.IntegerField(
        min_value=MIN_FILTER_YEAR,
        max_value=MAX_FILTER_YEAR,
        required=False,
        help_text="Only entries of this year.",
    )
    month = serializers.IntegerField(
        min_value=1,
        max_value=12,
        required=False,
        help_text="Only entries of this month, 1 to 12; needs `year`.",
    )
    type = serializers.ChoiceField(
        choices=EntryType.choices,
        required=False,
        help_text="Only entries of this type.",
    )
    category = StrictCharField(
        max_length=MAX_NAME_LENGTH,
        required=False,
        help_text=(
            "Only entries of this category, by name; a major one includes its minor"
            " ones."
        ),
    )
    category_id = serializers.IntegerField(
        required=False, help_text="Only entries of this category alone, by id."
    )
    category_type = serializers.ChoiceField(
        choices=CategoryType.choices,
        required=False,
        help_text="Only entries with a part of this type, with a category or without.",
    )
    uncategorized = serializers.BooleanField(
        required=False,
        help_text="True: only entries with a part without category and other wallet.",
    )
    refund_of = serializers.IntegerField(
        required=False, help_text="Only refunds of this expense, by its id."
    )
    wallet_id = serializers.IntegerField(
        required=False,
        help_text="Only entries of this wallet, and transfers to it.",
    )
    tag = StrictCharField(
        max_length=MAX_NAME_LENGTH,
        required=False,
        help_text="Only entries with this tag, by name.",
    )
    keyword = StrictCharField(
        max_length=MAX_NAME_LENGTH,
        required=False,
        help_text=(
            "Only entries with this text in their memo or the memo of a line, in any "
            "letter case."
        ),
    )
    pending = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text=(
            "True: only pending entries; false: only confirmed ones; left out: both."
        ),
    )
    min_amount = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_AMOUNT,
        help_text="Only entries of at least this amount.",
    )
    max_amount = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_AMOUNT,
        help_text="Only entries of at most this amount.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("uncategorized") and attrs.keys() & {"category", "category_id"}:
            detail = gettext("Cannot be combined with a category.")
            raise serializers.ValidationError({"uncategorized": [detail]})
        return attrs


class EntryQuerySerializer(EntryFilterSerializer, QuerySerializer):
    """The filters of the entry list, which are combined with AND."""

    after = serializers.CharField(
        required=False,
        help_text=(
            "Date and id of the last entry that was read, as `2026-11-19.43`: the "
            "entries after it, instead of `page`."
        ),
    )


def make_filter(query: dict[str, Any]) -> EntryFilter:
    """Return the filter of validated names of the list's query."""
    start, end = resolve_date_range(query)
    named = {"after", "from_", "to", "year", "month"}
    values = {name: value for name, value in query.items() if name not in named}
    return EntryFilter(start=start, end=end, **values)


def resolve_date_range(query: dict[str, Any]) -> tuple[date | None, date | None]:
    """Return the first and last day, both inclusive, None if open."""
    start, end = query.get("from_"), query.get("to")
    year, month = query.get("year"), query.get("month")
    if year is None:
        if month is not None:
            raise InvalidFieldError(
                "year", gettext("`year` is required with `month`."), "required"
            )
        return start, end
    first = date(year, month or 1, 1)
    last = date(year, month or 12, calendar.monthrange(year, month or 12)[1])
    return max(start or first, first), min(end or last, last)
