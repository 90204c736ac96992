"""Categories, their order, and the import of the shared defaults."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.fields import read_body, read_query
from core.api.ordering import ReorderBody
from core.api.permissions import IsMember
from ledger import categories
from ledger.models import Category
from ledger.ownership import OwnedViewSet, find_owned
from ledger.serializers.categories import (
    CategoryBody,
    CategoryQuery,
    ImportBody,
    ImportedBody,
    describe_category,
)
from ledger.serializers.fields import MoveToQuery


class CategoryViewSet(OwnedViewSet):
    permission_classes = [IsMember]

    @extend_schema(parameters=[CategoryQuery], responses=CategoryBody(many=True))
    def list(self, request: Request) -> Response:
        """A flat list: each major category, followed by its minor ones."""
        wanted = read_query(CategoryQuery, request).get("type")
        rows = categories.list_categories(self.member, wanted)
        return Response([describe_category(category) for category in rows])

    @extend_schema(request=CategoryBody, responses={201: CategoryBody})
    def create(self, request: Request) -> Response:
        """A new category goes last among its siblings."""
        body = read_body(CategoryBody, request)
        category = categories.create_category(self.member, **body)
        return Response(describe_category(category), status=status.HTTP_201_CREATED)

    @extend_schema(responses=CategoryBody)
    def retrieve(self, request: Request, category_id: int) -> Response:
        return Response(describe_category(self._find(category_id)))

    @extend_schema(request=CategoryBody, responses=CategoryBody)
    def update(self, request: Request, category_id: int) -> Response:
        return self._change(request, category_id, partial=False)

    @extend_schema(request=CategoryBody, responses=CategoryBody)
    def partial_update(self, request: Request, category_id: int) -> Response:
        return self._change(request, category_id, partial=True)

    def _change(self, request: Request, category_id: int, *, partial: bool) -> Response:
        self._find(category_id)
        body = read_body(CategoryBody, request, partial=partial)
        category = categories.change_category(self.member, category_id, body)
        return Response(describe_category(category))

    @extend_schema(parameters=[MoveToQuery], responses={204: None})
    def destroy(self, request: Request, category_id: int) -> Response:
        """409 while entries use it, unless `moveTo` names another category."""
        move_to = read_query(MoveToQuery, request).get("move_to")
        categories.delete_category(self.member, category_id, move_to)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=ReorderBody, responses=CategoryBody(many=True))
    def reorder(self, request: Request) -> Response:
        """The ids are those of one type and one parent."""
        ids = read_body(ReorderBody, request)["ids"]
        categories.reorder_categories(self.member, ids)
        rows = categories.list_categories(self.member)
        return Response([describe_category(category) for category in rows])

    @extend_schema(request=ImportBody, responses=ImportedBody)
    def import_defaults(self, request: Request) -> Response:
        """Copy the default categories; names that exist already are skipped."""
        language = read_body(ImportBody, request)["language"]
        imported, skipped = categories.import_defaults(
            self.member, english=language == "en"
        )
        return Response({"imported": imported, "skipped": skipped})

    def _find(self, category_id: int) -> Category:
        found: Category = find_owned(Category.objects.all(), self.member, category_id)
        return found
