"""The shared default categories."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import current_member
from core.api.ordering import ReorderRequestSerializer
from core.api.permissions import IsAdministrator
from core.api.serializers import validate_body
from ledger import default_categories
from ledger.serializers.default_categories import (
    DefaultCategorySerializer,
    default_category_payload,
)


class DefaultCategoriesView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(responses=DefaultCategorySerializer(many=True))
    def get(self, request: Request) -> Response:
        """A flat list: each major category, followed by its minor ones."""
        rows = default_categories.list_default_categories()
        return Response([default_category_payload(row) for row in rows])

    @extend_schema(
        request=DefaultCategorySerializer, responses={201: DefaultCategorySerializer}
    )
    def post(self, request: Request) -> Response:
        """A new category goes last among its siblings."""
        body = validate_body(DefaultCategorySerializer, request)
        row = default_categories.create_default_category(current_member(request), body)
        return Response(default_category_payload(row), status=status.HTTP_201_CREATED)


class DefaultCategoryView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(responses=DefaultCategorySerializer)
    def get(self, request: Request, category_id: int) -> Response:
        row = default_categories.get_default_category(category_id)
        return Response(default_category_payload(row))

    @extend_schema(
        request=DefaultCategorySerializer, responses=DefaultCategorySerializer
    )
    def put(self, request: Request, category_id: int) -> Response:
        """A new name or place; members' own categories stay as they are."""
        return self._update(request, category_id, partial=False)

    @extend_schema(
        request=DefaultCategorySerializer, responses=DefaultCategorySerializer
    )
    def patch(self, request: Request, category_id: int) -> Response:
        return self._update(request, category_id, partial=True)

    def _update(self, request: Request, category_id: int, *, partial: bool) -> Response:
        default_categories.get_default_category(category_id)
        body = validate_body(DefaultCategorySerializer, request, partial=partial)
        row = default_categories.update_default_category(
            current_member(request), category_id, body
        )
        return Response(default_category_payload(row))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, category_id: int) -> Response:
        """A major category with minor ones is kept: 400 CATEGORY_HIERARCHY."""
        default_categories.delete_default_category(current_member(request), category_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class DefaultCategoryOrderView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(
        request=ReorderRequestSerializer, responses=DefaultCategorySerializer(many=True)
    )
    def put(self, request: Request) -> Response:
        """The ids are those of one type and one parent."""
        ids = validate_body(ReorderRequestSerializer, request)["ids"]
        default_categories.reorder_default_categories(current_member(request), ids)
        rows = default_categories.list_default_categories()
        return Response([default_category_payload(row) for row in rows])
