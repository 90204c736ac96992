"""Basic user CRUD (`/api/users`)."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import current_member
from accounts.member_counters import count_members
from accounts.models import Member
from accounts.serializers.members import (
    MemberSerializer,
    MemberSummarySerializer,
    NewMemberRequestSerializer,
    ProfileRequestSerializer,
)
from accounts.signup import SignupData
from administration import members
from core.api.openapi import page_serializer
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.permissions import IsAdministrator
from core.api.serializers import validate_body


class UsersView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(
        operation_id="users_list",
        parameters=[PageQuerySerializer],
        responses=page_serializer(MemberSummarySerializer),
    )
    def get(self, request: Request) -> Response:
        """All members, oldest first."""
        page = get_page_request(request)
        rows = Member.objects.defer("profile_image").order_by("id")
        count = count_members(timezone.now())
        body = MemberSummarySerializer(page.slice_rows(rows), many=True).data
        return Response(page_payload(request, page, count, body))

    @extend_schema(
        request=NewMemberRequestSerializer, responses={201: MemberSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make a LOCAL member; neither the switch nor the limit applies."""
        new = SignupData(**validate_body(NewMemberRequestSerializer, request))
        member = members.create_member(current_member(request), new)
        return Response(MemberSerializer(member).data, status=status.HTTP_201_CREATED)


class UserView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(responses=MemberSerializer)
    def get(self, request: Request, member_id: int) -> Response:
        return Response(MemberSerializer(members.get_member(member_id)).data)

    @extend_schema(request=ProfileRequestSerializer, responses=MemberSerializer)
    def put(self, request: Request, member_id: int) -> Response:
        """Change display name or email."""
        members.get_member(member_id)
        changes = validate_body(ProfileRequestSerializer, request)
        member = members.update_member_profile(
            current_member(request), member_id, changes
        )
        return Response(MemberSerializer(member).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, member_id: int) -> Response:
        """Delete a member and all their data; never oneself."""
        members.delete_member(current_member(request), member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
