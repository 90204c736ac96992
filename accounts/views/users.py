"""Basic user CRUD for administrators (`/api/users`)."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import member_of
from accounts.erasure import erase_member
from accounts.errors import SelfChange
from accounts.models import Member
from accounts.profile import change_profile
from accounts.serializers.members import (
    MemberBody,
    MemberRowBody,
    NewMemberBody,
    ProfileBody,
)
from accounts.signup import NewMember, create_member
from config.api.pagination import PageQuery, cut_page, page_body, read_page
from config.api.permissions import IsAdministrator
from config.api.schema import page_of
from config.api.serializers import read_body
from config.errors import NotFound


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
        members = Member.objects.defer("profile_image").order_by("id")
        count, rows = cut_page(members, page)
        body = MemberRowBody(rows, many=True).data
        return Response(page_body(request, page, count, body))

    @extend_schema(request=NewMemberBody, responses={201: MemberBody})
    def post(self, request: Request) -> Response:
        """Make a LOCAL member; neither the switch nor the limit applies."""
        member = create_member(NewMember(**read_body(NewMemberBody, request)))
        return Response(MemberBody(member).data, status=status.HTTP_201_CREATED)


class UserView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(responses=MemberBody)
    def get(self, request: Request, member_id: int) -> Response:
        return Response(MemberBody(find_member(member_id)).data)

    @extend_schema(request=ProfileBody, responses=MemberBody)
    def put(self, request: Request, member_id: int) -> Response:
        """Change display name or email."""
        member = find_member(member_id)
        body = read_body(ProfileBody, request)
        return Response(MemberBody(change_profile(member, body)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, member_id: int) -> Response:
        """Delete a member and all their data; never oneself."""
        member = find_member(member_id)
        if member == member_of(request):
            raise SelfChange
        try:
            erase_member(member, by=member_of(request))
        except Member.DoesNotExist:
            raise NotFound("There is no such member.") from None
        return Response(status=status.HTTP_204_NO_CONTENT)


def find_member(member_id: int) -> Member:
    try:
        return Member.objects.get(pk=member_id)
    except Member.DoesNotExist:
        raise NotFound("There is no such member.") from None
