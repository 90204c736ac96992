"""The OpenAPI schema: operation ids, summaries, tags and error responses."""

import functools
import re
from typing import Any, cast

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import get_doc, get_lib_doc_excludes
from drf_spectacular.utils import Direction, OpenApiResponse
from rest_framework import serializers
from rest_framework.generics import GenericAPIView

from core.api.exception_handler import PROBLEM_MEDIA_TYPE
from core.api.serializers import QuerySerializer, Serializer, to_camel_case

API_PREFIX = "/api/"

# The verb of each standard action of a viewset.
ACTION_VERBS = {
    "list": "list",
    "create": "create",
    "retrieve": "get",
    "update": "replace",
    "partial_update": "update",
    "destroy": "delete",
    "reorder": "reorder",
}
# Standard actions about all rows, which return a list.
LIST_ACTIONS = {"list", "reorder"}
# The verb of each method of a view that is no viewset.
METHOD_VERBS = {
    "GET": "get",
    "POST": "create",
    "PUT": "replace",
    "PATCH": "update",
    "DELETE": "delete",
}

# The description of standard actions whose view says nothing else.
ACTION_DESCRIPTIONS = {
    "retrieve": "404 `NOT_FOUND` if there is none with this id.",
    "update": "Optional fields that are left out get their defaults.",
    "partial_update": "Fields that are left out do not change.",
    "destroy": "It cannot be brought back.",
    "reorder": (
        "`ids` are all items of the list in their new order, else 400 `INVALID_ORDER`. "
        "Returns the list."
    ),
}
# The description of fields that mean the same in every schema.
FIELD_DESCRIPTIONS = {
    "id": "Identifier, as in paths and in the fields of others that refer to it.",
    "sortOrder": "Place in the list, the lowest first; changed by reordering.",
    "createdAt": "Time of creation.",
    "updatedAt": "Time of the last change.",
    "year": "Year.",
    "month": "Month, 1 to 12.",
}

# Fields that are left out of a response unless they apply.
CONDITIONAL_RESPONSE_FIELDS = [("Wallet", "accountNumberUnreadable")]

_VIEW_SUFFIX_RE = re.compile(r"(View|ViewSet)$")
_PATH_PARAMETER_RE = re.compile(r"\{\w+\}")
_CAPITAL_RE = re.compile(r"(?<=[a-z])(?=[A-Z])")


class FieldErrorSerializer(Serializer):
    field = serializers.CharField(
        help_text=(
            "Name of the field, dotted if nested (`ids.1`); `body` for the body as "
            "a whole."
        )
    )
    code = serializers.CharField(
        help_text="What is wrong, for programs, such as `required` or `max_value`."
    )
    detail = serializers.CharField(help_text="What is wrong, for people.")
    sheet = serializers.CharField(required=False, help_text="Of a backup.")
    row = serializers.IntegerField(required=False, help_text="The headers are row 1.")
    column = serializers.CharField(
        required=False, allow_null=True, help_text="Name of the column, of a backup."
    )


class ProblemSerializer(Serializer):
    """Problem details (RFC 9457): `code` is the error, `errors` the invalid fields."""

    type = serializers.CharField(help_text="Always `about:blank`.")
    title = serializers.CharField(help_text="The phrase of the status.")
    status = serializers.IntegerField(help_text="The status of the response.")
    detail = serializers.CharField(help_text="What went wrong, for people.")
    code = serializers.CharField(
        help_text="What went wrong, for programs, such as `NOT_FOUND`."
    )
    errors = FieldErrorSerializer(
        many=True,
        required=False,
        help_text="The invalid fields, with `VALIDATION_ERROR` and the like.",
    )  # type: ignore[assignment]


@functools.cache
def page_serializer(item: type[Serializer]) -> type[Serializer]:
    """Return the serializer class of one page of `item`s."""
    name = item.__name__.removesuffix("Serializer") + "PageSerializer"
    fields = {
        "count": serializers.IntegerField(help_text="Number of rows on all pages."),
        "next": serializers.CharField(
            allow_null=True, help_text="URL of the next page; null on the last one."
        ),
        "previous": serializers.CharField(
            allow_null=True,
            help_text="URL of the page before; null on the first one.",
        ),
        "results": item(many=True, help_text="The rows of this page."),
    }
    return type(name, (Serializer,), fields)


