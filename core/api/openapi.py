"""The OpenAPI schema of views, serializers and fields."""

import functools
import math
import pkgutil
import re
from collections.abc import Set as AbstractSet
from typing import Any, cast

from django.conf import settings
from drf_spectacular.drainage import get_override, warn
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

from core.api.body_limits import DEFAULT_BODY_BYTES, get_body_limit_of
from core.api.created_items import describe_path, find_created_item
from core.api.documented_errors import describe_problems
from core.api.field_texts import FieldText
from core.api.fields import (
    ClosedChoiceField,
    ExactDecimalField,
    OpenTextField,
    StrictCharField,
    find_cleared_value,
)
from core.api.openapi_hooks import CREATED_ITEM, RECORDED, REPLAYABLE, VERSIONED
from core.api.preconditions import IF_MATCH, is_guarded, is_versioned
from core.api.recording import is_recorded
from core.api.request_keys import IDEMPOTENCY_KEY, takes_key
from core.api.serializers import (
    METHODS_OF_CHANGES,
    QuerySerializer,
    Serializer,
    to_camel_case,
)
from core.api.token_scopes import get_required_scope
from core.api.unknown_names import is_open

API_PREFIX = "/api/"

ACTION_VERBS = {
    "list": "list",
    "create": "create",
    "retrieve": "get",
    "update": "replace",
    "partial_update": "update",
    "destroy": "delete",
    "reorder": "reorder",
}
LIST_ACTIONS = {"list", "reorder"}
METHOD_VERBS = {
    "GET": "get",
    "POST": "create",
    "PUT": "replace",
    "PATCH": "update",
    "DELETE": "delete",
}

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
FIELD_DESCRIPTIONS = {
    "id": "Identifier, as in paths and in the fields of others that refer to it.",
    "sortOrder": "Place in the list, the lowest first; changed by reordering.",
    "createdAt": "Time of creation.",
    "updatedAt": "Time of the last change.",
    "year": "Year.",
    "month": "Month, 1 to 12.",
}

MIN_INT32, MAX_INT32 = -(2**31), 2**31 - 1
# Limits appear in requests only: later versions could not widen them in responses.
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


IF_MATCH_PARAMETER = {
    "name": IF_MATCH,
    "in": "header",
    "required": False,
    "description": (
        'The `ETag` of the row as the client knows it, such as `"57"`: another version '
        "is 412 `VERSION_CONFLICT` with the row as it is, and nothing is written."
    ),
    "schema": {"type": "string"},
}

KEY_PARAMETER = {
    "name": IDEMPOTENCY_KEY,
    "in": "header",
    "required": False,
    "description": (
        "Names the request for seven days: sent again, it has no second effect and the "
        "same answer. Another request under the key is 422 `IDEMPOTENCY_KEY_REUSED`."
    ),
    "schema": {"type": "string", "minLength": 1, "maxLength": 128},
}


