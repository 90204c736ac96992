"""Categories, their order, and the import of the shared defaults."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.ordering import ReorderRequestSerializer
from core.api.permissions import IsMember
from core.api.serializers import validate_body, validate_query
from ledger import categories
from ledger.models import Category
from ledger.ownership import OwnedViewSet, get_owned_or_404
from ledger.serializers.categories import (
    CategoryQuerySerializer,
    CategorySerializer,
    ImportCategoriesRequestSerializer,
    ImportCategoriesResultSerializer,
    category_payload,
)
from ledger.serializers.fields import MoveToQuerySerializer


class CategoryViewSet(OwnedViewSet):
    permission_classes = [IsMember]

    @extend_schema(
        parameters=[CategoryQuerySerializer], responses=CategorySerializer(many=True)
    )
    def list(self, request: Request) -> Response:
        """A flat list: each major category, followed by its minor ones."""
        wanted = validate_query(CategoryQuerySerializer, request).get("type")
        rows = categories.list_categories(self.member, wanted)
        return Response([category_payload(category) for category in rows])

    @extend_schema(request=CategorySerializer, responses={201: CategorySerializer})
    def create(self, request: Request) -> Response:
        """A new category goes last among its siblings."""
        body = validate_body(CategorySerializer, request)
        category = categories.create_category(self.member, **body)
        return Response(category_payload(category), status=status.HTTP_201_CREATED)

    @extend_schema(responses=CategorySerializer)
    def retrieve(self, request: Request, category_id: int) -> Response:
        return Response(category_payload(self._find(category_id)))

    @extend_schema(request=CategorySerializer, responses=CategorySerializer)
    def update(self, request: Request, category_id: int) -> Response:
        return self._change(request, category_id, partial=False)

    @extend_schema(request=CategorySerializer, responses=CategorySerializer)
    def partial_update(self, request: Request, category_id: int) -> Response:
        return self._change(request, category_id, partial=True)

    def _change(self, request: Request, category_id: int, *, partial: bool) -> Response:
        self._find(category_id)
        body = validate_body(CategorySerializer, request, partial=partial)
        category = categories.update_category(self.member, category_id, body)
        return Response(category_payload(category))

    @extend_schema(parameters=[MoveToQuerySerializer], responses={204: None})
    def destroy(self, request: Request, category_id: int) -> Response:
        """409 while entries use it, unless `moveTo` names another category."""
        move_to = validate_query(MoveToQuerySerializer, request).get("move_to")
        categories.delete_category(self.member, category_id, move_to)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        request=ReorderRequestSerializer, responses=CategorySerializer(many=True)
    )
    def reorder(self, request: Request) -> Response:
        """The ids are those of one type and one parent."""
        ids = validate_body(ReorderRequestSerializer, request)["ids"]
        categories.reorder_categories(self.member, ids)
        rows = categories.list_categories(self.member)
        return Response([category_payload(category) for category in rows])

    @extend_schema(
        request=ImportCategoriesRequestSerializer,
        responses=ImportCategoriesResultSerializer,
    )
    def import_defaults(self, request: Request) -> Response:
        """Copy the default categories; names that exist already are skipped."""
        language = validate_body(ImportCategoriesRequestSerializer, request)["language"]
        imported, skipped = categories.import_defaults(
            self.member, english=language == "en"
        )
        return Response({"imported": imported, "skipped": skipped})

    def _find(self, category_id: int) -> Category:
        found: Category = get_owned_or_404(
            Category.objects.all(), self.member, category_id
        )
        return found
