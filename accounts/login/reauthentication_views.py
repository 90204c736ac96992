"""Reauthentication."""

from django.utils import timezone
from django.utils.translation import gettext
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import (
    CodeInvalidError,
    IdentityProviderNotConfiguredError,
    InvalidIdTokenError,
    PasswordMismatchError,
)
from accounts.login.fresh import mark_fresh, verify_identity
from accounts.login.password import verify_password
from accounts.login.second_factor import verify_second_factor
from accounts.login.serializers import (
    MAX_ID_TOKEN_BYTES,
    FreshAuthenticationSerializer,
    ReauthenticationRequestSerializer,
)
from accounts.members.search import get_full_member
from accounts.sessions.authentication import session_key_hash
from core.api.exception_handler import BODY_FIELD
from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.views import APIView
from core.client_ip import get_client_ip
from core.errors import InvalidFieldError, ProviderUnavailableError, RateLimitedError

PROOFS = ("password", "code", "id_token")


class ReauthenticationView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Sessions"
    body_limits = {"post": MAX_ID_TOKEN_BYTES}
    raises = {
        "post": [
            PasswordMismatchError,
            CodeInvalidError,
            InvalidIdTokenError,
            IdentityProviderNotConfiguredError,
            ProviderUnavailableError,
            RateLimitedError,
        ]
    }

    @extend_schema(
        operation_id="reauthenticateSession",
        request=ReauthenticationRequestSerializer,
        responses=FreshAuthenticationSerializer,
    )
    def post(self, request: Request) -> Response:
        """Authenticate again.

        Makes the session fresh for 10 minutes, which is asked for with 403
        `REAUTHENTICATION_REQUIRED`. Takes one of `password`, `code` and `idToken`;
        failures count as failed logins.
        """
        body = validate_body(ReauthenticationRequestSerializer, request)
        if sum(name in body for name in PROOFS) != 1:
            raise InvalidFieldError(
                BODY_FIELD, gettext("Send exactly one of the proofs."), "required"
            )
        member, ip_address = get_full_member(request), get_client_ip(request)
        if "password" in body:
            verify_password(member, body["password"], ip_address)
        elif "code" in body:
            verify_second_factor(member, body["code"], ip_address, timezone.now())
        else:
            verify_identity(member, body["id_token"], body.get("nonce"), ip_address)
        fresh_until = mark_fresh(
            session_key_hash(request), timezone.now(), has_shown_factor="code" in body
        )
        return Response({"freshUntil": fresh_until})
