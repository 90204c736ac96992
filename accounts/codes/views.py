"""Views of codes by mail."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.codes import email_verification, password_reset
from accounts.codes.serializers import (
    ConfirmEmailRequestSerializer,
    ConfirmPasswordResetRequestSerializer,
    EmailVerificationSerializer,
    PasswordResetRequestSerializer,
    PasswordResetSerializer,
)
from accounts.errors import (
    AlreadyVerifiedError,
    CodeInvalidError,
    MailNotConfiguredError,
    ReauthenticationRequiredError,
)
from accounts.login.fresh import require_fresh_authentication
from accounts.members.search import get_full_member
from accounts.members.serializers import MemberSerializer
from accounts.models import Member
from core.api.operations import extend_schema
from core.api.permissions import AllowAny, IsMember
from core.api.serializers import validate_body
from core.api.views import APIView, ViewSet
from core.client_ip import get_client_ip
from core.errors import InvalidFieldError, RateLimitedError


class EmailVerificationView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Profile"
    raises = {
        "post": [
            ReauthenticationRequiredError,
            AlreadyVerifiedError,
            InvalidFieldError,
            MailNotConfiguredError,
            RateLimitedError,
        ]
    }

    @extend_schema(
        operation_id="requestEmailVerification",
        request=None,
        responses={202: EmailVerificationSerializer},
    )
    def post(self, request: Request) -> Response:
        """Send a code to the email address.

        To `pendingEmail`, else to `email` while it is not verified. An address that
        was changed without fresh authentication needs it now.
        """
        member = get_full_member(request)
        # A session's thief could write and verify an address of their own.
        if email_verification.is_email_unproved(member):
            require_fresh_authentication(request)
        sent = email_verification.request_verification(
            member, get_client_ip(request), timezone.now()
        )
        return Response(
            EmailVerificationSerializer(sent).data, status=status.HTTP_202_ACCEPTED
        )


class ConfirmEmailView(APIView):
    permission_classes = [AllowAny]
    schema_tag = "Profile"
    raises = {"post": [CodeInvalidError]}

    @extend_schema(
        operation_id="confirmEmailVerification",
        request=ConfirmEmailRequestSerializer,
        responses={
            200: MemberSerializer,
            204: OpenApiResponse(description="Verified; the caller has no session."),
        },
    )
    def post(self, request: Request) -> Response:
        """Confirm the email address with a code.

        Public, but for an address that staff have entered: its member confirms it.
        Answers the member to a session of the member, and 204 to others. A wrong,
        spent, expired or unknown code is 400 `CODE_INVALID`; five wrong tries end the
        request.
        """
        body = validate_body(ConfirmEmailRequestSerializer, request)
        caller: Member | None = request.user  # type: ignore[assignment]
        member = email_verification.confirm_verification(
            body["request_id"], body["code"], timezone.now(), caller=caller
        )
        if caller is None or caller.pk != member.pk:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(MemberSerializer(get_full_member(request)).data)


class PasswordResetViewSet(ViewSet):
    permission_classes = [AllowAny]
    authentication_classes = []
    schema_tag = "Sessions"
    raises = {
        "request_password_reset": [MailNotConfiguredError, RateLimitedError],
        "confirm_password_reset": [CodeInvalidError, RateLimitedError],
    }

    @extend_schema(
        request=PasswordResetRequestSerializer, responses={202: PasswordResetSerializer}
    )
    @action(detail=False, methods=["post"], url_path="password-reset")
    def request_password_reset(self, request: Request) -> Response:
        """Ask for a code to set a new password.

        Public; at most 5 an hour from an IP address. The answer is the same whether or
        not there is such an account. The code goes to the address of the account.
        """
        body = validate_body(PasswordResetRequestSerializer, request)
        stored = password_reset.request_reset(
            body, get_client_ip(request), timezone.now()
        )
        return Response(
            {"requestId": stored.pk, "expiresAt": stored.expires_at},
            status=status.HTTP_202_ACCEPTED,
        )

    @extend_schema(request=ConfirmPasswordResetRequestSerializer, responses={204: None})
    @action(detail=False, methods=["post"], url_path="password-reset/confirm")
    def confirm_password_reset(self, request: Request) -> Response:
        """Set a new password with a code.

        Public. All sessions of the member end, and there is no new one. A password
        that is refused does not spend the code.
        """
        body = validate_body(ConfirmPasswordResetRequestSerializer, request)
        password_reset.confirm_reset(
            body["request_id"], body["code"], body["new_password"], timezone.now()
        )
        return Response(status=status.HTTP_204_NO_CONTENT)
