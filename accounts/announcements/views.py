"""Announcements for everybody, and their administration."""

import hashlib

from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.cache import get_conditional_response
from drf_spectacular.utils import OpenApiResponse
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.announcements import announcements
from accounts.announcements.serializers import (
    AnnouncementRequestSerializer,
    AnnouncementSerializer,
)
from accounts.models import Announcement, Member
from accounts.sessions.authentication import current_member
from core.api.openapi import page_serializer
from core.api.operations import CreatedItem, extend_schema
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    page_payload,
    paginate_queryset,
)
from core.api.permissions import AllowAny, IsAdministrator
from core.api.renderers import dump_json
from core.api.serializers import list_payload, validate_body
from core.api.token_scopes import BOARD
from core.api.views import APIView, ViewSet
from core.errors import LimitReachedError

SCHEMA_TAG = "Announcements"
# Each character of both languages escaped.
MAX_ANNOUNCEMENT_BYTES = 2**16


class AnnouncementsView(APIView):
    permission_classes = [AllowAny]
    token_scopes = BOARD
    schema_tag = SCHEMA_TAG

    @extend_schema(
        operation_id="listAnnouncements",
        responses={
            200: AnnouncementSerializer(many=True),
            304: OpenApiResponse(description="Not modified."),
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        """List what is announced now.

        To the caller, the newest first; to those who are not logged in what is for
        all. Clients may keep it for a minute and then ask with `If-None-Match`.
        """
        caller: Member | None = request.user  # type: ignore[assignment]
        rows = announcements.list_current_for(caller, timezone.now())
        content = dump_json(list_payload(AnnouncementSerializer, rows))
        etag = f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'
        headers = {
            # Each member has another answer.
            "Cache-Control": "private, max-age=60",
            "ETag": etag,
            "Vary": "Accept-Encoding, Authorization, Cookie",
        }
        response = HttpResponse(
            content, content_type="application/json", headers=headers
        )
        conditional = get_conditional_response(request, etag=etag, response=response)
        return conditional or response


class AnnouncementViewSet(ViewSet):
    permission_classes = [IsAdministrator]
    schema_tag = SCHEMA_TAG
    body_limits = {
        "create": MAX_ANNOUNCEMENT_BYTES,
        "update": MAX_ANNOUNCEMENT_BYTES,
    }
    raises = {"create": [LimitReachedError], "update": [LimitReachedError]}
    lookup_url_kwarg = "announcement_id"
    lookup_value_converter = "int"

    @extend_schema(
        operation_id="listAllAnnouncements",
        parameters=[PageQuerySerializer],
        responses=page_serializer(AnnouncementSerializer),
    )
    def list(self, request: Request) -> Response:
        """List all announcements.

        The newest first, with those that have not begun and those that are over.
        """
        page = get_page_request(request)
        count, rows = paginate_queryset(Announcement.objects.order_by("-id"), page)
        results = AnnouncementSerializer(rows, many=True).data
        return Response(page_payload(request, page, count, results))

    @extend_schema(
        operation_id="createAnnouncement",
        request=AnnouncementRequestSerializer,
        responses={201: AnnouncementSerializer},
        creates=CreatedItem("announcement-detail"),
    )
    def create(self, request: Request) -> Response:
        """Announce something.

        In both languages. Members find it in their inboxes too while it is current.
        """
        body = validate_body(AnnouncementRequestSerializer, request)
        row = announcements.create_announcement(current_member(request), body)
        payload = AnnouncementSerializer(row).data
        return Response(payload, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="getAnnouncement", responses=AnnouncementSerializer)
    def retrieve(self, request: Request, announcement_id: int) -> Response:
        """Get an announcement."""
        row = announcements.get_announcement(announcement_id)
        return Response(AnnouncementSerializer(row).data)

    @extend_schema(
        operation_id="updateAnnouncement",
        request=AnnouncementRequestSerializer,
        responses=AnnouncementSerializer,
    )
    def update(self, request: Request, announcement_id: int) -> Response:
        """Replace an announcement.

        Without `from` it begins when it did. Members who have read it are not told
        again.
        """
        announcements.get_announcement(announcement_id)
        body = validate_body(AnnouncementRequestSerializer, request)
        row = announcements.update_announcement(
            current_member(request), announcement_id, body
        )
        return Response(AnnouncementSerializer(row).data)

    @extend_schema(operation_id="deleteAnnouncement", responses={204: None})
    def destroy(self, request: Request, announcement_id: int) -> Response:
        """Delete an announcement.

        It leaves the inboxes too.
        """
        announcements.delete_announcement(current_member(request), announcement_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
