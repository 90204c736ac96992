"""CRUD of users at /api/users (spec 7.2)."""

from django.utils import timezone
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import (
    AdministratorProfileError,
    MailNotConfiguredError,
    ReauthenticationRequiredError,
    SelfChangeError,
)
from accounts.login.fresh import require_fresh_authentication_with_factor
from accounts.members.counters import count_members
from accounts.members.serializers import (
    MemberSerializer,
    MemberSummarySerializer,
    NewMemberRequestSerializer,
    ProfileRequestSerializer,
)
from accounts.models import Member
from accounts.sessions.authentication import current_member, session_key_hash
from accounts.signup.signup import SignupData
from administration import members
from core.api.openapi import page_serializer
from core.api.operations import extend_schema
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.permissions import IsAdministrator
from core.api.serializers import validate_body
from core.api.views import ViewSet
from core.errors import DuplicateError


class UserViewSet(ViewSet):
    permission_classes = [IsAdministrator]
    schema_tag = "Users"
    raises = {
        "create": [DuplicateError],
        "update": [
            AdministratorProfileError,
            ReauthenticationRequiredError,
            MailNotConfiguredError,
        ],
        "destroy": [ReauthenticationRequiredError, SelfChangeError],
    }
    lookup_url_kwarg = "member_id"
    lookup_value_converter = "int"

    @extend_schema(
        parameters=[PageQuerySerializer],
        responses=page_serializer(MemberSummarySerializer),
    )
    def list(self, request: Request) -> Response:
        """List users.

        Oldest first, without profile images.
        """
        page = get_page_request(request)
        rows = Member.objects.defer("profile_image").order_by("id")
        count = count_members(timezone.now())
        results = MemberSummarySerializer(page.slice_rows(rows), many=True).data
        return Response(page_payload(request, page, count, results))

    @extend_schema(
        request=NewMemberRequestSerializer, responses={201: MemberSerializer}
    )
    def create(self, request: Request) -> Response:
        """Create a user.

        The user logs in by password. Neither the sign-up setting nor the rate limit
        of sign-ups applies.
        """
        data = SignupData(**validate_body(NewMemberRequestSerializer, request))
        member = members.create_member(current_member(request), data)
        return Response(MemberSerializer(member).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=MemberSerializer)
    def retrieve(self, request: Request, member_id: int) -> Response:
        """Get a user.

        With the profile image.
        """
        return Response(MemberSerializer(members.get_member(member_id)).data)

    @extend_schema(
        operation_id="updateUser",
        request=ProfileRequestSerializer,
        responses=MemberSerializer,
    )
    def update(self, request: Request, member_id: int) -> Response:
        """Update the display name and email of a user.

        Fields that are omitted do not change. The profile of another administrator
        is 403 `FORBIDDEN`. The own one changes as by `updateProfile`.
        """
        actor = current_member(request)
        # 403 and 404 precede 400 for an invalid body.
        members.require_changeable_profile(actor, members.get_member(member_id))
        changes = validate_body(ProfileRequestSerializer, request)
        member = members.update_member_profile(
            actor, member_id, changes, session_key_hash(request)
        )
        return Response(MemberSerializer(member).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, member_id: int) -> Response:
        """Delete a user.

        All data of the user is deleted. The caller's own account is 400
        `SELF_CHANGE`. The session of a caller with a second factor must be fresh.
        """
        require_fresh_authentication_with_factor(request)
        members.delete_member(current_member(request), member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
