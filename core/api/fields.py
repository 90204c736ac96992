"""The base of all wire shapes: camelCase names and strict JSON types."""

import functools
import re
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar

from rest_framework import serializers

MAX_AMOUNT = 999_999_999_999
"""The largest amount, in whole home-currency units (spec 10.1)."""

MAX_INTEGER_DIGITS = 18
"""Larger whole numbers are out of every range here; 1e999999 is not written out."""

DECIMAL_RE = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
"""An exact decimal as text: plain digits, as in a number of JSON."""

_ISO_DATE_RE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WORD_BOUNDARY_RE = re.compile(r"_([a-z0-9])")
DISALLOWED_CHARACTERS = r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Characters that no text may have; of the others a workbook can hold each."""

_DISALLOWED_RE = re.compile(DISALLOWED_CHARACTERS)


def to_camel_case(name: str) -> str:
    """`wallet_id` → `walletId`."""
    return _WORD_BOUNDARY_RE.sub(lambda match: match.group(1).upper(), name)


def has_control_characters(text: str) -> bool:
    """NUL and its like, lone surrogates, U+FFFE and U+FFFF.

    Tab and newline are fine.
    """
    return _DISALLOWED_RE.search(text) is not None


class Serializer(serializers.Serializer[Any]):
    """Fields are declared in snake_case and named in camelCase on the wire.

    An underscore at the end keeps a name from being a keyword: `from_` is `from`.

    Schema, body and errors share the one name; user text is never a key.
    """

    def get_fields(self) -> "dict[str, serializers.Field[Any, Any, Any, Any]]":
        fields = super().get_fields()
        for name, field in fields.items():
            if isinstance(field, serializers.SerializerMethodField):
                field.method_name = field.method_name or f"get_{name}"
            elif field.source is None and to_camel_case(name) != name:
                field.source = name
        return {
            to_camel_case(name).rstrip("_"): field for name, field in fields.items()
        }


class StrictCharField(serializers.CharField):
    """A JSON string, trimmed, without the characters of `DISALLOWED_CHARACTERS`."""

    default_error_messages: ClassVar[dict[str, Any]] = {
        "control": "Control characters are not allowed.",
    }

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if has_control_characters(data):
            self.fail("control")
        return super().to_internal_value(data)


class StrictIntegerField(serializers.IntegerField):
    """A JSON number without a fraction; a string or a boolean is refused."""

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
    """JSON true or false, nothing that merely looks like it."""

    def to_internal_value(self, data: Any) -> bool:
        if data is None and self.allow_null:
            return None  # type: ignore[return-value]
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class IsoDateField(serializers.DateField):
    """A day as YYYY-MM-DD, none of ISO 8601's other notations."""

    def to_internal_value(self, data: Any) -> date:
        if not isinstance(data, str) or not _ISO_DATE_RE.fullmatch(data):
            self.fail("invalid", format="YYYY-MM-DD")
        day: date = super().to_internal_value(data)
        return day


class ExactDecimalField(serializers.DecimalField):
    """An exact decimal, as a JSON number or a string; a `Decimal` in answers."""

    def __init__(self, **options: Any) -> None:
        super().__init__(coerce_to_string=False, **options)

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, bool) or not isinstance(data, int | Decimal | str):
            self.fail("invalid")
        if isinstance(data, str) and not DECIMAL_RE.fullmatch(data):
            self.fail("invalid")
        value: Decimal = super().to_internal_value(data)
        return value

    def quantize(self, value: Decimal) -> Decimal:
        return value


class PositiveDecimalField(ExactDecimalField):
    """An exact decimal above 0: at least the smallest that its decimals can write."""

    def __init__(self, *, decimal_places: int, **options: Any) -> None:
        super().__init__(
            decimal_places=decimal_places,
            min_value=Decimal(1).scaleb(-decimal_places),
            **options,
        )


class AmountField(StrictIntegerField):
    """Money in whole home-currency units, 1 to 999,999,999,999."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": 1, "max_value": MAX_AMOUNT} | options)


class StrictListField(serializers.ListField):
    """A JSON array; in errors its items are named by their index."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list", input_type=type(data).__name__)
        return super().to_internal_value(data)


class TagCharField(StrictCharField):
    """A tag's name: no commas, which separate tags in a list of them."""

    default_error_messages: ClassVar[dict[str, Any]] = {
        "comma": "A tag has no commas in its name.",
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if "," in text:
            self.fail("comma")
        return text


class UniqueListField(StrictListField):
    """Names of tags; each counts once."""

    def to_internal_value(self, data: Any) -> list[str]:
        return list(dict.fromkeys(super().to_internal_value(data)))


class QuerySerializer(Serializer):
    """Query parameters: text in, typed values out; unknown ones are ignored."""

    keep_blank_values = False
    """Whether an empty value is checked; else it counts as not given."""


def validate_query(serializer: type[QuerySerializer], request: Any) -> dict[str, Any]:
    """The checked query parameters."""
    given = request.query_params.dict()
    if not serializer.keep_blank_values:
        given = {key: value for key, value in given.items() if value != ""}
    values: dict[str, Any] = _cached_query_serializer(serializer).run_validation(given)
    return values


@functools.cache
def _cached_query_serializer(serializer: type[QuerySerializer]) -> QuerySerializer:
    """One instance for all requests: its fields keep nothing of what they check."""
    return serializer()


def validate_body(
    serializer: type[Serializer], request: Any, *, partial: bool = False
) -> dict[str, Any]:
    """The checked body of a request."""
    checked = serializer(
        data=request.data, partial=partial, context={"request": request}
    )
    checked.is_valid(raise_exception=True)
    values: dict[str, Any] = checked.validated_data
    return values
