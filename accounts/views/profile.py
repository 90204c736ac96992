"""A member's own profile, password, picture, points, and leaving."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import points, profile
from accounts.account_deletion import delete_account
from accounts.authentication import current_member, session_credentials
from accounts.login import verify_password
from accounts.models import Member
from accounts.models.points import DAILY_AWARD_LIMIT
from accounts.serializers.members import (
    MemberSerializer,
    ProfileImageRequestSerializer,
    ProfileRequestSerializer,
)
from accounts.serializers.points import PointAwardSerializer, PointsSerializer
from accounts.serializers.sessions import (
    ChangePasswordRequestSerializer,
    PasswordVerifiedSerializer,
    VerifyPasswordRequestSerializer,
)
from accounts.views.sessions import (
    create_session_for_request,
    delete_session_cookie,
    set_session_cookie,
)
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    page_payload,
    paginate_queryset,
)
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.client_ip import get_client_ip


class ProfileView(APIView):
    permission_classes = [IsMember]

    @extend_schema(responses=MemberSerializer)
    def get(self, request: Request) -> Response:
        """The full profile, avatar fields and points included."""
        return Response(MemberSerializer(get_full_member(request)).data)

    @extend_schema(request=ProfileRequestSerializer, responses=MemberSerializer)
    def put(self, request: Request) -> Response:
        """Change display name or email; the name follows in live sessions."""
        body = validate_body(ProfileRequestSerializer, request)
        member = profile.update_profile(get_full_member(request), body)
        return Response(MemberSerializer(member).data)


class VerifyPasswordView(APIView):
    permission_classes = [IsMember]

    @extend_schema(
        request=VerifyPasswordRequestSerializer, responses=PasswordVerifiedSerializer
    )
    def post(self, request: Request) -> Response:
        """Re-authenticate by password."""
        body = validate_body(VerifyPasswordRequestSerializer, request)
        address = get_client_ip(request)
        verify_password(get_full_member(request), body["password"], address)
        return Response({"verified": True})


class PasswordView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=ChangePasswordRequestSerializer, responses={204: None})
    def put(self, request: Request) -> Response:
        """Change the password; the member's other sessions end.

        A session that came by cookie gets a new key in a new cookie; a bearer
        token, which nobody can plant in a client, stays valid.
        """
        body = validate_body(ChangePasswordRequestSerializer, request)
        address = get_client_ip(request)
        member, credentials = get_full_member(request), session_credentials(request)
        profile.change_password(
            member,
            body["current_password"],
            body["new_password"],
            ip_address=address,
            kept_key_hash=""
            if credentials.is_from_cookie
            else credentials.session.key_hash,
        )
        response = Response(status=status.HTTP_204_NO_CONTENT)
        if credentials.is_from_cookie:
            return set_session_cookie(
                response, *create_session_for_request(request, member)
            )
        return response


class ProfileImageView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=ProfileImageRequestSerializer, responses=MemberSerializer)
    def put(self, request: Request) -> Response:
        """Set the picture as a data URL, or clear it with an empty value."""
        body = validate_body(ProfileImageRequestSerializer, request)
        member = profile.set_profile_image(
            get_full_member(request), body["profile_image"]
        )
        return Response(MemberSerializer(member).data)


class PointsView(APIView):
    permission_classes = [IsMember]

    @extend_schema(parameters=[PageQuerySerializer], responses=PointsSerializer)
    def get(self, request: Request) -> Response:
        """Points, today's awards, and the history, paged."""
        member, page = get_full_member(request), get_page_request(request)
        count, awards = paginate_queryset(points.list_awards(member), page)
        history = PointAwardSerializer(awards, many=True).data
        return Response(
            {
                "points": member.points,
                "pointsPerAward": points.POINTS_PER_AWARD,
                "dailyAwardLimit": DAILY_AWARD_LIMIT,
                "awardsToday": points.count_awards_today(member, timezone.now()),
                "history": page_payload(request, page, count, history),
            }
        )


class DeleteAccountView(APIView):
    permission_classes = [IsMember]

    @extend_schema(responses={204: None})
    def delete(self, request: Request) -> Response:
        """Delete the account and all its data, for good."""
        delete_account(current_member(request))
        return delete_session_cookie(Response(status=status.HTTP_204_NO_CONTENT))


def get_full_member(request: Request) -> Member:
    """The caller with every field; the session carries only some of them."""
    return Member.objects.get(pk=current_member(request).pk)
