"""The caller's sessions and security log."""

from uuid import UUID

from django.utils import timezone
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import SecurityLogEntry
from accounts.sessions import listing as session_list
from accounts.sessions.authentication import current_member, session_key_hash
from accounts.sessions.cookies import delete_session_cookie
from accounts.sessions.serializers import (
    EndedSessionsSerializer,
    OwnSessionSerializer,
    SecurityEventSerializer,
)
from core.api.openapi import page_serializer
from core.api.operations import extend_schema
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    page_payload,
    paginate_queryset,
)
from core.api.permissions import IsMember
from core.api.views import APIView, ViewSet


class SessionViewSet(ViewSet):
    permission_classes = [IsMember]
    schema_tag = "Sessions"
    lookup_url_kwarg = "session_id"
    lookup_value_converter = "uuid"

    @extend_schema(responses=OwnSessionSerializer(many=True))
    def list(self, request: Request) -> Response:
        """List the sessions of the caller.

        The last used first, without personal tokens.
        """
        rows = session_list.list_sessions(current_member(request), timezone.now())
        context = {"key_hash": session_key_hash(request)}
        return Response(OwnSessionSerializer(rows, many=True, context=context).data)

    @extend_schema(operation_id="endSession", responses={204: None})
    def destroy(self, request: Request, session_id: UUID) -> Response:
        """End a session of the caller.

        It may be the one of the request, as with a logout.
        """
        key_hash = session_list.end_session(
            current_member(request), session_id, timezone.now()
        )
        response = Response(status=status.HTTP_204_NO_CONTENT)
        if key_hash == session_key_hash(request):
            delete_session_cookie(response)
        return response

    @extend_schema(request=None, responses=EndedSessionsSerializer)
    @action(detail=False, methods=["post"], url_path="end-others")
    def end_other_sessions(self, request: Request) -> Response:
        """End all other sessions of the member.

        On all other devices the member has to log in again. Personal tokens stay.
        """
        ended = session_list.end_other_sessions(
            current_member(request), session_key_hash(request)
        )
        return Response({"ended": ended})


class SecurityEventsView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Profile"

    @extend_schema(
        operation_id="listSecurityEvents",
        parameters=[PageQuerySerializer],
        responses=page_serializer(SecurityEventSerializer),
    )
    def get(self, request: Request) -> Response:
        """List what happened to how the account is accessed.

        Logins, ended sessions, changes of password, address, second factor and tokens,
        newest first, for 180 days unless the installation says otherwise.
        """
        page = get_page_request(request)
        rows = SecurityLogEntry.objects.filter(member=current_member(request))
        count, entries = paginate_queryset(rows, page)
        results = SecurityEventSerializer(entries, many=True).data
        return Response(page_payload(request, page, count, results))
