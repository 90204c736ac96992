"""The caller's second factor."""

from django.utils import timezone
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import CodeInvalidError, ReauthenticationRequiredError
from accounts.login import second_factor
from accounts.login.fresh import require_factor_change_allowed
from accounts.login.serializers import (
    CodeRequestSerializer,
    FactorsSerializer,
    PendingTotpSerializer,
    RecoveryCodesSerializer,
)
from accounts.members.search import get_full_member
from accounts.sessions.authentication import session_key_hash
from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.views import APIView, ViewSet
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
        return Response(FactorsSerializer(found).data)


class TotpViewSet(ViewSet):
    permission_classes = [IsMember]
    schema_tag = "Second factor"
    raises = {
        "begin_totp": [ReauthenticationRequiredError],
        "confirm_totp": [
            ReauthenticationRequiredError,
            CodeInvalidError,
            RateLimitedError,
        ],
        "delete_totp": [ReauthenticationRequiredError, NotFoundError],
        "renew_recovery_codes": [
            ReauthenticationRequiredError,
            NotFoundError,
            RateLimitedError,
        ],
    }

    @extend_schema(request=None, responses=PendingTotpSerializer)
    @action(detail=False, methods=["post"], url_path="totp")
    def begin_totp(self, request: Request) -> Response:
        """Begin to set up an authenticator app.

        Within 10 minutes `confirmTotp` puts it in force, in place of one that is there.
        The session must be fresh.
        """
        require_factor_change_allowed(request)
        pending = second_factor.begin_totp(
            get_full_member(request), session_key_hash(request), timezone.now()
        )
        return Response(PendingTotpSerializer(pending).data)

    @extend_schema(request=CodeRequestSerializer, responses=RecoveryCodesSerializer)
    @action(detail=False, methods=["post"], url_path="totp/confirm")
    def confirm_totp(self, request: Request) -> Response:
        """Put the authenticator app in force.

        From then on each login asks for a code of it. Returns 10 recovery codes. The
        session must be fresh.
        """
        require_factor_change_allowed(request)
        code = validate_body(CodeRequestSerializer, request)["code"]
        codes = second_factor.confirm_totp(
            get_full_member(request), session_key_hash(request), code, timezone.now()
        )
        return Response({"recoveryCodes": codes})

    @extend_schema(responses={204: None})
    @begin_totp.mapping.delete
    def delete_totp(self, request: Request) -> Response:
        """Remove the second factor, with its recovery codes.

        The session must be fresh.
        """
        require_factor_change_allowed(request)
        second_factor.remove_totp(
            get_full_member(request), session_key_hash(request), timezone.now()
        )
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses=RecoveryCodesSerializer)
    @action(detail=False, methods=["post"], url_path="recovery-codes")
    def renew_recovery_codes(self, request: Request) -> Response:
        """Replace the recovery codes.

        Those from before are void. 404 `NOT_FOUND` without a second factor. The session
        must be fresh.
        """
        require_factor_change_allowed(request)
        codes = second_factor.renew_recovery_codes(
            get_full_member(request), session_key_hash(request), timezone.now()
        )
        return Response({"recoveryCodes": codes})
