"""The caller's inbox."""

from django.utils import timezone
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.inbox import items, reading
from accounts.inbox.serializers import (
    InboxCountSerializer,
    InboxPageSerializer,
    InboxQuerySerializer,
    InboxReadRequestSerializer,
    InboxSettingsSerializer,
)
from accounts.sessions.authentication import current_member
from core.api.operations import extend_schema
from core.api.pagination import MAX_PAGE_SIZE, keyset_url
from core.api.permissions import IsMember
from core.api.serializers import validate_body, validate_query
from core.api.token_scopes import BOARD
from core.api.views import APIView
from core.errors import NotFoundError

SCHEMA_TAG = "Inbox"
MAX_ID = 2**63 - 1


class InboxView(APIView):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = SCHEMA_TAG

    @extend_schema(
        operation_id="listInbox",
        parameters=[InboxQuerySerializer],
        responses=InboxPageSerializer,
    )
    def get(self, request: Request) -> Response:
        """List what the caller is told.

        The newest first, of the last 90 days and the newest 500 items, without those
        whose target is gone, hidden, or by somebody whom the caller has blocked.
        """
        query = validate_query(InboxQuerySerializer, request)
        results, before = reading.list_items(
            current_member(request),
            before=query.get("before"),
            size=min(query["size"], MAX_PAGE_SIZE),
            unread=query["unread"],
        )
        return Response(
            {"results": results, "next": keyset_url(request, "before", before)}
        )


class InboxCountView(APIView):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = SCHEMA_TAG

    @extend_schema(operation_id="countInbox", responses=InboxCountSerializer)
    def get(self, request: Request) -> Response:
        """Count the unread items.

        100 means more than 99.
        """
        return Response({"unread": reading.count_unread(current_member(request))})


class InboxReadView(APIView):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = SCHEMA_TAG

    @extend_schema(
        operation_id="readInbox",
        request=InboxReadRequestSerializer,
        responses={204: None},
    )
    def post(self, request: Request) -> Response:
        """Mark items as read.

        Those with the ids, or all up to one. What happened again since has a new id,
        and stays unread.
        """
        body = validate_body(InboxReadRequestSerializer, request)
        items.mark_read(current_member(request), timezone.now(), **body)
        return Response(status=status.HTTP_204_NO_CONTENT)


class InboxItemView(APIView):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = SCHEMA_TAG

    @extend_schema(operation_id="deleteInboxItem", responses={204: None})
    def delete(self, request: Request, item_id: int) -> Response:
        """Delete an item of the inbox.

        What happens again makes a new one.
        """
        if item_id > MAX_ID:
            raise NotFoundError
        items.delete_item(current_member(request), item_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class InboxSettingsView(APIView):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = SCHEMA_TAG

    @extend_schema(operation_id="getInboxSettings", responses=InboxSettingsSerializer)
    def get(self, request: Request) -> Response:
        """Get which kinds of items the caller wants.

        Kinds that are not listed are always told, such as decisions about what the
        caller wrote.
        """
        return Response({"settings": reading.list_settings(current_member(request))})

    @extend_schema(
        operation_id="updateInboxSettings",
        request=InboxSettingsSerializer,
        responses=InboxSettingsSerializer,
    )
    def put(self, request: Request) -> Response:
        """Set which kinds of items the caller wants.

        From now on; items that are there stay.
        """
        member = current_member(request)
        body = validate_body(InboxSettingsSerializer, request)
        wanted = {each["kind"]: each["inbox"] for each in body["settings"]}
        items.set_muted_kinds(member, wanted)
        return Response({"settings": reading.list_settings(member)})
