"""Members, as administrators see and change them."""

from collections.abc import Callable

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import member_of
from accounts.member_search import MemberFilter, read_page_of_members
from accounts.models import Member
from accounts.serializers.members import MemberBody, MemberRowBody
from administration import members
from administration.serializers import (
    MemberQuery,
    PlanBody,
    RoleBody,
    StatusBody,
)
from core.api.fields import Serializer, read_body, read_query
from core.api.openapi import page_of
from core.api.pagination import PageQuery, page_body, read_page
from core.api.permissions import IsAdministrator


class MembersView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(
        operation_id="admin_members_list",
        parameters=[MemberQuery, PageQuery],
        responses=page_of(MemberRowBody),
    )
    def get(self, request: Request) -> Response:
        """All members, the newest first, without profile images.

        A search counts 10,000 hits at most, and its pages end there.
        """
        page = read_page(request)
        wanted = MemberFilter(**read_query(MemberQuery, request))
        count, rows = read_page_of_members(wanted, page, timezone.now())
        body = MemberRowBody(rows, many=True).data
        return Response(page_body(request, page, count, body))


class MemberView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(operation_id="admin_members_retrieve", responses=MemberBody)
    def get(self, request: Request, member_id: int) -> Response:
        return Response(MemberBody(members.find_member(member_id)).data)

    @extend_schema(operation_id="admin_members_destroy", responses={204: None})
    def delete(self, request: Request, member_id: int) -> Response:
        """Delete a member and all their data; never oneself."""
        members.delete_member(member_of(request), member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RoleView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(request=RoleBody, responses=MemberBody)
    def put(self, request: Request, member_id: int) -> Response:
        """Make a member an administrator, or an administrator a member; at once."""
        return _change(request, member_id, RoleBody, members.set_role)


class StatusView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(request=StatusBody, responses=MemberBody)
    def put(self, request: Request, member_id: int) -> Response:
        """Suspend a member, which ends their sessions at once, or take them back."""
        return _change(request, member_id, StatusBody, members.set_status)


class PlanView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(request=PlanBody, responses=MemberBody)
    def put(self, request: Request, member_id: int) -> Response:
        """Set the plan for good: without expiry, the subscription forgotten."""
        return _change(request, member_id, PlanBody, members.set_plan)


def _change(
    request: Request,
    member_id: int,
    body: type[Serializer],
    apply: Callable[[Member, int, str], Member],
) -> Response:
    """The member with the one value of the body; 404 and `SELF_CHANGE` come first."""
    actor = member_of(request)
    members.find_other(actor, member_id)
    (value,) = read_body(body, request).values()
    return Response(MemberBody(apply(actor, member_id, value)).data)
