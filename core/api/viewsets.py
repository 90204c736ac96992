"""Base viewsets of the JSON API: CRUD and reordering over a queryset."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from core.api.ordering import ReorderRequestSerializer
from core.api.serializers import list_payload, validate_body
from core.api.views import APIView
from core.errors import InvalidOrderError


class ModelViewSet(
    mixins.CreateModelMixin,
    mixins.RetrieveModelMixin,
    mixins.UpdateModelMixin,
    APIView,
    GenericViewSet[Any],
):
    """Create, read, update and delete rows that are addressed by an integer id.

    A subclass sets `queryset`, `serializer_class` and `lookup_url_kwarg`. Its
    `perform_create` and `perform_update` call one function of the app and assign the
    saved row to `serializer.instance`, which is rendered.
    """

    lookup_value_converter = "int"

    @property
    def object_id(self) -> int:
        """Return the id in the path."""
        return int(self.kwargs[self.lookup_url_kwarg or self.lookup_field])

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return Response(list_payload(self.serializer_class, self.list_objects()))

    def list_objects(self) -> Iterable[Any]:
        """Return all rows of the caller, in their order."""
        return self.filter_queryset(self.get_queryset())

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        raise NotImplementedError

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        raise NotImplementedError

    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        # Unlike DRF's mixin, no get_object(): the app reads the row under its lock.
        self.perform_destroy(self.object_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def perform_destroy(self, object_id: int) -> None:
        raise NotImplementedError


class ReorderMixin(ModelViewSet):
    """Add `PUT /reorder`, which assigns `sortOrder` and returns the list."""

    raises = {"reorder": [InvalidOrderError]}

    @extend_schema(request=ReorderRequestSerializer)
    @action(detail=False, methods=["put"])
    def reorder(self, request: Request) -> Response:
        self.perform_reorder(validate_body(ReorderRequestSerializer, request)["ids"])
        # Not self.list(): query parameters of the list do not apply here.
        return Response(list_payload(self.serializer_class, self.list_objects()))

    def perform_reorder(self, ids: list[int]) -> None:
        raise NotImplementedError
