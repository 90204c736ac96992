"""Base viewsets over a queryset."""

from collections.abc import Iterable
from typing import Any

from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from core.api.operations import extend_schema
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
    """CRUD of rows that are addressed by an integer id.

    `perform_create` and `perform_update` assign the saved row to `serializer.instance`.
    """

    lookup_value_converter = "int"

    @property
    def object_id(self) -> int:
        return int(self.kwargs[self.lookup_url_kwarg or self.lookup_field])

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return Response(list_payload(self.serializer_class, self.list_objects()))

    def list_objects(self) -> Iterable[Any]:
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
    raises = {"reorder": [InvalidOrderError]}
    # 1,000 ids.
    body_limits = {"reorder": 2**15}

    @extend_schema(request=ReorderRequestSerializer)
    @action(detail=False, methods=["put"])
    def reorder(self, request: Request) -> Response:
        self.perform_reorder(validate_body(ReorderRequestSerializer, request)["ids"])
        # Query parameters of `list` do not apply here.
        return Response(list_payload(self.serializer_class, self.list_objects()))

    def perform_reorder(self, ids: list[int]) -> None:
        raise NotImplementedError
