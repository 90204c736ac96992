"""The errors of each operation."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any

from rest_framework import serializers

from core.api.exception_handler import (
    PROBLEM_MEDIA_TYPE,
    InternalError,
    PayloadTooLargeError,
    UnsupportedMediaTypeError,
)
from core.api.fields import OpenTextField
from core.api.preconditions import VersionConflictError, is_guarded
from core.api.request_keys import KeyReusedError, takes_key
from core.api.serializers import Serializer
from core.api.token_scopes import ScopeRequiredError, TokenScope
from core.api.unknown_names import REPEATED, UNKNOWN, is_open
from core.errors import (
    CrossOriginError,
    DomainError,
    NotFoundError,
    RateLimitedError,
    ReadOnlyError,
    ServiceUnavailableError,
)

UNSAFE_METHODS = {"POST", "PUT", "PATCH", "DELETE"}
DEFAULT_RESPONSE = "default"
AUTHENTICATION_METHODS = ("PASSWORD", "TOTP", "RECOVERY_CODE", "IDENTITY_PROVIDER")

# Codes of DRF's fields, of Django's password rules, and ours.
FIELD_CODES = (
    *("blank", "date", "datetime", "does_not_exist", "empty", "incorrect_type"),
    *("invalid", "invalid_choice", "invalid_image", "make_aware"),
    *("max_decimal_places", "max_digits", "max_length", "max_string_length"),
    *("max_value", "max_whole_digits", "min_length", "min_value", "no_name"),
    *("not_a_dict", "not_a_list", "null", "null_characters_not_allowed", "overflow"),
    *("required", "surrogate_characters_not_allowed"),
    *("password_entirely_numeric", "password_too_common", "password_too_short"),
    "password_too_similar",
    *("comma", "control", "duplicate", "ended", "exceeds", "hierarchy", "limit"),
    *(
        "mismatch",
        "negative",
        "not_mergeable",
        "not_positive",
        "quota",
        "range",
        "reserved",
        "zero",
    ),
    *(REPEATED, UNKNOWN),
    # Of an operation in a batch: the code of the single request.
    *("DELETED", "IN_USE", "LIMIT_REACHED", "NOT_FOUND", "VERSION_CONFLICT"),
)


class FieldErrorSerializer(Serializer):
    conditional_fields = frozenset({"suggestion", "sheet", "row", "column"})

    field = serializers.CharField(
        help_text=(
            "Name of the field, dotted if nested (`ids.1`); `body` for the body as "
            "a whole."
        )
    )
    code = OpenTextField(
        known_values=sorted(FIELD_CODES),
        help_text="What is wrong, for programs, such as `required` or `max_value`.",
    )
    detail = serializers.CharField(help_text="What is wrong, for people.")
    suggestion = serializers.CharField(
        help_text="The known name that may be meant, with `unknown`."
    )
    sheet = serializers.CharField(help_text="Of a backup.")
    row = serializers.IntegerField(help_text="The headers are row 1.")
    column = serializers.CharField(
        allow_null=True, help_text="Name of the column, of a backup."
    )


class ProblemSerializer(Serializer):
    """Problem details (RFC 9457): `code` is the error, `errors` the invalid fields."""

    conditional_fields = frozenset(
        {
            *("errors", "methods", "ticket", "expiresAt", "addressProved", "scope"),
            *("current", "counts", "until", "reason", "decision"),
            "documents",
        }
    )

    type = serializers.CharField(help_text="Always `about:blank`.")
    title = serializers.CharField(help_text="The phrase of the status.")
    status = serializers.IntegerField(
        min_value=100, max_value=599, help_text="The status of the response."
    )
    detail = serializers.CharField(help_text="What went wrong, for people.")
    code = OpenTextField(
        known_values=(), help_text="What went wrong, for programs, such as `NOT_FOUND`."
    )
    errors = FieldErrorSerializer(
        many=True,
        help_text="The invalid fields, with `VALIDATION_ERROR` and the like.",
    )  # type: ignore[assignment]
    methods = serializers.ListField(
        child=OpenTextField(known_values=AUTHENTICATION_METHODS),
        help_text=(
            "How the member can authenticate, with `REAUTHENTICATION_REQUIRED` and "
            "`SECOND_FACTOR_REQUIRED`."
        ),
    )
    ticket = serializers.CharField(
        help_text="Stands for the first step of a login, with `SECOND_FACTOR_REQUIRED`."
    )
    expires_at = serializers.DateTimeField(help_text="When the ticket ends.")
    address_proved = serializers.BooleanField(
        help_text=(
            "False if the code would link an identity to an account that has never "
            "verified the address; `link: false` makes an account of its own."
        )
    )
    scope = OpenTextField(
        known_values=[scope.value for scope in TokenScope],
        allow_null=True,
        help_text=(
            "The scope that a token needs, with `SCOPE_REQUIRED`; null if none opens "
            "the operation."
        ),
    )
    current = serializers.DictField(
        help_text="The row as it is, with `VERSION_CONFLICT`."
    )

    until = serializers.DateTimeField(
        allow_null=True,
        help_text=(
            "When it ends, with `BOARD_SUSPENDED` and, if it does, `MEMBER_SUSPENDED`."
        ),
    )
    reason = serializers.CharField(
        help_text="Why, with `BOARD_SUSPENDED` and `MEMBER_SUSPENDED`."
    )
    documents = serializers.ListField(
        child=serializers.DictField(),
        help_text=(
            "The documents in force, where a new member lacks a consent; those that "
            "are due, with `CONSENT_REQUIRED`."
        ),
    )
    decision = serializers.DictField(
        help_text="What was decided first, with `ALREADY_RESOLVED`."
    )
    counts = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Rows that were written since, by kind, with `CHANGED_SINCE`.",
    )

    def get_fields(self) -> "dict[str, serializers.Field[Any, Any, Any, Any]]":
        fields = super().get_fields()
        code: Any = fields["code"]
        code.known_values = sorted({error.code for error in list_error_classes()})
        return fields


def list_error_classes(base: type[DomainError] = DomainError) -> set[type[DomainError]]:
    return {base}.union(*map(list_error_classes, base.__subclasses__()))


def describe_problems(schema: Any, operation: dict[str, Any]) -> dict[str, Any]:
    content = {
        PROBLEM_MEDIA_TYPE: {
            "schema": schema.resolve_serializer(ProblemSerializer, "response").ref
        }
    }
    errors_by_status = defaultdict(list)
    for error in sorted(
        set(list_errors(schema.view, operation)), key=lambda error: error.code
    ):
        errors_by_status[error.status].append(error)
    responses: dict[str, Any] = {
        str(status): {
            "description": _describe_status(status, errors),
            "content": content,
            "x-codes": sorted({error.code for error in errors}),
        }
        for status, errors in errors_by_status.items()
    }
    description = "Another error, such as one of a proxy before the service."
    # A proxy's page is no problem document.
    return responses | {DEFAULT_RESPONSE: {"description": description}}


def list_errors(view: Any, operation: dict[str, Any]) -> Iterator[type[DomainError]]:
    yield from (InternalError, ServiceUnavailableError)
    for permission in view.get_permissions():
        yield from getattr(permission, "raises", ())
    if view.get_authenticators():
        yield ScopeRequiredError
    if view.get_authenticators() and view.request.method in UNSAFE_METHODS:
        yield CrossOriginError
    yield from _list_request_errors(view, operation)
    handler = getattr(view, "action", None) or view.request.method.lower()
    yield from list_declared_errors(type(view), handler)


def _list_request_errors(
    view: Any, operation: dict[str, Any]
) -> Iterator[type[DomainError]]:
    if not is_open(type(view)):
        # An unknown name may be sent to any operation.
        yield DomainError
    if is_guarded(view):
        yield VersionConflictError
    if takes_key(view, view.request):
        yield from (KeyReusedError, ServiceUnavailableError)
    if view.request.method in UNSAFE_METHODS:
        yield UnsupportedMediaTypeError
        if not view.works_read_only:
            yield ReadOnlyError
        if not is_open(type(view)):
            yield PayloadTooLargeError
    if "requestBody" in operation:
        yield from (DomainError, PayloadTooLargeError)
    parameters = operation.get("parameters", [])
    if any(parameter["in"] == "query" for parameter in parameters):
        yield DomainError
    # Raised for an unknown id, or a page after the last.
    if any(p["in"] == "path" or p["name"] == "page" for p in parameters):
        yield NotFoundError


def list_declared_errors(view_class: type, handler: str) -> Sequence[type[DomainError]]:
    handlers = {handler, "update"} if handler == "partial_update" else {handler}
    return [
        error
        for base in view_class.__mro__
        for name in handlers
        for error in vars(base).get("raises", {}).get(name, ())
    ]


def _describe_status(status: int, errors: Sequence[type[DomainError]]) -> str:
    codes = sorted({f"`{error.code}`" for error in errors})
    return f"{HTTPStatus(status).phrase}: {' or '.join(codes)}."


RETRY_AFTER_STATUSES = frozenset(
    {str(RateLimitedError.status), str(ServiceUnavailableError.status)}
)
