"""Base serializers of the JSON API, and readers of request bodies and queries."""

import re
import threading
from collections.abc import Iterable
from typing import Any, ClassVar

from django.utils.translation import get_language
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.settings import api_settings

_of_thread = threading.local()
_WORD_BOUNDARY_RE = re.compile(r"_([a-z0-9])")


def to_camel_case(name: str) -> str:
    """Convert `wallet_id` to `walletId`."""
    return _WORD_BOUNDARY_RE.sub(lambda match: match.group(1).upper(), name)


class Serializer(serializers.Serializer[Any]):
    """Base serializer: fields are declared in snake_case, named in camelCase in JSON.

    Schema, body and errors share the camelCase name. A trailing underscore avoids a
    Python keyword: `from_` is `from`.
    """

    # The JSON names of fields that a response has only if they apply.
    conditional_fields: ClassVar[frozenset[str]] = frozenset()

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

    def run_validation(self, data: Any = empty) -> Any:
        # DRF has a text of its own for a body that is null, which has no translations.
        if data is None and self.root is self:
            detail = self.error_messages["invalid"].format(datatype="null")
            raise ValidationError(
                {api_settings.NON_FIELD_ERRORS_KEY: [detail]}, code="invalid"
            )
        return super().run_validation(data)


class QuerySerializer(Serializer):
    """Query parameters: text in, typed values out; unknown parameters are ignored."""

    # An empty value counts as missing, unless a subclass wants it validated.
    keep_blank_values = False


def validate_query(
    serializer_class: type[QuerySerializer], request: Request
) -> dict[str, Any]:
    """Return the validated query parameters, or raise `ValidationError`."""
    params = request.query_params.dict()
    if not serializer_class.keep_blank_values:
        params = {name: value for name, value in params.items() if value != ""}
    serializer = _get_serializer(serializer_class, language=get_language())
    values: dict[str, Any] = serializer.run_validation(params)
    return values


def validate_body(
    serializer_class: type[Serializer], request: Request, *, partial: bool = False
) -> dict[str, Any]:
    """Return the validated request body, or raise `ValidationError`."""
    serializer = _get_serializer(
        serializer_class, language=get_language(), partial=partial
    )
    serializer._context = {"request": request}  # noqa: SLF001
    try:
        values: dict[str, Any] = serializer.run_validation(request.data)
    finally:
        serializer._context = {}  # noqa: SLF001
    return values


def to_payload(serializer_class: type[Serializer], value: Any) -> dict[str, Any]:
    """Return the JSON fields of a value; the serializer needs no context for it."""
    serializer = _get_serializer(serializer_class)
    payload: dict[str, Any] = serializer.to_representation(value)
    return payload


def list_payload(serializer_class: Any, values: Iterable[Any]) -> list[Any]:
    """Return the JSON fields of each value, by the class's list serializer."""
    serializer = _get_serializer(serializer_class, many=True)
    payloads: list[Any] = serializer.to_representation(values)
    return payloads


def _get_serializer(
    serializer_class: Any, *, language: str | None = None, **options: bool
) -> Any:
    """Return this thread's instance; building its fields takes longer than using them.

    Not one for all threads: fields read the request from its context. One for each
    language that validates: validators of DRF keep the text of their first error.
    """
    instances: dict[Any, Any] = _of_thread.__dict__.setdefault("instances", {})
    key = serializer_class, language, *options.items()
    if key not in instances:
        instances[key] = serializer_class(**options)
    return instances[key]
