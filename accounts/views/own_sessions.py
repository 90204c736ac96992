"""The caller's sessions and the security log."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import session_list
from accounts.authentication import current_member, session_credentials
from accounts.models import SecurityLogEntry
from accounts.serializers.security import (
    OwnSessionSerializer,
    SecurityEventSerializer,
    session_payloads,
)
from accounts.serializers.sessions import EndedSessionsSerializer
from accounts.session_cookies import delete_session_cookie
from core.api.openapi import page_serializer
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    page_payload,
    paginate_queryset,
)
from core.api.permissions import IsMember
from core.api.views import APIView


class SessionListView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Sessions"

    @extend_schema(
        operation_id="listSessions", responses=OwnSessionSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        """List the sessions of the caller.

        The last used first, without personal tokens.
        """
        rows = session_list.list_sessions(current_member(request), timezone.now())
        key_hash = session_credentials(request).session.key_hash
        return Response(session_payloads(rows, key_hash))


class SessionDetailView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Sessions"

    @extend_schema(operation_id="endSession", responses={204: None})
    def delete(self, request: Request, session_id: UUID) -> Response:
        """End a session of the caller.

        It may be the one of the request, as with a logout.
        """
        key_hash = session_list.end_session(
            current_member(request), session_id, timezone.now()
        )
        response = Response(status=status.HTTP_204_NO_CONTENT)
        if key_hash == session_credentials(request).session.key_hash:
            delete_session_cookie(response)
        return response


class EndOtherSessionsView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Sessions"

    @extend_schema(
        operation_id="endOtherSessions",
        request=None,
        responses=EndedSessionsSerializer,
    )
    def post(self, request: Request) -> Response:
        """End all other sessions of the member.

        On all other devices the member has to log in again. Personal tokens stay.
        """
        ended = session_list.end_other_sessions(
            current_member(request), session_credentials(request).session.key_hash
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
