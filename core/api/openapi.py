"""The OpenAPI schema: how views, serializers and fields are described."""

import functools
import math
import pkgutil
import re
from typing import Any, cast

from django.conf import settings
from drf_spectacular.drainage import warn
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import (
    ResolvedComponent,
    append_meta,
    get_doc,
    get_lib_doc_excludes,
)
from drf_spectacular.utils import Direction
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import AllowAny

from core.api.documented_errors import describe_problems
from core.api.fields import ClosedChoiceField, ExactDecimalField, OpenTextField
from core.api.serializers import QuerySerializer, Serializer, to_camel_case
from core.api.token_scopes import get_required_scope

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

MIN_INT32, MAX_INT32 = -(2**31), 2**31 - 1
# What limits values. Clients send values within it; in responses it would be a promise
# that no later version could widen.
LIMITS = (
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "pattern",
)

_VIEW_SUFFIX_RE = re.compile(r"(View|ViewSet)$")
_CAPITAL_RE = re.compile(r"(?<=[a-z])(?=[A-Z])")


@functools.cache
def page_serializer(item: type[Serializer]) -> type[Serializer]:
    """Return the serializer class of one page of `item`s."""
    name = item.__name__.removesuffix("Serializer") + "PageSerializer"
    fields = {
        "count": serializers.IntegerField(help_text="Number of rows on all pages."),
        "next": serializers.URLField(
            allow_null=True, help_text="URL of the next page; null on the last one."
        ),
        "previous": serializers.URLField(
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
    - A serializer of requests and responses has a schema for each: `Entry` for
      responses, `EntryWrite` for requests, `EntryPatch` for partial ones.
    """

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation: Any = super().get_operation(*args, **kwargs)
        if operation is not None:
            responses = operation["responses"]
            problems = describe_problems(self, operation)
            operation["responses"] = dict(sorted((problems | responses).items()))
            scope = get_required_scope(self.view, self.method)
            if scope is not None:
                operation["x-token-scope"] = scope.value
        return operation

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

    def get_auth(self) -> list[Any]:
        schemes: list[Any] = super().get_auth()
        is_public = any(isinstance(p, AllowAny) for p in self.view.get_permissions())
        return [] if is_public else schemes

    def get_response_serializers(self) -> Any:
        # Standard list actions return the view's serializer many times.
        if getattr(self.view, "action", None) in LIST_ACTIONS:
            view = cast("GenericAPIView[Any]", self.view)
            return view.get_serializer(many=True)
        return super().get_response_serializers()

    def _get_serializer_name(
        self, serializer: Any, direction: Direction, bypass_extensions: bool = False
    ) -> str:
        if isinstance(serializer, serializers.ListSerializer):
            serializer = serializer.child
        name = type(serializer).__name__.removesuffix("Serializer")
        if direction == "response":
            return name
        if serializer.partial:
            return name.removesuffix("Request") + "Patch"
        # Schemas that are only requests have it in their own name.
        return name if name.endswith("Request") else f"{name}Write"

    def _map_basic_serializer(self, serializer: Any, direction: Direction) -> Any:
        schema: Any = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        if direction == "response":
            # Every field is sent, whatever a request may leave out.
            properties = schema["properties"]
            conditional: Any = getattr(serializer, "conditional_fields", ())
            schema["required"] = sorted(properties.keys() - set(conditional))
            for field_schema in properties.values():
                for part in (field_schema, field_schema.get("items", {})):
                    for limit in LIMITS:
                        part.pop(limit, None)
        return schema

    def _map_serializer_field(
        self, field: Any, direction: Direction, bypass_extensions: bool = False
    ) -> Any:
        if direction == "request" and field.read_only:
            return None
        if isinstance(field, serializers.ChoiceField):
            return self._map_choice_field(field, direction)
        schema: Any = super()._map_serializer_field(field, direction, bypass_extensions)  # type: ignore[no-untyped-call]
        if schema is None:
            return None
        if isinstance(field, OpenTextField):
            schema["x-known-values"] = field.known_values
        if isinstance(field, ExactDecimalField):
            del schema["format"]
            schema["x-decimal"] = True
        return schema

    def _insert_field_validators(self, field: Any, schema: Any) -> None:
        super()._insert_field_validators(field, schema)  # type: ignore[no-untyped-call]
        kinds = schema.get("type", ())
        if "integer" in ([kinds] if isinstance(kinds, str) else kinds):
            is_small = (
                schema.get("minimum", -math.inf) >= MIN_INT32
                and schema.get("maximum", math.inf) <= MAX_INT32
            )
            schema["format"] = "int32" if is_small else "int64"

    def _get_serializer_field_meta(self, field: Any, direction: Direction) -> Any:
        meta: Any = super()._get_serializer_field_meta(field, direction)  # type: ignore[no-untyped-call]
        meta.pop("readOnly", None)
        if text := FIELD_DESCRIPTIONS.get(field.field_name):
            meta.setdefault("description", text)
        if direction == "response" and getattr(
            field, "is_null_only_in_requests", False
        ):
            meta.pop("nullable", None)
        is_parameter = isinstance(getattr(field, "parent", None), QuerySerializer)
        if "default" in meta and not is_parameter:
            # Generators take a property with a default as always there, and send the
            # default in a partial update, where it would overwrite what is stored.
            default = meta.pop("default")
            if direction == "request" and not field.parent.partial:
                meta["x-default"] = default
        return meta

    def _map_choice_field(self, field: Any, direction: Direction) -> Any:
        meta = self._get_serializer_field_meta(field, direction)
        values = [str(value) for value in field.choices]
        if direction == "response" and not isinstance(field, ClosedChoiceField):
            return append_meta({"type": "string", "x-known-values": values}, meta)
        name = _load_enum_names().get(tuple(values))
        if name is None:
            warn(f"The enum {values} has no name in ENUM_NAME_OVERRIDES.")
            name = "Unnamed"
        component = ResolvedComponent(  # type: ignore[no-untyped-call]
            name=name,
            type=ResolvedComponent.SCHEMA,
            schema={"type": "string", "enum": values},
            object=tuple(values),
        )
        self.registry.register_on_missing(component)
        return append_meta(component.ref, meta)

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


@functools.cache
def _load_enum_names() -> dict[tuple[str, ...], str]:
    """Return the name of each enum by its values."""
    names = {}
    for name, path in settings.SPECTACULAR_SETTINGS["ENUM_NAME_OVERRIDES"].items():
        names[tuple(str(value) for value in pkgutil.resolve_name(path))] = name
    return names


def _pluralize(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def get_doc_excludes() -> list[type]:
    """Return the classes whose docstrings describe code, not a schema."""
    library_classes: list[type] = get_lib_doc_excludes()  # type: ignore[no-untyped-call]
    return [*library_classes, Serializer, QuerySerializer]
