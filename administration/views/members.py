"""Members, as administrators see and change them."""

from collections.abc import Callable

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import current_member
from accounts.member_search import MemberFilter, list_members_page
from accounts.models import Member
from accounts.serializers.members import MemberSerializer, MemberSummarySerializer
from administration import members
from administration.serializers import (
    MemberPlanRequestSerializer,
    MemberQuerySerializer,
    MemberRoleRequestSerializer,
    MemberStatusRequestSerializer,
)
from core.api.openapi import page_serializer
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.permissions import IsAdministrator
from core.api.serializers import Serializer, validate_body, validate_query


class MembersView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(
        operation_id="admin_members_list",
        parameters=[MemberQuerySerializer, PageQuerySerializer],
        responses=page_serializer(MemberSummarySerializer),
    )
    def get(self, request: Request) -> Response:
        """All members, the newest first, without profile images.

        A search counts 10,000 hits at most, and its pages end there.
        """
        page = get_page_request(request)
        wanted = MemberFilter(**validate_query(MemberQuerySerializer, request))
        count, rows = list_members_page(wanted, page, timezone.now())
        body = MemberSummarySerializer(rows, many=True).data
        return Response(page_payload(request, page, count, body))


class MemberView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(operation_id="admin_members_retrieve", responses=MemberSerializer)
    def get(self, request: Request, member_id: int) -> Response:
        return Response(MemberSerializer(members.get_member(member_id)).data)

    @extend_schema(operation_id="admin_members_destroy", responses={204: None})
    def delete(self, request: Request, member_id: int) -> Response:
        """Delete a member and all their data; never oneself."""
        members.delete_member(current_member(request), member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RoleView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(request=MemberRoleRequestSerializer, responses=MemberSerializer)
    def put(self, request: Request, member_id: int) -> Response:
        """Make a member an administrator, or an administrator a member; at once."""
        return _update_member(
            request, member_id, MemberRoleRequestSerializer, members.set_member_role
        )


class StatusView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(request=MemberStatusRequestSerializer, responses=MemberSerializer)
    def put(self, request: Request, member_id: int) -> Response:
        """Suspend a member, which ends their sessions at once, or take them back."""
        return _update_member(
            request, member_id, MemberStatusRequestSerializer, members.set_member_status
        )


class PlanView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(request=MemberPlanRequestSerializer, responses=MemberSerializer)
    def put(self, request: Request, member_id: int) -> Response:
        """Set the plan for good: without expiry, the subscription forgotten."""
        return _update_member(
            request, member_id, MemberPlanRequestSerializer, members.set_member_plan
        )


def _update_member(
    request: Request,
    member_id: int,
    body: type[Serializer],
    apply: Callable[[Member, int, str], Member],
) -> Response:
    """The member with the one value of the body; 404 and `SELF_CHANGE` come first."""
    actor = current_member(request)
    members.get_other_member(actor, member_id)
    (value,) = validate_body(body, request).values()
    return Response(MemberSerializer(apply(actor, member_id, value)).data)
