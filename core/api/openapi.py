"""How the OpenAPI document describes what every operation shares."""

import functools
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction, OpenApiResponse
from rest_framework import serializers

from core.api.exception_handler import PROBLEM_MEDIA_TYPE
from core.api.serializers import Serializer

API_PREFIX = "/api/"

CONDITIONAL_RESPONSE_FIELDS = [("Wallet", "accountNumberUnreadable")]


class FieldErrorSerializer(Serializer):
    field = serializers.CharField()
    code = serializers.CharField()
    detail = serializers.CharField()
    sheet = serializers.CharField(required=False, help_text="Of a backup.")
    row = serializers.IntegerField(required=False, help_text="The headers are row 1.")
    column = serializers.CharField(required=False, allow_null=True)


class ProblemSerializer(Serializer):
    """RFC 9457; `code` names the refusal, `errors` the fields it is about."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
    errors = FieldErrorSerializer(many=True, required=False)  # type: ignore[assignment]


@functools.cache
def page_serializer(item: type[Serializer]) -> type[Serializer]:
    """The wire shape of one page of `item`s."""
    name = item.__name__.removesuffix("Serializer") + "PageSerializer"
    fields = {
        "count": serializers.IntegerField(),
        "next": serializers.CharField(allow_null=True),
        "previous": serializers.CharField(allow_null=True),
        "results": item(many=True),
    }
    return type(name, (Serializer,), fields)


class ApiAutoSchema(AutoSchema):
    """Tags by the second part of the path; every operation may answer a problem."""

    def get_tags(self) -> list[str]:
        return [self.path.removeprefix(API_PREFIX).split("/")[0]]

    def get_summary(self) -> str | None:
        """The first sentence of the view's description."""
        return self.get_description().split("\n\n")[0].rstrip(".;") or None

    def get_serializer_name(self, serializer: Any, direction: Direction) -> str:
        """Return the schema name; drf-spectacular appends "Request" to requests."""
        name = type(serializer).__name__.removesuffix("Serializer")
        return name.removesuffix("Request") if direction == "request" else name

    def _is_list_view(self, serializer: Any = None) -> bool:
        """A list is what its view says: `many=True`, never guessed from a name."""
        if serializer is None:
            return bool(super()._is_list_view(serializer))
        return isinstance(serializer, serializers.ListSerializer)

    def _get_response_bodies(self, *args: Any, **kwargs: Any) -> Any:
        bodies = super()._get_response_bodies(*args, **kwargs)
        refusal = OpenApiResponse(ProblemSerializer, "Any refusal.")
        bodies["default"] = self._get_response_for_code(  # type: ignore[no-untyped-call]
            refusal, "default", [PROBLEM_MEDIA_TYPE]
        )
        return bodies


def mark_conditional_fields_optional(
    result: dict[str, Any], **_: Any
) -> dict[str, Any]:
    """What is in an answer only sometimes is not required in it."""
    for name, field in CONDITIONAL_RESPONSE_FIELDS:
        required = result["components"]["schemas"][name]["required"]
        if field in required:
            required.remove(field)
    return result