class ApiAutoSchema(AutoSchema):
    """Describe an operation by its view.

    - The tag is the view's `schema_tag`, an area of the service.
    - The operation id is verb and noun for standard actions (`listWallets`), the name
      of the method for extra actions (`copy_budgets`: `copyBudgets`), and the verb of
      the HTTP method and the name of the class for other views (`getNetWorth`).
    - Summary and description are the first line and the rest of the docstring; a
      standard action without one is summarized by rule ("List wallets").
    """

    def get_tags(self) -> list[str]:
        # The health checks have none.
        return [getattr(self.view, "schema_tag", "Service")]

    def get_operation_id(self) -> str:
        action = getattr(self.view, "action", None)
        if action is None:
            return METHOD_VERBS[self.method] + self._resource_name()
        if action not in ACTION_VERBS:
            return to_camel_case(action)
        noun = self._resource_name()
        return ACTION_VERBS[action] + (
            _pluralize(noun) if action in LIST_ACTIONS else noun
        )

    def get_summary(self) -> str | None:
        if docstring := self._operation_docstring():
            return docstring.partition("\n")[0].rstrip(".")
        action = getattr(self.view, "action", None)
        if action not in ACTION_VERBS:
            return None
        verb = ACTION_VERBS[action].capitalize()
        noun = _CAPITAL_RE.sub(" ", self._resource_name()).lower()
        if action in LIST_ACTIONS:
            return f"{verb} {_pluralize(noun)}"
        return f"{verb} {'an' if noun[0] in 'aeiou' else 'a'} {noun}"

    def get_description(self) -> str:  # type: ignore[override]
        description = self._operation_docstring().partition("\n")[2].strip()
        action = getattr(self.view, "action", "")
        return description or ACTION_DESCRIPTIONS.get(action, "")

    def get_response_serializers(self) -> Any:
        # Standard list actions return the view's serializer many times.
        if getattr(self.view, "action", None) in LIST_ACTIONS:
            view = cast("GenericAPIView[Any]", self.view)
            return view.get_serializer(many=True)
        return super().get_response_serializers()

    def get_serializer_name(self, serializer: Any, direction: Direction) -> str:
        # drf-spectacular appends "Request" to the names of request schemas.
        name = type(serializer).__name__.removesuffix("Serializer")
        return name.removesuffix("Request") if direction == "request" else name

    def _get_serializer_field_meta(self, field: Any, direction: Direction) -> Any:
        meta = super()._get_serializer_field_meta(field, direction)  # type: ignore[no-untyped-call]
        if text := FIELD_DESCRIPTIONS.get(field.field_name):
            meta.setdefault("description", text)
        return meta

    def _resolve_path_parameters(self, variables: list[str]) -> Any:
        parameters = super()._resolve_path_parameters(variables)  # type: ignore[no-untyped-call]
        for parameter in parameters:
            noun = parameter["name"].removesuffix("_id").replace("_", " ")
            parameter["description"] = f"Id of the {noun}."
        return parameters

    def _operation_docstring(self) -> str:
        handler = getattr(self.view, "action", None) or self.method.lower()
        return get_doc(getattr(self.view, handler, None))

    def _resource_name(self) -> str:
        """Return `QuickEntry` for `QuickEntryViewSet`."""
        return _VIEW_SUFFIX_RE.sub("", type(self.view).__name__)

    def _is_list_view(self, serializer: Any = None) -> bool:
        # Only `many=True` makes a list, never the name of an action.
        if serializer is None:
            return bool(super()._is_list_view(serializer))
        return isinstance(serializer, serializers.ListSerializer)

    def _get_response_bodies(self, *args: Any, **kwargs: Any) -> Any:
        bodies = super()._get_response_bodies(*args, **kwargs)
        problem = OpenApiResponse(ProblemSerializer, "An error.")
        bodies["default"] = self._get_response_for_code(  # type: ignore[no-untyped-call]
            problem, "default", [PROBLEM_MEDIA_TYPE]
        )
        return bodies


def _pluralize(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def mark_conditional_fields_optional(
    result: dict[str, Any], **_: Any
) -> dict[str, Any]:
    """Mark fields that only some responses have as optional."""
    for name, field in CONDITIONAL_RESPONSE_FIELDS:
        required = result["components"]["schemas"][name]["required"]
        if field in required:
            required.remove(field)
    return result


def rename_path_parameters(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Name path parameters in camelCase, like all names that clients see."""
    result["paths"] = {
        _PATH_PARAMETER_RE.sub(lambda match: to_camel_case(match.group()), path): item
        for path, item in result["paths"].items()
    }
    for item in result["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "path":
                    parameter["name"] = to_camel_case(parameter["name"])
    return result


def get_doc_excludes() -> list[type]:
    """Return the classes whose docstrings describe code, not a schema."""
    library_classes: list[type] = get_lib_doc_excludes()  # type: ignore[no-untyped-call]
    return [*library_classes, Serializer, QuerySerializer]
