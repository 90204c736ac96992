"""Serializer fields with strict JSON types."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

from core.api.field_texts import FieldText

# In whole home-currency units (spec 10.1).
MAX_AMOUNT = 999_999_999_999

# Later moments overflow in some time zones.
MAX_FUTURE = datetime(9999, 1, 1, tzinfo=UTC)

# Checked before the conversion, so that 1e999999 is not expanded.
MAX_INTEGER_DIGITS = 18

DECIMAL_RE = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")

# No workbook cell holds these characters.
DISALLOWED_CHARACTERS = r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"

# The same in the OpenAPI document, in the syntax that all languages share; JSON has no
# single surrogates.
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff"
TEXT_PATTERN = rf"^[^{_CONTROL}]*$"
TAG_PATTERN = rf"^[^{_CONTROL},]*$"

_DISALLOWED_RE = re.compile(DISALLOWED_CHARACTERS)
_UUID_RE = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ISO_DATE_RE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def find_cleared_value(field: Any) -> Any:
    """Return what null stores in a change, `empty` if the field cannot be cleared."""
    if field.default not in (empty, None):
        return field.default() if callable(field.default) else field.default
    if isinstance(field, serializers.ListField | serializers.ListSerializer):
        return []
    if isinstance(field, serializers.BooleanField):
        return False
    return "" if getattr(field, "allow_blank", False) else empty


def has_control_characters(text: str) -> bool:
    return _DISALLOWED_RE.search(text) is not None


class StrictCharField(serializers.CharField):
    """A trimmed JSON string without control characters."""

    # Of the OpenAPI document.
    pattern = TEXT_PATTERN

    default_error_messages: ClassVar[dict[str, Any]] = {
        "control": gettext_lazy("Control characters are not allowed."),
    }

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if has_control_characters(data):
            self.fail("control")
        return super().to_internal_value(data)


class OpenTextField(StrictCharField):
    """A text whose set of values grows: not an enum in the document."""

    def __init__(self, *, known_values: Iterable[str], **kwargs: Any) -> None:
        self.known_values = list(known_values)
        super().__init__(**kwargs)


@extend_schema_field({"type": "string", "format": "uri-reference"})
class UriReferenceField(serializers.CharField):
    """An absolute or relative address."""


class ClosedChoiceField(serializers.ChoiceField):
    """A choice that never grows, such as income and expense.

    Other words that are read have no enum: generated clients fail at later values.
    """


class StrictIntegerField(serializers.IntegerField):
    def to_internal_value(self, data: Any) -> int:
        if (
            isinstance(data, Decimal)
            and data.adjusted() <= MAX_INTEGER_DIGITS
            and not data % 1
        ):
            data = int(data)
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return data


class StrictBooleanField(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if data is None and self.allow_null:
            return None  # type: ignore[return-value]
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class StrictUUIDField(serializers.UUIDField):
    """A UUID with hyphens, in either letter case."""

    def to_internal_value(self, data: Any) -> UUID:
        if not isinstance(data, str) or not _UUID_RE.fullmatch(data):
            self.fail("invalid", value=data)
        return UUID(data)


class IsoDateField(serializers.DateField):
    def to_internal_value(self, data: Any) -> date:
        if not isinstance(data, str) or not _ISO_DATE_RE.fullmatch(data):
            self.fail("invalid", format="YYYY-MM-DD")
        day: date = super().to_internal_value(data)
        return day


class StrictDateTimeField(serializers.DateTimeField):
    """An ISO 8601 time, in the home time zone if it has no offset; UTC in Python."""

    def to_internal_value(self, data: Any) -> datetime:
        if not isinstance(data, str):
            self.fail("invalid", format="ISO 8601")
        try:
            moment: datetime = super().to_internal_value(data)
            return moment.astimezone(UTC)
        except OverflowError:
            self.fail("overflow")


class FutureDateTimeField(StrictDateTimeField):
    """A time after now."""

    default_error_messages: ClassVar[dict[str, Any]] = {
        "range": gettext_lazy("Must be in the future.")
    }

    def to_internal_value(self, data: Any) -> datetime:
        moment = super().to_internal_value(data)
        if not timezone.now() < moment <= MAX_FUTURE:
            self.fail("range")
        return moment


class ExactDecimalField(serializers.DecimalField):
    """An exact decimal: a JSON number or string in requests, a number in responses."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(coerce_to_string=False, **kwargs)

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, bool) or not isinstance(data, int | Decimal | str):
            self.fail("invalid")
        if isinstance(data, str) and not DECIMAL_RE.fullmatch(data):
            self.fail("invalid")
        value: Decimal = super().to_internal_value(data)
        return value

    def quantize(self, value: Decimal) -> Decimal:
        # The renderer drops trailing zeros.
        return value


class PositiveDecimalField(ExactDecimalField):
    def __init__(self, *, decimal_places: int, **kwargs: Any) -> None:
        super().__init__(
            decimal_places=decimal_places,
            min_value=Decimal(1).scaleb(-decimal_places),
            **kwargs,
        )


class AmountField(StrictIntegerField):
    def __init__(self, **kwargs: Any) -> None:
        kwargs = {"min_value": 1, "max_value": MAX_AMOUNT} | kwargs
        limits = f"{kwargs['min_value']} to {MAX_AMOUNT}."
        text = FieldText("In whole home-currency units.", requests=limits)
        kwargs.setdefault("help_text", text)
        super().__init__(**kwargs)


class StrictListField(serializers.ListField):
    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list", input_type=type(data).__name__)
        return super().to_internal_value(data)


class TagNameField(StrictCharField):
    """Commas separate tags in workbooks."""

    pattern = TAG_PATTERN

    default_error_messages: ClassVar[dict[str, Any]] = {
        "comma": gettext_lazy("A tag name cannot contain commas."),
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if "," in text:
            self.fail("comma")
        return text


class UniqueListField(StrictListField):
    """Repetitions are dropped, and count for the limit."""

    def to_internal_value(self, data: Any) -> list[str]:
        limit = self.max_length
        if isinstance(data, list) and limit is not None and len(data) > limit:
            self.fail("max_length", max_length=limit)
        return list(dict.fromkeys(super().to_internal_value(data)))


class StrictPrimaryKeyField(serializers.PrimaryKeyRelatedField):  # type: ignore[type-arg]
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(pk_field=StrictIntegerField(), **kwargs)

    def run_validation(self, data: Any = empty) -> Any:
        # DRF would treat an empty string as null.
        if data == "":
            self.fail("incorrect_type", data_type="str")
        return super().run_validation(data)
