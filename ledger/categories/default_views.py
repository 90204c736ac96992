"""Default categories for administrators."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework.serializers import BaseSerializer

from accounts.sessions.authentication import current_member
from core.api.operations import extend_schema
from core.api.permissions import IsAdministrator
from core.api.viewsets import ReorderMixin
from core.errors import CategoryHierarchyError, DuplicateError, LimitReachedError
from ledger.categories import defaults as default_categories
from ledger.categories.default_serializers import DefaultCategorySerializer
from ledger.models import DefaultCategory


@extend_schema_view(
    list=extend_schema(
        description="A flat list: each major category, followed by its minor ones."
    ),
    create=extend_schema(
        description="Added last among its siblings. Names are unique within a type: "
        "409 `DUPLICATE` if it is taken."
    ),
    update=extend_schema(
        description="Categories that members have imported do not change."
    ),
    partial_update=extend_schema(
        description="Categories that members have imported do not change."
    ),
    destroy=extend_schema(
        description="A category with minor ones is 400 `CATEGORY_HIERARCHY`."
    ),
    reorder=extend_schema(
        description="`ids` are all default categories of one type and one parent. "
        "Returns all default categories."
    ),
)
class DefaultCategoryViewSet(ReorderMixin):
    permission_classes = [IsAdministrator]
    schema_tag = "Default categories"
    raises = {
        "create": [DuplicateError, CategoryHierarchyError, LimitReachedError],
        "update": [DuplicateError, CategoryHierarchyError],
        "destroy": [CategoryHierarchyError],
    }
    queryset = DefaultCategory.objects.all()
    serializer_class = DefaultCategorySerializer
    lookup_url_kwarg = "category_id"

    def list_objects(self) -> Iterable[Any]:
        return default_categories.list_default_categories()

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = default_categories.create_default_category(
            current_member(self.request), serializer.validated_data
        )

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = default_categories.update_default_category(
            current_member(self.request), self.object_id, serializer.validated_data
        )

    def perform_destroy(self, object_id: int) -> None:
        default_categories.delete_default_category(
            current_member(self.request), object_id
        )

    def perform_reorder(self, ids: list[int]) -> None:
        default_categories.reorder_default_categories(current_member(self.request), ids)
