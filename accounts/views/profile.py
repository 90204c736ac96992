"""A member's own profile, password, picture, points, and leaving."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import points, profile
from accounts.account_deletion import erase_member
from accounts.authentication import credentials_of, member_of
from accounts.login import verify_password
from accounts.models import Member
from accounts.models.points import DAILY_AWARD_LIMIT
from accounts.serializers.members import MemberBody, ProfileBody, ProfileImageBody
from accounts.serializers.points import AwardBody, PointsBody
from accounts.serializers.sessions import (
    ChangePasswordBody,
    VerifiedBody,
    VerifyPasswordBody,
)
from accounts.views.sessions import (
    forget_cookie,
    remember_in_cookie,
    start_session_for,
)
from core.api.fields import read_body
from core.api.pagination import PageQuery, cut_page, page_body, read_page
from core.api.permissions import IsMember
from core.client_ip import read_client_address


class ProfileView(APIView):
    permission_classes = [IsMember]

    @extend_schema(responses=MemberBody)
    def get(self, request: Request) -> Response:
        """The full profile, avatar fields and points included."""
        return Response(MemberBody(load_member(request)).data)

    @extend_schema(request=ProfileBody, responses=MemberBody)
    def put(self, request: Request) -> Response:
        """Change display name or email; the name follows in live sessions."""
        body = read_body(ProfileBody, request)
        member = profile.change_profile(load_member(request), body)
        return Response(MemberBody(member).data)


class VerifyPasswordView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=VerifyPasswordBody, responses=VerifiedBody)
    def post(self, request: Request) -> Response:
        """Re-authenticate by password."""
        body = read_body(VerifyPasswordBody, request)
        address = read_client_address(request)
        verify_password(load_member(request), body["password"], address)
        return Response({"verified": True})


class PasswordView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=ChangePasswordBody, responses={204: None})
    def put(self, request: Request) -> Response:
        """Change the password; the member's other sessions end.

        A session that came by cookie gets a new key in a new cookie; a bearer
        token, which nobody can plant in a client, stays valid.
        """
        body = read_body(ChangePasswordBody, request)
        address = read_client_address(request)
        member, credentials = load_member(request), credentials_of(request)
        profile.change_password(
            member,
            body["current_password"],
            body["new_password"],
            address=address,
            kept="" if credentials.by_cookie else credentials.session.digest,
        )
        response = Response(status=status.HTTP_204_NO_CONTENT)
        if credentials.by_cookie:
            return remember_in_cookie(response, *start_session_for(request, member))
        return response


class ProfileImageView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=ProfileImageBody, responses=MemberBody)
    def put(self, request: Request) -> Response:
        """Set the picture as a data URL, or clear it with an empty value."""
        body = read_body(ProfileImageBody, request)
        member = profile.change_image(load_member(request), body["profile_image"])
        return Response(MemberBody(member).data)


class PointsView(APIView):
    permission_classes = [IsMember]

    @extend_schema(parameters=[PageQuery], responses=PointsBody)
    def get(self, request: Request) -> Response:
        """Points, today's awards, and the history, paged."""
        member, page = load_member(request), read_page(request)
        count, awards = cut_page(points.list_awards(member), page)
        history = AwardBody(awards, many=True).data
        return Response(
            {
                "points": member.points,
                "pointsPerAward": points.POINTS_PER_AWARD,
                "dailyAwardLimit": DAILY_AWARD_LIMIT,
                "awardsToday": points.count_awards_today(member, timezone.now()),
                "history": page_body(request, page, count, history),
            }
        )


class LeaveView(APIView):
    permission_classes = [IsMember]

    @extend_schema(responses={204: None})
    def delete(self, request: Request) -> Response:
        """Delete the account and all its data, for good."""
        erase_member(member_of(request))
        return forget_cookie(Response(status=status.HTTP_204_NO_CONTENT))


def load_member(request: Request) -> Member:
    """The caller with every field; the session carries only some of them."""
    return Member.objects.get(pk=member_of(request).pk)
