"""Basic user CRUD (`/api/users`)."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import member_of
from accounts.member_counters import count_members
from accounts.models import Member
from accounts.serializers.members import (
    MemberBody,
    MemberRowBody,
    NewMemberBody,
    ProfileBody,
)
from accounts.signup import NewMember
from administration import members
from core.api.fields import read_body
from core.api.openapi import page_of
from core.api.pagination import PageQuery, page_body, read_page
from core.api.permissions import IsAdministrator


class UsersView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(
        operation_id="users_list",
        parameters=[PageQuery],
        responses=page_of(MemberRowBody),
    )
    def get(self, request: Request) -> Response:
        """All members, oldest first."""
        page = read_page(request)
        rows = Member.objects.defer("profile_image").order_by("id")
        count = count_members(timezone.now())
        body = MemberRowBody(page.cut(rows), many=True).data
        return Response(page_body(request, page, count, body))

    @extend_schema(request=NewMemberBody, responses={201: MemberBody})
    def post(self, request: Request) -> Response:
        """Make a LOCAL member; neither the switch nor the limit applies."""
        new = NewMember(**read_body(NewMemberBody, request))
        member = members.create_member(member_of(request), new)
        return Response(MemberBody(member).data, status=status.HTTP_201_CREATED)


class UserView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(responses=MemberBody)
    def get(self, request: Request, member_id: int) -> Response:
        return Response(MemberBody(members.find_member(member_id)).data)

    @extend_schema(request=ProfileBody, responses=MemberBody)
    def put(self, request: Request, member_id: int) -> Response:
        """Change display name or email."""
        members.find_member(member_id)
        changes = read_body(ProfileBody, request)
        member = members.set_profile(member_of(request), member_id, changes)
        return Response(MemberBody(member).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, member_id: int) -> Response:
        """Delete a member and all their data; never oneself."""
        members.delete_member(member_of(request), member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
