"""The caller's profile, password, profile image, points and account."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import points, profile
from accounts.account_deletion import delete_account
from accounts.authentication import current_member, session_credentials
from accounts.errors import (
    InvalidCredentialsError,
    MailNotConfiguredError,
    PasswordMismatchError,
    PasswordNotSupportedError,
    PasswordUnchangedError,
    ReauthenticationRequiredError,
)
from accounts.fresh_authentication import (
    mark_fresh,
    require_fresh_authentication,
    require_fresh_authentication_with_factor,
)
from accounts.login import verify_password
from accounts.models import Member
from accounts.models.points import DAILY_AWARD_LIMIT
from accounts.serializers.members import (
    OwnProfileRequestSerializer,
    ProfileImageRequestSerializer,
    ProfileSerializer,
)
from accounts.serializers.points import PointAwardSerializer, PointsSerializer
from accounts.serializers.sessions import (
    ChangePasswordRequestSerializer,
    PasswordVerifiedSerializer,
    VerifyPasswordRequestSerializer,
)
from accounts.session_cookies import delete_session_cookie, set_session_cookie
from accounts.views.sessions import create_session_for_request
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    page_payload,
    paginate_queryset,
)
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.token_scopes import PROFILE
from core.api.views import APIView
from core.client_ip import get_client_ip
from core.errors import InvalidImageError, RateLimitedError


class ProfileView(APIView):
    permission_classes = [IsMember]
    token_scopes = PROFILE
    schema_tag = "Profile"
    raises = {"put": [ReauthenticationRequiredError, MailNotConfiguredError]}

    @extend_schema(responses=ProfileSerializer)
    def get(self, request: Request) -> Response:
        """Get the profile.

        With the fields of the profile image and the points.
        """
        return Response(ProfileSerializer(get_full_member(request)).data)

    @extend_schema(
        operation_id="updateProfile",
        request=OwnProfileRequestSerializer,
        responses=ProfileSerializer,
    )
    def put(self, request: Request) -> Response:
        """Update the display name, email and language.

        Fields that are omitted do not change. Live sessions show the new name at once.
        Another address in place of a verified one needs fresh authentication.
        """
        body = validate_body(OwnProfileRequestSerializer, request)
        member = profile.update_profile(
            get_full_member(request),
            body,
            session_key_hash=session_credentials(request).session.key_hash,
        )
        return Response(ProfileSerializer(member).data)


class VerifyPasswordView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Profile"
    raises = {
        "post": [PasswordMismatchError, PasswordNotSupportedError, RateLimitedError],
    }

    @extend_schema(
        operation_id="verifyPassword",
        request=VerifyPasswordRequestSerializer,
        responses=PasswordVerifiedSerializer,
    )
    def post(self, request: Request) -> Response:
        """Verify the password.

        Asks for it again before something sensitive; 400 `PASSWORD_MISMATCH` if it is
        wrong. The session is fresh for 10 minutes then, as after `reauthenticate`.
        """
        body = validate_body(VerifyPasswordRequestSerializer, request)
        verify_password(
            get_full_member(request), body["password"], get_client_ip(request)
        )
        mark_fresh(session_credentials(request).session.key_hash, timezone.now())
        return Response({"verified": True})


class PasswordView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Profile"
    raises = {
        "put": [
            PasswordMismatchError,
            PasswordNotSupportedError,
            PasswordUnchangedError,
            InvalidCredentialsError,
            ReauthenticationRequiredError,
            RateLimitedError,
        ],
    }

    @extend_schema(
        operation_id="changePassword",
        request=ChangePasswordRequestSerializer,
        responses={204: None},
    )
    def put(self, request: Request) -> Response:
        """Change the password.

        All other sessions of the member end. A caller with a session cookie gets a
        new cookie; a bearer token stays valid.
        """
        member = get_full_member(request)
        # A member without one sends only a new one, which proves nothing: with it, a
        # stolen session could remove the second factor.
        has_password = member.has_usable_password()
        if member.has_second_factor and not has_password:
            require_fresh_authentication(request)
        body = validate_body(ChangePasswordRequestSerializer, request)
        ip_address = get_client_ip(request)
        credentials = session_credentials(request)
        # A cookie could have been planted in the browser (session fixation), so its
        # session ends as well and a new one begins. A bearer token cannot be planted.
        kept_key_hash = (
            "" if credentials.is_from_cookie else credentials.session.key_hash
        )
        profile.change_password(
            member,
            body["current_password"],
            body["new_password"],
            ip_address=ip_address,
            kept_key_hash=kept_key_hash,
        )
        response = Response(status=status.HTTP_204_NO_CONTENT)
        if credentials.is_from_cookie:
            key, expires_at = create_session_for_request(
                request, member, is_fresh=has_password
            )
            set_session_cookie(response, key, expires_at)
        return response


class ProfileImageView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Profile"
    raises = {
        "put": [InvalidImageError, RateLimitedError],
    }

    @extend_schema(
        operation_id="setProfileImage",
        request=ProfileImageRequestSerializer,
        responses=ProfileSerializer,
    )
    def put(self, request: Request) -> Response:
        """Replace the profile image.

        An empty value or null removes it.
        """
        body = validate_body(ProfileImageRequestSerializer, request)
        member = profile.set_profile_image(
            get_full_member(request), body["profile_image"]
        )
        return Response(ProfileSerializer(member).data)


class PointsView(APIView):
    permission_classes = [IsMember]
    token_scopes = PROFILE
    schema_tag = "Profile"

    @extend_schema(parameters=[PageQuerySerializer], responses=PointsSerializer)
    def get(self, request: Request) -> Response:
        """Get the points.

        With the number of awards today and the history, newest first.
        """
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


class AccountView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Profile"
    raises = {"delete": [ReauthenticationRequiredError]}

    @extend_schema(responses={204: None})
    def delete(self, request: Request) -> Response:
        """Delete the account.

        All data of the member is deleted; this cannot be undone. The session of a
        member with a second factor must be fresh.
        """
        require_fresh_authentication_with_factor(request)
        delete_account(current_member(request))
        response = Response(status=status.HTTP_204_NO_CONTENT)
        delete_session_cookie(response)
        return response


def get_full_member(request: Request) -> Member:
    """Return the caller with all fields, of which the session has only some."""
    return Member.objects.get(pk=current_member(request).pk)