@functools.cache
def page_serializer(item: type[Serializer]) -> type[Serializer]:
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

    Schemas are `Entry` for responses, `EntryWrite` and `EntryPatch` for requests.
    """

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation: Any = super().get_operation(*args, **kwargs)
        if operation is not None:
            responses = operation["responses"]
            problems = describe_problems(self, operation)
            operation["responses"] = dict(sorted((problems | responses).items()))
            item = find_created_item(self.view, self.view.request)
            if item is not None and "201" in responses:
                pointer = "/".join(("", *item.id_path))
                operation["responses"]["201"][CREATED_ITEM] = (
                    describe_path(item.route),
                    f"$response.body#{pointer}",
                )
            scope = get_required_scope(self.view, self.method)
            if scope is not None:
                operation["x-token-scope"] = scope.value
            limit = get_body_limit_of(self.view, self.method)
            self._describe_headers(operation, responses.keys())
            if "requestBody" in operation and limit != DEFAULT_BODY_BYTES:
                operation["x-max-body-bytes"] = limit
        return operation

    def _describe_headers(
        self, operation: dict[str, Any], statuses: AbstractSet[str]
    ) -> None:
        """Describe the headers of the request, and mark responses with headers."""
        parameters = []
        marks: list[tuple[str, set[str]]] = []
        if takes_key(self.view, self.view.request):
            parameters.append(KEY_PARAMETER)
            marks.append((REPLAYABLE, {"200", "201", "204"}))
        if is_recorded(self.view, self.view.request):
            marks.append((RECORDED, {"200", "204"}))
        if is_guarded(self.view):
            parameters.append(IF_MATCH_PARAMETER)
        if is_versioned(self.view):
            marks.append((VERSIONED, {"200", "201"}))
        for mark, marked in marks:
            for status in statuses & marked:
                operation["responses"][status][mark] = True
        if parameters:
            operation.setdefault("parameters", []).extend(parameters)

    def get_tags(self) -> list[str]:
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
        if getattr(self.view, "action", None) in LIST_ACTIONS:
            view = cast("GenericAPIView[Any]", self.view)
            return view.get_serializer(many=True)
        return super().get_response_serializers()

    def _get_serializer_name(
        self, serializer: Any, direction: Direction, bypass_extensions: bool = False
    ) -> str:
        if isinstance(serializer, serializers.ListSerializer):
            serializer = serializer.child
        name = get_override(serializer, "component_name")
        name = name or type(serializer).__name__.removesuffix("Serializer")
        if direction == "response":
            return str(name)
        if serializer.partial:
            return f"{name.removesuffix('Request')}Patch"
        return str(name) if name.endswith("Request") else f"{name}Write"

    def _get_request_for_media_type(
        self, serializer: Any, direction: Direction = "request"
    ) -> tuple[Any, bool]:
        schema, is_required = super()._get_request_for_media_type(  # type: ignore[no-untyped-call]
            serializer, direction
        )
        is_needed = getattr(serializer, "is_body_required", False)
        return schema, is_required or is_needed

    def _map_basic_serializer(self, serializer: Any, direction: Direction) -> Any:
        schema: Any = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        if direction == "request":
            if not is_open(type(self.view)):
                schema["additionalProperties"] = False
        else:
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
        # Later than the library, which would split a text that may be blank in two.
        if isinstance(field, StrictCharField) and "$ref" not in schema:
            schema["pattern"] = field.pattern
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
        if isinstance(field.help_text, FieldText):
            meta["description"] = field.help_text.describe(
                is_request=direction == "request",
                is_partial=getattr(field.parent, "partial", False),
            )
        if text := FIELD_DESCRIPTIONS.get(field.field_name):
            meta.setdefault("description", text)
        parent = getattr(field, "parent", None)
        left_out = getattr(parent, "left_out", {}).get(field.field_name)
        if parent and left_out and direction == "request" and not parent.partial:
            meta["x-left-out"] = left_out
        if direction == "response" and getattr(
            field, "is_null_only_in_requests", False
        ):
            meta.pop("nullable", None)
        is_parameter = isinstance(parent, QuerySerializer)
        is_of_body = isinstance(parent, Serializer) and not is_parameter
        if direction == "request" and is_of_body and self._takes_null(field):
            meta["nullable"] = True
        if "default" in meta and not is_parameter:
            # Generated clients would send the default even in a partial update.
            default = meta.pop("default")
            if direction == "request" and not field.parent.partial:
                meta["x-default"] = default
        return meta

    def _takes_null(self, field: Any) -> bool:
        """Return whether null of an optional field leaves it out, or clears it."""
        is_change = field.parent.has_stored_values and (
            self.method in METHODS_OF_CHANGES or field.root.partial
        )
        return not field.required and (
            not is_change or find_cleared_value(field) is not serializers.empty
        )

    def _map_choice_field(self, field: Any, direction: Direction) -> Any:
        meta = self._get_serializer_field_meta(field, direction)
        values = [str(value) for value in field.choices]
        is_closed = isinstance(field, ClosedChoiceField)
        name = _load_enum_names().get(tuple(values))
        # A client older than a value can send it back as it was read.
        if not is_closed and (direction == "response" or name is None):
            return append_meta({"type": "string", "x-known-values": values}, meta)
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
        return _VIEW_SUFFIX_RE.sub("", type(self.view).__name__)

    def _is_list_view(self, serializer: Any = None) -> bool:
        # Only `many=True` makes a list, never the name of an action.
        if serializer is None:
            return bool(super()._is_list_view(serializer))
        return isinstance(serializer, serializers.ListSerializer)


@functools.cache
def _load_enum_names() -> dict[tuple[str, ...], str]:
    names = {}
    for name, path in settings.SPECTACULAR_SETTINGS["ENUM_NAME_OVERRIDES"].items():
        names[tuple(str(value) for value in pkgutil.resolve_name(path))] = name
    return names


def _pluralize(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def get_doc_excludes() -> list[type]:
    library_classes: list[type] = get_lib_doc_excludes()  # type: ignore[no-untyped-call]
    return [*library_classes, Serializer, QuerySerializer]
