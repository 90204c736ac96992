"""Tags and their order."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework.serializers import BaseSerializer

from core.api.operations import extend_schema
from core.api.permissions import IsPremium
from core.api.token_scopes import LEDGER
from core.api.viewsets import ReorderMixin
from core.errors import DuplicateError, LimitReachedError
from ledger.base.ownership import OwnedModelViewSet
from ledger.models import Tag
from ledger.tags import tags
from ledger.tags.serializers import TagSerializer


@extend_schema_view(
    list=extend_schema(description="In their `sortOrder`."),
    create=extend_schema(
        description="Added last. Names are unique: 409 `DUPLICATE` if it is taken."
    ),
    update=extend_schema(description="Entries with the tag show the new name."),
    partial_update=extend_schema(description="Entries with the tag show the new name."),
    destroy=extend_schema(description="The tag is removed from entries."),
)
class TagViewSet(ReorderMixin, OwnedModelViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = "Tags"
    raises = {
        "create": [DuplicateError, LimitReachedError],
        "update": [DuplicateError],
    }
    queryset = Tag.objects.all()
    serializer_class = TagSerializer
    lookup_url_kwarg = "tag_id"

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = tags.create_tag(self.member, **serializer.validated_data)

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = tags.update_tag(
            self.member, self.object_id, serializer.validated_data
        )

    def perform_destroy(self, object_id: int) -> None:
        tags.delete_tag(self.member, object_id)

    def perform_reorder(self, ids: list[int]) -> None:
        tags.reorder_tags(self.member, ids)
