"""Serializer fields with strict JSON types."""

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

# The largest amount, in whole home-currency units (spec 10.1).
MAX_AMOUNT = 999_999_999_999

# Every integer field has a smaller range. Checked before the conversion, so that
# 1e999999 is not expanded.
MAX_INTEGER_DIGITS = 18

# An exact decimal in a JSON string: the digits that a JSON number may have.
DECIMAL_RE = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")

# Control characters, lone surrogates, U+FFFE and U+FFFF. A workbook cell can hold
# every other character.
DISALLOWED_CHARACTERS = r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"

_DISALLOWED_RE = re.compile(DISALLOWED_CHARACTERS)
_ISO_DATE_RE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def has_control_characters(text: str) -> bool:
    """Return True if the text has a disallowed character; tab and newline are fine."""
    return _DISALLOWED_RE.search(text) is not None


class StrictCharField(serializers.CharField):
    """A JSON string, trimmed, without the characters of `DISALLOWED_CHARACTERS`."""

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
    """A text whose known values grow: the OpenAPI document names them, and no enum."""

    def __init__(self, *, known_values: Iterable[str], **kwargs: Any) -> None:
        self.known_values = list(known_values)
        super().__init__(**kwargs)


@extend_schema_field({"type": "string", "format": "uri-reference"})
class UriReferenceField(serializers.CharField):
    """An address, which is relative to that of the service or absolute."""


class ClosedChoiceField(serializers.ChoiceField):
    """A choice that never grows, such as income and expense: an enum in answers too.

    Other choices are enums in requests only. A client that was generated from an enum
    fails at a value that was added later.
    """


class StrictIntegerField(serializers.IntegerField):
    """A JSON number without a fraction; strings and booleans are invalid."""

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
    """JSON true or false; 1, 0, "yes" and the like are invalid."""

    def to_internal_value(self, data: Any) -> bool:
        if data is None and self.allow_null:
            return None  # type: ignore[return-value]
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class IsoDateField(serializers.DateField):
    """A date as YYYY-MM-DD, in none of ISO 8601's other notations."""

    def to_internal_value(self, data: Any) -> date:
        if not isinstance(data, str) or not _ISO_DATE_RE.fullmatch(data):
            self.fail("invalid", format="YYYY-MM-DD")
        day: date = super().to_internal_value(data)
        return day


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
        # Keep the digits as they are; the renderer drops trailing zeros.
        return value


class PositiveDecimalField(ExactDecimalField):
    """An exact decimal above 0: at least one unit of its last decimal place."""

    def __init__(self, *, decimal_places: int, **kwargs: Any) -> None:
        super().__init__(
            decimal_places=decimal_places,
            min_value=Decimal(1).scaleb(-decimal_places),
            **kwargs,
        )


class AmountField(StrictIntegerField):
    """Money in whole home-currency units, 1 to 999,999,999,999."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs = {"min_value": 1, "max_value": MAX_AMOUNT} | kwargs
        kwargs.setdefault(
            "help_text",
            f"In whole home-currency units, {kwargs['min_value']} to {MAX_AMOUNT}.",
        )
        super().__init__(**kwargs)


class StrictListField(serializers.ListField):
    """A JSON array; errors name its items by index (`ids.1`)."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list", input_type=type(data).__name__)
        return super().to_internal_value(data)


class TagNameField(StrictCharField):
    """The name of a tag; commas separate tags in workbooks, so it has none."""

    default_error_messages: ClassVar[dict[str, Any]] = {
        "comma": gettext_lazy("A tag name cannot contain commas."),
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if "," in text:
            self.fail("comma")
        return text


class UniqueListField(StrictListField):
    """A list without duplicates: the first of equal items is kept."""

    def to_internal_value(self, data: Any) -> list[str]:
        return list(dict.fromkeys(super().to_internal_value(data)))


class StrictPrimaryKeyField(serializers.PrimaryKeyRelatedField):  # type: ignore[type-arg]
    """The id of an existing row, as a JSON number."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(pk_field=StrictIntegerField(), **kwargs)

    def run_validation(self, data: Any = empty) -> Any:
        # DRF would treat an empty string as null.
        if data == "":
            self.fail("incorrect_type", data_type="str")
        return super().run_validation(data)
