"""Base serializers."""

import re
import threading
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, ClassVar, cast

from django.utils.datastructures import MultiValueDict
from django.utils.functional import cached_property
from django.utils.translation import get_language, gettext
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.settings import api_settings

import core.api.field_messages  # noqa: F401 - before any field is made
from core.api.fields import find_cleared_value
from core.api.operations import list_parameters
from core.api.unknown_names import (
    MAX_REPORTED_NAMES,
    REPEATED,
    UnknownCode,
    describe_unknown_name,
    find_suggestion,
    show_name,
)

METHODS_OF_CHANGES = frozenset({"PUT", "PATCH"})

_of_thread = threading.local()
_WORD_BOUNDARY_RE = re.compile(r"_([a-z0-9])")


def to_camel_case(name: str) -> str:
    """Convert `wallet_id` to `walletId`."""
    return _WORD_BOUNDARY_RE.sub(lambda match: match.group(1).upper(), name)


class Serializer(serializers.Serializer[Any]):
    """Fields are declared in snake_case and named in camelCase in JSON.

    A trailing underscore avoids a keyword: `from_` is `from`.
    """

    # JSON names of fields that a response may lack.
    conditional_fields: ClassVar[frozenset[str]] = frozenset()
    # JSON names of fields that a PUT may lack -> `required`, `cleared` or `kept`.
    left_out: ClassVar[Mapping[str, str]] = {}
    # A body without any field is 400, though each field is optional.
    is_body_required = False
    # False where a change has no value to clear: null leaves a field out there, too.
    has_stored_values = True
    # A request may have the fields of this answer.
    answer: ClassVar["type[Serializer] | None"] = None

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
        # DRF's text for a null body has no translations.
        if data is None and self.root is self:
            detail = self.error_messages["invalid"].format(datatype="null")
            raise ValidationError(
                {api_settings.NON_FIELD_ERRORS_KEY: [detail]}, code="invalid"
            )
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return super().to_internal_value(data)
        if None in data.values():
            data = self._replace_nulls(data)
        errors = self._list_repeated_parts(data)
        if not errors and data.keys() <= self.known_names:
            return super().to_internal_value(data)
        errors |= self._list_unknown_names(data)
        try:
            super().to_internal_value(data)
        except ValidationError as error:
            errors = {**cast("dict[str, Any]", error.detail), **errors}
        raise ValidationError(errors)

    def _replace_nulls(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body without nulls of optional fields that store none (spec 1.3).

        Such a field is left out on creation and cleared in a change.
        """
        request, is_partial = self.context.get("request"), self.root.partial
        is_change = self.has_stored_values and (
            is_partial or (request and request.method in METHODS_OF_CHANGES)
        )
        replaced = dict(data)
        for name in [name for name, value in data.items() if value is None]:
            field = self.fields.get(name)
            if field is None or field.required or field.allow_null:
                continue
            if not is_change:
                del replaced[name]
            elif (value := find_cleared_value(field)) is not empty:
                replaced[name] = value
        return replaced

    @cached_property
    def known_names(self) -> frozenset[str]:
        answer = self.answer().fields if self.answer else ()
        return frozenset((*self.fields, *answer))

    def _list_repeated_parts(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return an error for each part of a form that is sent twice."""
        if not isinstance(data, MultiValueDict):
            return {}
        text = gettext("The part must not be repeated.")
        return {
            name: [ErrorDetail(text, REPEATED)]
            for name, values in data.lists()
            if len(values) > 1 and name in self.fields
        }

    def _list_unknown_names(self, data: Mapping[str, Any]) -> dict[str, Any]:
        writable = [name for name, each in self.fields.items() if not each.read_only]
        request = self.context.get("request") if self.root is self else None
        parameters = (
            list_parameters(request.parser_context["view"], request) if request else []
        )
        errors: dict[str, Any] = {}
        unknown = (name for name in data if name not in self.known_names)
        for name in islice(unknown, MAX_REPORTED_NAMES):
            suggestion = find_suggestion(name, writable, parameters)
            text = describe_unknown_name(
                suggestion, "" if suggestion in writable else "query"
            )
            errors[show_name(name)] = [ErrorDetail(text, UnknownCode(suggestion))]
        return errors


class QuerySerializer(Serializer):
    """Query parameters; `core.api.unknown_names` refuses unknown ones."""

    def to_internal_value(self, data: Any) -> Any:
        sent = {n: value for n, value in data.items() if n in self.known_names}
        # Some fields would take an empty text as null.
        if blank := [name for name, value in sent.items() if value == ""]:
            text = gettext("This field may not be blank.")
            raise ValidationError({name: [text] for name in blank}, code="blank")
        return super().to_internal_value(sent)


def validate_query(
    serializer_class: type[QuerySerializer], request: Request
) -> dict[str, Any]:
    params = request.query_params.dict()
    serializer = _get_serializer(serializer_class, language=get_language())
    values: dict[str, Any] = serializer.run_validation(params)
    return values


def validate_body(
    serializer_class: type[Serializer], request: Request, *, partial: bool = False
) -> dict[str, Any]:
    return validate_part(serializer_class, request.data, request, partial=partial)


def validate_part(
    serializer_class: type[Serializer],
    data: Any,
    request: Request,
    *,
    partial: bool = False,
) -> dict[str, Any]:
    """Validate a part of a body by its own serializer."""
    serializer = _get_serializer(
        serializer_class, language=get_language(), partial=partial
    )
    serializer._context = {"request": request}  # noqa: SLF001
    try:
        values: dict[str, Any] = serializer.run_validation(data)
    finally:
        serializer._context = {}  # noqa: SLF001
    return values


def to_payload(serializer_class: type[Serializer], value: Any) -> dict[str, Any]:
    serializer = _get_serializer(serializer_class)
    payload: dict[str, Any] = serializer.to_representation(value)
    return payload


def list_payload(serializer_class: Any, values: Iterable[Any]) -> list[Any]:
    serializer = _get_serializer(serializer_class, many=True)
    payloads: list[Any] = serializer.to_representation(values)
    return payloads


def _get_serializer(
    serializer_class: Any, *, language: str | None = None, **options: bool
) -> Any:
    """Return this thread's instance: building its fields takes longer than using them.

    DRF's validators keep their first text in one language.
    """
    instances: dict[Any, Any] = _of_thread.__dict__.setdefault("instances", {})
    key = serializer_class, language, *options.items()
    if key not in instances:
        instances[key] = serializer_class(**options)
    return instances[key]
