"""Quick entries."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework.serializers import BaseSerializer

from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.token_scopes import LEDGER
from core.api.viewsets import ReorderMixin
from core.errors import LimitReachedError
from ledger.base.ownership import OwnedModelViewSet
from ledger.entry_shape import MAX_SHAPE_BYTES
from ledger.errors import LinesMismatchError
from ledger.models import QuickEntry
from ledger.models.base import OwnedQuerySet
from ledger.quick_entries import quick_entries
from ledger.quick_entries.serializers import QuickEntrySerializer


@extend_schema_view(
    list=extend_schema(description="In their `sortOrder`."),
    create=extend_schema(description="Added last."),
)
class QuickEntryViewSet(ReorderMixin, OwnedModelViewSet):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = "Quick entries"
    body_limits = {"create": MAX_SHAPE_BYTES, "update": MAX_SHAPE_BYTES}
    raises = {
        "create": [LimitReachedError, LinesMismatchError],
        "update": [LimitReachedError, LinesMismatchError],
    }
    queryset = QuickEntry.objects.all()
    serializer_class = QuickEntrySerializer
    lookup_url_kwarg = "quick_entry_id"

    def get_queryset(self) -> OwnedQuerySet:
        return quick_entries.with_category_and_tags(super().get_queryset(), self.member)

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = quick_entries.create_quick_entry(
            self.member, serializer.validated_data
        )

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = quick_entries.update_quick_entry(
            self.member, self.object_id, serializer.validated_data
        )

    def perform_destroy(self, object_id: int) -> None:
        quick_entries.delete_quick_entry(self.member, object_id)

    def perform_reorder(self, ids: list[int]) -> None:
        quick_entries.reorder_quick_entries(self.member, ids)
