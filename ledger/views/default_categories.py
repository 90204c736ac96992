"""The shared default categories."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import member_of
from core.api.fields import read_body
from core.api.ordering import ReorderBody
from core.api.permissions import IsAdministrator
from ledger import default_categories
from ledger.serializers.default_categories import (
    DefaultCategoryBody,
    describe_default_category,
)


class DefaultCategoriesView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(responses=DefaultCategoryBody(many=True))
    def get(self, request: Request) -> Response:
        """A flat list: each major category, followed by its minor ones."""
        rows = default_categories.list_default_categories()
        return Response([describe_default_category(row) for row in rows])

    @extend_schema(request=DefaultCategoryBody, responses={201: DefaultCategoryBody})
    def post(self, request: Request) -> Response:
        """A new category goes last among its siblings."""
        body = read_body(DefaultCategoryBody, request)
        row = default_categories.create_default_category(member_of(request), body)
        return Response(describe_default_category(row), status=status.HTTP_201_CREATED)


class DefaultCategoryView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(responses=DefaultCategoryBody)
    def get(self, request: Request, category_id: int) -> Response:
        row = default_categories.find_default_category(category_id)
        return Response(describe_default_category(row))

    @extend_schema(request=DefaultCategoryBody, responses=DefaultCategoryBody)
    def put(self, request: Request, category_id: int) -> Response:
        """A new name or place; members' own categories stay as they are."""
        return self._change(request, category_id, partial=False)

    @extend_schema(request=DefaultCategoryBody, responses=DefaultCategoryBody)
    def patch(self, request: Request, category_id: int) -> Response:
        return self._change(request, category_id, partial=True)

    def _change(self, request: Request, category_id: int, *, partial: bool) -> Response:
        default_categories.find_default_category(category_id)
        body = read_body(DefaultCategoryBody, request, partial=partial)
        row = default_categories.change_default_category(
            member_of(request), category_id, body
        )
        return Response(describe_default_category(row))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, category_id: int) -> Response:
        """A major category with minor ones is kept: 400 CATEGORY_HIERARCHY."""
        default_categories.delete_default_category(member_of(request), category_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class DefaultCategoryOrderView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(request=ReorderBody, responses=DefaultCategoryBody(many=True))
    def put(self, request: Request) -> Response:
        """The ids are those of one type and one parent."""
        ids = read_body(ReorderBody, request)["ids"]
        default_categories.reorder_default_categories(member_of(request), ids)
        rows = default_categories.list_default_categories()
        return Response([describe_default_category(row) for row in rows])
