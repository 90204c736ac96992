"""Tags and their order."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.fields import read_body
from core.api.ordering import ReorderBody, reorder
from core.api.permissions import IsPremium
from ledger import tags
from ledger.models import Tag
from ledger.ownership import OwnedViewSet, find_owned
from ledger.serializers.tags import TagBody, describe_tag


class TagViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(responses=TagBody(many=True))
    def list(self, request: Request) -> Response:
        return Response([describe_tag(tag) for tag in tags.list_tags(self.member)])

    @extend_schema(request=TagBody, responses={201: TagBody})
    def create(self, request: Request) -> Response:
        """A new tag goes last."""
        tag = tags.create_tag(self.member, read_body(TagBody, request)["name"])
        return Response(describe_tag(tag), status=status.HTTP_201_CREATED)

    @extend_schema(responses=TagBody)
    def retrieve(self, request: Request, tag_id: int) -> Response:
        return Response(describe_tag(self._find(tag_id)))

    @extend_schema(request=TagBody, responses=TagBody)
    def update(self, request: Request, tag_id: int) -> Response:
        """A new name reaches every entry that has the tag."""
        return self._change(request, tag_id, partial=False)

    @extend_schema(request=TagBody, responses=TagBody)
    def partial_update(self, request: Request, tag_id: int) -> Response:
        return self._change(request, tag_id, partial=True)

    def _change(self, request: Request, tag_id: int, *, partial: bool) -> Response:
        tag = self._find(tag_id)
        body = read_body(TagBody, request, partial=partial)
        renamed = tags.rename_tag(self.member, tag_id, body.get("name", tag.name))
        return Response(describe_tag(renamed))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, tag_id: int) -> Response:
        """Entries keep everything but the tag."""
        tags.delete_tag(self.member, tag_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=ReorderBody, responses=TagBody(many=True))
    def reorder(self, request: Request) -> Response:
        ids = read_body(ReorderBody, request)["ids"]
        with transaction.atomic():
            rows = Tag.objects.owned_by(self.member)
            reorder(rows.select_for_update(no_key=True), ids)
        return self.list(request)

    def _find(self, tag_id: int) -> Tag:
        found: Tag = find_owned(Tag.objects.all(), self.member, tag_id)
        return found
