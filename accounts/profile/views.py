"""The caller's profile and account."""

from django.utils import timezone
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.account_deletion import delete_account
from accounts.errors import (
    InvalidCredentialsError,
    MailNotConfiguredError,
    PasswordMismatchError,
    PasswordNotSupportedError,
    PasswordUnchangedError,
    ReauthenticationRequiredError,
    SwitchedOffError,
)
from accounts.login.fresh import (
    mark_fresh,
    require_fresh_authentication,
    require_fresh_authentication_with_factor,
)
from accounts.login.password import verify_password
from accounts.login.serializers import (
    ChangePasswordRequestSerializer,
    PasswordVerifiedSerializer,
    VerifyPasswordRequestSerializer,
)
from accounts.members.search import get_full_member
from accounts.members.serializers import (
    OwnProfileRequestSerializer,
    ProfileImageRequestSerializer,
    ProfileSerializer,
)
from accounts.models.points import DAILY_AWARD_LIMIT
from accounts.profile import points, profile
from accounts.profile.point_serializers import PointAwardSerializer, PointsSerializer
from accounts.sessions.authentication import (
    current_member,
    session_credentials,
    session_key_hash,
)
from accounts.sessions.cookies import delete_session_cookie, set_session_cookie
from accounts.sessions.store import create_session
from core.api.operations import extend_schema
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    page_payload,
    paginate_queryset,
)
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.token_scopes import PROFILE
from core.api.views import ViewSet
from core.client_ip import get_client_ip
from core.errors import InvalidImageError, RateLimitedError


class ProfileViewSet(ViewSet):
    permission_classes = [IsMember]
    token_scopes = PROFILE
    schema_tag = "Profile"
    # The image in base64.
    body_limits = {"set_profile_image": 3 * 2**19}
    raises = {
        "update_profile": [ReauthenticationRequiredError, MailNotConfiguredError],
        "verify_password": [
            PasswordMismatchError,
            PasswordNotSupportedError,
            RateLimitedError,
        ],
        "change_password": [
            PasswordMismatchError,
            PasswordNotSupportedError,
            PasswordUnchangedError,
            InvalidCredentialsError,
            ReauthenticationRequiredError,
            RateLimitedError,
        ],
        "set_profile_image": [
            SwitchedOffError,
            InvalidImageError,
            RateLimitedError,
        ],
        "delete_account": [ReauthenticationRequiredError],
    }

    @extend_schema(responses=ProfileSerializer)
    @action(detail=False, url_path="profile")
    def get_profile(self, request: Request) -> Response:
        """Get the profile.

        With the fields of the profile image and the points.
        """
        return Response(ProfileSerializer(get_full_member(request)).data)

    @extend_schema(request=OwnProfileRequestSerializer, responses=ProfileSerializer)
    @get_profile.mapping.put
    def update_profile(self, request: Request) -> Response:
        """Update the display name, email and language.

        Fields that are omitted do not change. Live sessions show the new name at once.
        Another address in place of a verified one needs fresh authentication.
        """
        body = validate_body(OwnProfileRequestSerializer, request)
        member = profile.update_profile(
            get_full_member(request), body, session_key_hash=session_key_hash(request)
        )
        return Response(ProfileSerializer(member).data)

    @extend_schema(
        request=VerifyPasswordRequestSerializer, responses=PasswordVerifiedSerializer
    )
    @action(detail=False, methods=["post"], url_path="verify-password")
    def verify_password(self, request: Request) -> Response:
        """Verify the password.

        Asks for it again before something sensitive; 400 `PASSWORD_MISMATCH` if it is
        wrong. The session is fresh for 10 minutes then, as after `reauthenticate`.
        """
        body = validate_body(VerifyPasswordRequestSerializer, request)
        verify_password(
            get_full_member(request), body["password"], get_client_ip(request)
        )
        mark_fresh(session_key_hash(request), timezone.now())
        return Response({"verified": True})

    @extend_schema(request=ChangePasswordRequestSerializer, responses={204: None})
    @action(detail=False, methods=["put"], url_path="password")
    def change_password(self, request: Request) -> Response:
        """Change the password.

        All other sessions of the member end. A caller with a session cookie gets a
        new cookie; a bearer token stays valid.
        """
        member = get_full_member(request)
        # With a first password a stolen session could remove the second factor.
        has_password = member.has_usable_password()
        if member.has_second_factor and not has_password:
            require_fresh_authentication(request)
        body = validate_body(ChangePasswordRequestSerializer, request)
        ip_address = get_client_ip(request)
        credentials = session_credentials(request)
        # A cookie's session is replaced, against session fixation.
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
            key, expires_at = create_session(member, is_fresh=has_password)
            set_session_cookie(response, key, expires_at)
        return response

    @extend_schema(request=ProfileImageRequestSerializer, responses=ProfileSerializer)
    @action(detail=False, methods=["put"], url_path="profile-image")
    def set_profile_image(self, request: Request) -> Response:
        """Replace the profile image.

        An empty value or null removes it.
        """
        body = validate_body(ProfileImageRequestSerializer, request)
        member = profile.set_profile_image(
            get_full_member(request), body["profile_image"]
        )
        return Response(ProfileSerializer(member).data)

    @extend_schema(parameters=[PageQuerySerializer], responses=PointsSerializer)
    @action(detail=False, url_path="points")
    def get_points(self, request: Request) -> Response:
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

    @extend_schema(responses={204: None})
    @action(detail=False, methods=["delete"], url_path="me")
    def delete_account(self, request: Request) -> Response:
        """Delete the account.

        All data of the member is deleted; this cannot be undone. The session of a
        member with a second factor must be fresh.
        """
        require_fresh_authentication_with_factor(request)
        delete_account(current_member(request))
        response = Response(status=status.HTTP_204_NO_CONTENT)
        delete_session_cookie(response)
        return response
