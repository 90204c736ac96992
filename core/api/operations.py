"""Parameters and fields of an operation."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from drf_spectacular import utils
from rest_framework.request import Request
from rest_framework.serializers import ListSerializer

View = TypeVar("View", bound=Callable[..., Any])

METHODS_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE"})


@dataclass(frozen=True, slots=True)
class CreatedItem:
    """The named route of what an operation creates.

    `id_path` leads to its id in the answer.
    """

    route: str
    id_path: tuple[str, ...] = ("id",)


def extend_schema(
    *, creates: CreatedItem | None = None, **options: Any
) -> Callable[[View], View]:
    """Describe an operation for the document, and for the check of names.

    `parameters` are query serializers; `request` is None without body.
    """
    decorate = utils.extend_schema(**options)

    def describe(view: View) -> View:
        described: Any = decorate(view)
        if "parameters" in options:
            described.query_serializers = tuple(options["parameters"])
        if creates is not None:
            described.created_item = creates
        if "request" in options:
            described.body_serializer = options["request"]
        typed: View = described
        return typed

    return describe


def get_handler(view: Any, request: Request) -> Any:
    """Return None if the answer is 405."""
    name = getattr(view, "action", None) or str(request.method).lower()
    return getattr(view, name, None)


def list_parameters(view: Any, request: Request) -> list[str]:
    serializers: Sequence[Any] = getattr(
        get_handler(view, request), "query_serializers", ()
    )
    return [name for each in serializers for name in _list_names(each)]


@functools.cache
def _list_names(serializer: Any) -> tuple[str, ...]:
    """Build the fields once, which takes half a millisecond."""
    return tuple(serializer().fields)


def has_body(view: Any, request: Request) -> bool:
    if request.method in METHODS_WITHOUT_BODY:
        return False
    handler = get_handler(view, request)
    # Actions of model viewsets take the serializer of the view.
    serializer = getattr(view, "serializer_class", None)
    return getattr(handler, "body_serializer", serializer) is not None


def list_body_fields(view: Any, request: Request) -> list[str]:
    if not has_body(view, request):
        return []
    handler = get_handler(view, request)
    serializer: Any = getattr(handler, "body_serializer", None) or view.serializer_class
    if isinstance(serializer, ListSerializer):
        # The names of its rows are checked with them.
        return []
    bodies = serializer.values() if isinstance(serializer, Mapping) else [serializer]
    return [
        name
        for body in bodies
        for name, field in (body() if isinstance(body, type) else body).fields.items()
        if not field.read_only
    ]
