"""Tags and their order."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.ordering import ReorderRequestSerializer, reorder
from core.api.permissions import IsPremium
from core.api.serializers import validate_body
from ledger import tags
from ledger.models import Tag
from ledger.ownership import OwnedViewSet, get_owned_or_404
from ledger.serializers.tags import TagSerializer, tag_payload


class TagViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(responses=TagSerializer(many=True))
    def list(self, request: Request) -> Response:
        return Response([tag_payload(tag) for tag in tags.list_tags(self.member)])

    @extend_schema(request=TagSerializer, responses={201: TagSerializer})
    def create(self, request: Request) -> Response:
        """A new tag goes last."""
        tag = tags.create_tag(
            self.member, validate_body(TagSerializer, request)["name"]
        )
        return Response(tag_payload(tag), status=status.HTTP_201_CREATED)

    @extend_schema(responses=TagSerializer)
    def retrieve(self, request: Request, tag_id: int) -> Response:
        return Response(tag_payload(self._find(tag_id)))

    @extend_schema(request=TagSerializer, responses=TagSerializer)
    def update(self, request: Request, tag_id: int) -> Response:
        """A new name reaches every entry that has the tag."""
        return self._change(request, tag_id, partial=False)

    @extend_schema(request=TagSerializer, responses=TagSerializer)
    def partial_update(self, request: Request, tag_id: int) -> Response:
        return self._change(request, tag_id, partial=True)

    def _change(self, request: Request, tag_id: int, *, partial: bool) -> Response:
        tag = self._find(tag_id)
        body = validate_body(TagSerializer, request, partial=partial)
        renamed = tags.rename_tag(self.member, tag_id, body.get("name", tag.name))
        return Response(tag_payload(renamed))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, tag_id: int) -> Response:
        """Entries keep everything but the tag."""
        tags.delete_tag(self.member, tag_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=ReorderRequestSerializer, responses=TagSerializer(many=True))
    def reorder(self, request: Request) -> Response:
        ids = validate_body(ReorderRequestSerializer, request)["ids"]
        with transaction.atomic():
            rows = Tag.objects.owned_by(self.member)
            reorder(rows.select_for_update(no_key=True), ids)
        return self.list(request)

    def _find(self, tag_id: int) -> Tag:
        found: Tag = get_owned_or_404(Tag.objects.all(), self.member, tag_id)
        return found
