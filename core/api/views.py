"""Base classes of the views of the JSON API."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rest_framework import views as rest_framework_views
from rest_framework import viewsets

from core.api.token_scopes import NO_TOKENS, ScopePair
from core.errors import DomainError

# OPTIONS is answered by the CORS middleware alone, and TRACE by nothing.
HTTP_METHODS = ["get", "post", "put", "patch", "delete", "head"]


class APIView(rest_framework_views.APIView):
    """A view, with what the OpenAPI document says about it."""

    http_method_names = HTTP_METHODS

    # What a personal token needs; not inherited. A view that declares nothing refuses
    # tokens.
    token_scopes: ClassVar[ScopePair] = NO_TOKENS
    # The area of the service.
    schema_tag: ClassVar[str]
    # The errors that each handler (`get`) or action (`create`) raises, besides those
    # that follow from the kind of its request (`core.api.documented_errors`). Those of
    # `update` are also those of `partial_update`. Subclasses add to them.
    raises: ClassVar[Mapping[str, Sequence[type[DomainError]]]] = {}


class ViewSet(APIView, viewsets.ViewSet):
    """A viewset without a queryset."""
