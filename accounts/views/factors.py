"""The caller's second factor."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import second_factor
from accounts.authentication import session_credentials
from accounts.errors import CodeInvalidError, ReauthenticationRequiredError
from accounts.fresh_authentication import require_fresh_authentication
from accounts.serializers.security import (
    CodeRequestSerializer,
    FactorsSerializer,
    PendingTotpSerializer,
    RecoveryCodesSerializer,
)
from accounts.views.profile import get_full_member
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.views import APIView
from core.errors import NotFoundError, RateLimitedError


class FactorsView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Second factor"

    @extend_schema(operation_id="getFactors", responses=FactorsSerializer)
    def get(self, request: Request) -> Response:
        """Get the second factor of the caller.

        Whether there is one, and how many recovery codes are left.
        """
        found = second_factor.get_factor_status(get_full_member(request))
        return Response(
            {
                "totp": found.totp_since is not None,
                "totpSince": found.totp_since,
                "recoveryCodesLeft": found.recovery_codes_left,
            }
        )


class TotpView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Second factor"
    raises = {
        "post": [ReauthenticationRequiredError],
        "delete": [ReauthenticationRequiredError, NotFoundError],
    }

    @extend_schema(
        operation_id="beginTotp", request=None, responses=PendingTotpSerializer
    )
    def post(self, request: Request) -> Response:
        """Begin to set up an authenticator app.

        Within 10 minutes `confirmTotp` puts it in force, in place of one that is there.
        The session must be fresh.
        """
        require_fresh_authentication(request)
        pending = second_factor.begin_totp(
            get_full_member(request), _key_hash(request), timezone.now()
        )
        return Response(
            {
                "secret": pending.secret,
                "uri": pending.uri,
                "expiresAt": pending.expires_at,
            }
        )

    @extend_schema(operation_id="deleteTotp", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Remove the second factor, with its recovery codes.

        The session must be fresh.
        """
        require_fresh_authentication(request)
        second_factor.remove_totp(
            get_full_member(request), _key_hash(request), timezone.now()
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class TotpConfirmationView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Second factor"
    raises = {
        "post": [ReauthenticationRequiredError, CodeInvalidError, RateLimitedError]
    }

    @extend_schema(
        operation_id="confirmTotp",
        request=CodeRequestSerializer,
        responses=RecoveryCodesSerializer,
    )
    def post(self, request: Request) -> Response:
        """Put the authenticator app in force.

        From then on each login asks for a code of it. Returns 10 recovery codes. The
        session must be fresh.
        """
        require_fresh_authentication(request)
        body = validate_body(CodeRequestSerializer, request)
        codes = second_factor.confirm_totp(
            get_full_member(request), _key_hash(request), body["code"], timezone.now()
        )
        return Response({"recoveryCodes": codes})


class RecoveryCodesView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Second factor"
    raises = {"post": [ReauthenticationRequiredError, NotFoundError, RateLimitedError]}

    @extend_schema(
        operation_id="renewRecoveryCodes",
        request=None,
        responses=RecoveryCodesSerializer,
    )
    def post(self, request: Request) -> Response:
        """Replace the recovery codes.

        Those from before are void. 404 `NOT_FOUND` without a second factor. The session
        must be fresh.
        """
        require_fresh_authentication(request)
        codes = second_factor.renew_recovery_codes(
            get_full_member(request), _key_hash(request), timezone.now()
        )
        return Response({"recoveryCodes": codes})


def _key_hash(request: Request) -> str:
    return session_credentials(request).session.key_hash
