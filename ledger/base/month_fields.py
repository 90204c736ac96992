"""Months in queries and bodies."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext
from rest_framework import serializers

from core.api.fields import StrictCharField, StrictIntegerField
from core.api.serializers import QuerySerializer, Serializer
from ledger.models.budgets import MAX_YEAR, MIN_YEAR
from ledger.periods import Month

MONTH_PATTERN = "^[0-9]{4}-(0[1-9]|1[0-2])$"
_MONTH_RE = re.compile(MONTH_PATTERN)


class MonthNameField(StrictCharField):
    """A month as YYYY-MM, in Python the first day of it."""

    pattern = MONTH_PATTERN

    def to_internal_value(self, data: Any) -> date:  # type: ignore[override]
        return parse_month_name(super().to_internal_value(data))

    def to_representation(self, value: Any) -> str:
        return f"{value.year:04d}-{value.month:02d}"


def parse_month_name(text: str) -> date:
    """Raise `ValidationError` for a text that is no month of `MIN_YEAR` or later."""
    if not _MONTH_RE.fullmatch(text):
        raise serializers.ValidationError(gettext("Must be a month as YYYY-MM."))
    year = int(text[:4])
    if not MIN_YEAR <= year <= MAX_YEAR:
        detail = gettext("Must be between {minimum} and {maximum}.")
        raise serializers.ValidationError(
            detail.format(minimum=f"{MIN_YEAR}-01", maximum=f"{MAX_YEAR}-12")
        )
    return date.fromisoformat(f"{text}-01")


class MonthQuerySerializer(QuerySerializer):
    """`year` and `month`, by default the current month of the home time zone."""

    year = serializers.IntegerField(
        min_value=MIN_YEAR,
        max_value=MAX_YEAR,
        required=False,
        help_text="Year; left out: the current one.",
    )
    month = serializers.IntegerField(
        min_value=1,
        max_value=12,
        required=False,
        help_text="Month, 1 to 12; left out: the current one.",
    )


class YearQuerySerializer(QuerySerializer):
    """`year`, by default the current one."""

    year = serializers.IntegerField(
        min_value=MIN_YEAR,
        max_value=MAX_YEAR,
        required=False,
        help_text="Year; left out: the current one.",
    )


# The only way to count installments that a query can ask for.
SPREAD = "spread"


class InstallmentsQuerySerializer(QuerySerializer):
    """`installments`, for sums in which parts may count instead of purchases."""

    installments = serializers.ChoiceField(
        choices=[SPREAD],
        required=False,
        help_text=(
            "`spread`: the parts of a purchase in installments count when they are "
            "paid; left out: all of it counts on its own day."
        ),
    )


class SpreadMonthQuerySerializer(InstallmentsQuerySerializer, MonthQuerySerializer):
    """A month, and how installments count."""


class SpreadYearQuerySerializer(InstallmentsQuerySerializer, YearQuerySerializer):
    """A year, and how installments count."""


class SpreadAnswerSerializer(Serializer):
    """`installments`, which only answers to such a query have."""

    conditional_fields = frozenset({"installments"})
    installments = serializers.ChoiceField(
        choices=[SPREAD],
        help_text="As the query asked for; else it is not there.",
    )


def spread_payload(query: Mapping[str, Any]) -> dict[str, str]:
    """Return what answers of a query add that asks for parts."""
    return {"installments": SPREAD} if "installments" in query else {}


class MonthSerializer(Serializer):
    """A month in a body."""

    year = StrictIntegerField(
        min_value=MIN_YEAR, max_value=MAX_YEAR, help_text="Year of the month."
    )
    month = StrictIntegerField(min_value=1, max_value=12, help_text="Month, 1 to 12.")


def resolve_month(values: Mapping[str, Any]) -> Month:
    today = timezone.localdate()
    return Month(values.get("year", today.year), values.get("month", today.month))
