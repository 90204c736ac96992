"""Blocking of members, and the list of the blocked ones."""

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.blocks.blocks import block_member, list_blocks, unblock_member
from accounts.members.avatar_urls import avatar_url
from accounts.models import Block
from accounts.sessions.authentication import current_member
from core.api.fields import UriReferenceField
from core.api.openapi import page_serializer
from core.api.operations import extend_schema
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    page_payload,
    paginate_queryset,
)
from core.api.permissions import IsMember
from core.api.serializers import Serializer
from core.api.token_scopes import BOARD
from core.api.views import APIView
from core.errors import DomainError, LimitReachedError, NotFoundError

SCHEMA_TAG = "Blocks"
MAX_ID = 2**63 - 1


class BlockedMemberSerializer(Serializer):
    id = serializers.IntegerField(help_text="Id of the member.")
    display_name = serializers.CharField(help_text="The name that other members see.")
    avatar = UriReferenceField(
        allow_null=True,
        help_text="URL of the profile image, or of the image at the identity provider.",
    )
    blocked_at = serializers.DateTimeField(help_text="When the caller blocked them.")

    def to_representation(self, instance: Block) -> dict[str, Any]:
        member = instance.blocked
        avatar = avatar_url(member.pk, member.avatar_version, member.idp_picture)
        return super().to_representation(
            {
                "id": member.pk,
                "display_name": member.display_name,
                "avatar": avatar,
                "blocked_at": instance.created_at,
            }
        )


class BlockView(APIView):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = SCHEMA_TAG
    raises = {"put": [NotFoundError, DomainError, LimitReachedError]}

    @extend_schema(operation_id="blockMember", request=None, responses={204: None})
    def put(self, request: Request, member_id: int) -> Response:
        """Block a member.

        The caller gets their posts and comments without text and name. They are not
        told. Administrators and moderators cannot be blocked.
        """
        if member_id > MAX_ID:
            raise NotFoundError
        block_member(current_member(request), member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(operation_id="unblockMember", responses={204: None})
    def delete(self, request: Request, member_id: int) -> Response:
        """End the block of a member.

        204 also if there is none.
        """
        if member_id <= MAX_ID:
            unblock_member(current_member(request), member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class BlockListView(APIView):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = SCHEMA_TAG

    @extend_schema(
        operation_id="listBlocks",
        parameters=[PageQuerySerializer],
        responses=page_serializer(BlockedMemberSerializer),
    )
    def get(self, request: Request) -> Response:
        """List the members whom the caller has blocked.

        The last one first.
        """
        page = get_page_request(request)
        rows = list_blocks(current_member(request)).select_related("blocked")
        count, found = paginate_queryset(rows, page)
        results = BlockedMemberSerializer(found, many=True).data
        return Response(page_payload(request, page, count, results))
