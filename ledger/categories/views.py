"""Categories and their order."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.serializers import validate_body, validate_query
from core.api.token_scopes import LEDGER
from core.api.viewsets import ReorderMixin
from core.errors import (
    CategoryHierarchyError,
    DuplicateError,
    InUseError,
    LimitReachedError,
)
from ledger.base.ownership import OwnedModelViewSet
from ledger.categories import categories
from ledger.categories.serializers import (
    CategoryQuerySerializer,
    CategorySerializer,
    ImportCategoriesRequestSerializer,
    ImportCategoriesResultSerializer,
)
from ledger.models import Category
from ledger.moving.serializers import MoveToQuerySerializer


@extend_schema_view(
    list=extend_schema(
        description="A flat list: each major category, followed by its minor ones.",
        parameters=[CategoryQuerySerializer],
    ),
    create=extend_schema(
        description="Added last among its siblings. Names are unique within a type: "
        "409 `DUPLICATE` if it is taken."
    ),
    destroy=extend_schema(
        description="A category in use is 409 `IN_USE`, unless `moveTo` names the "
        "category that takes over its entries, quick entries, recurring rules and "
        "budgets. A category with minor ones is 400 `CATEGORY_HIERARCHY`.",
        parameters=[MoveToQuerySerializer],
        responses={204: None},
    ),
    reorder=extend_schema(
        description="`ids` are all categories of one type and one parent. Returns all "
        "categories."
    ),
)
class CategoryViewSet(ReorderMixin, OwnedModelViewSet):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = "Categories"
    raises = {
        "create": [DuplicateError, CategoryHierarchyError, LimitReachedError],
        "update": [DuplicateError, InUseError, CategoryHierarchyError],
        "destroy": [InUseError, CategoryHierarchyError, LimitReachedError],
        "import_default_categories": [LimitReachedError],
    }
    queryset = Category.objects.all()
    serializer_class = CategorySerializer
    lookup_url_kwarg = "category_id"

    def list_objects(self) -> Iterable[Any]:
        query: dict[str, Any] = {}
        # The response of a reorder is never filtered.
        if self.action == "list":
            query = validate_query(CategoryQuerySerializer, self.request)
        return categories.list_categories(self.member, query.get("type"))

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = categories.create_category(
            self.member, **serializer.validated_data
        )

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = categories.update_category(
            self.member, self.object_id, serializer.validated_data
        )

    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        move_to = validate_query(MoveToQuerySerializer, request).get("move_to")
        categories.delete_category(self.member, self.object_id, move_to)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def perform_reorder(self, ids: list[int]) -> None:
        categories.reorder_categories(self.member, ids)

    @extend_schema(
        request=ImportCategoriesRequestSerializer,
        responses=ImportCategoriesResultSerializer,
    )
    @action(detail=False, methods=["post"], url_path="import")
    def import_default_categories(self, request: Request) -> Response:
        """Import the default categories.

        Categories whose name exists in their type are skipped.
        """
        language = validate_body(ImportCategoriesRequestSerializer, request)["language"]
        imported, skipped = categories.import_defaults(
            self.member, english=language == "en"
        )
        return Response({"imported": imported, "skipped": skipped})
