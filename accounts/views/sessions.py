"""Sign-up, login, logout and the current session."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import idp_login, login, login_tickets, signup
from accounts.authentication import (
    current_member,
    extract_session_key,
    session_credentials,
)
from accounts.errors import (
    CodeInvalidError,
    IdentityProviderNotConfiguredError,
    InvalidCredentialsError,
    InvalidIdTokenError,
    LinkingRefusedError,
    MemberSuspendedError,
    SecondFactorRequiredError,
    SignupDisabledError,
    SignupRefusedError,
)
from accounts.models import Member
from accounts.serializers.members import (
    MemberSerializer,
    SessionUserSerializer,
    SignupRequestSerializer,
    session_user_payload,
)
from accounts.serializers.security import SecondFactorLoginRequestSerializer
from accounts.serializers.sessions import (
    CompletedLoginSessionSerializer,
    IdpClientIdSerializer,
    IdpLoginSessionSerializer,
    IdTokenRequestSerializer,
    LoginRequestSerializer,
    LoginSessionSerializer,
    SignupEnabledSerializer,
)
from accounts.session_cookies import delete_session_cookie, set_session_cookie
from accounts.session_list import log_out
from accounts.sessions import (
    StaleCredentialsError,
    create_session,
    hash_session_key,
    revoke_session,
)
from accounts.signup_setting import is_signup_enabled
from core.api.exception_handler import AuthenticationRequiredError
from core.api.permissions import AllowAny, IsMember
from core.api.serializers import validate_body
from core.api.views import APIView
from core.client_ip import get_client_ip
from core.errors import DuplicateError, ProviderUnavailableError, RateLimitedError
from core.languages import choose_language_of
from core.logging import member_id


class SignupView(APIView):
    permission_classes = [AllowAny]
    schema_tag = "Sessions"
    raises = {
        "post": [
            SignupDisabledError,
            SignupRefusedError,
            DuplicateError,
            RateLimitedError,
            InvalidCredentialsError,
        ],
    }

    @extend_schema(
        operation_id="signUp",
        request=SignupRequestSerializer,
        responses={201: LoginSessionSerializer},
    )
    def post(self, request: Request) -> Response:
        """Sign up and log in.

        At most 5 attempts an hour from an IP address, refused ones included.
        """
        signup.require_signup_allowed(get_client_ip(request))
        # Before validation: a filled honeypot is refused whatever else is sent.
        if isinstance(request.data, dict):
            signup.validate_honeypot(request.data.get("website"))
        body = validate_body(SignupRequestSerializer, request)
        body.pop("website", None)
        device_name = body.pop("device_name")
        member = signup.create_member(
            signup.SignupData(**body, locale=choose_language_of(request))
        )
        return login_response(
            request, member, device_name=device_name, code=status.HTTP_201_CREATED
        )


class LoginView(APIView):
    permission_classes = [AllowAny]
    schema_tag = "Sessions"
    raises = {
        "post": [
            AuthenticationRequiredError,
            InvalidCredentialsError,
            SecondFactorRequiredError,
            MemberSuspendedError,
            RateLimitedError,
        ],
    }

    @extend_schema(
        operation_id="logIn",
        request=LoginRequestSerializer,
        responses=LoginSessionSerializer,
    )
    def post(self, request: Request) -> Response:
        """Log in with login id and password.

        A wrong login id and a wrong password are the same error, 401
        `INVALID_CREDENTIALS`; too many of them are 429 `RATE_LIMITED`. A member with a
        second factor gets 401 `SECOND_FACTOR_REQUIRED`, for `completeLogin`.
        """
        body = validate_body(LoginRequestSerializer, request)
        member = login.authenticate_member(
            body["login_id"], body["password"], get_client_ip(request)
        )
        return login_response(request, member, device_name=body["device_name"])


class IdpLoginView(APIView):
    permission_classes = [AllowAny]
    schema_tag = "Sessions"
    raises = {
        "post": [
            AuthenticationRequiredError,
            IdentityProviderNotConfiguredError,
            InvalidIdTokenError,
            InvalidCredentialsError,
            SecondFactorRequiredError,
            SignupDisabledError,
            LinkingRefusedError,
            MemberSuspendedError,
            RateLimitedError,
            ProviderUnavailableError,
        ],
    }

    @extend_schema(
        operation_id="logInWithIdp",
        request=IdTokenRequestSerializer,
        responses=IdpLoginSessionSerializer,
    )
    def post(self, request: Request) -> Response:
        """Log in with an ID token of the identity provider.

        A `nonce` that is sent must be that of the token.
        """
        body = validate_body(IdTokenRequestSerializer, request)
        result = idp_login.login_with_id_token(
            body["id_token"],
            body.get("nonce"),
            get_client_ip(request),
            locale=choose_language_of(request),
        )
        extra = {"created": result.created, "linked": result.linked}
        return login_response(
            request, result.member, device_name=body["device_name"], extra=extra
        )


class SecondFactorLoginView(APIView):
    permission_classes = [AllowAny]
    schema_tag = "Sessions"
    raises = {
        "post": [
            AuthenticationRequiredError,
            CodeInvalidError,
            InvalidCredentialsError,
            RateLimitedError,
        ],
    }

    @extend_schema(
        operation_id="completeLogin",
        request=SecondFactorLoginRequestSerializer,
        responses=CompletedLoginSessionSerializer,
    )
    def post(self, request: Request) -> Response:
        """Complete a login with the second factor.

        With the ticket of `SECOND_FACTOR_REQUIRED` and a code. A ticket takes 5 codes
        within 5 minutes; a wrong code, a wrong ticket and one that has ended are the
        same error. The answer is that of the login.
        """
        body = validate_body(SecondFactorLoginRequestSerializer, request)
        completed = login_tickets.complete_login(
            body["ticket"],
            body["code"],
            ip_address=get_client_ip(request),
            user_agent=request.META.get("HTTP_USER_AGENT", ""),
            now=timezone.now(),
        )
        return session_response(
            request,
            completed.member,
            (completed.key, completed.expires_at),
            extra=completed.extra,
        )


class IdpClientIdView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    schema_tag = "Sessions"

    @extend_schema(responses=IdpClientIdSerializer)
    def get(self, request: Request) -> Response:
        """Get the client id for the identity provider.

        The audience of ID tokens; empty if the provider is not configured.
        """
        return Response({"clientId": settings.IDP_CLIENT_ID})


class SignupEnabledView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    schema_tag = "Sessions"

    @extend_schema(responses=SignupEnabledSerializer)
    def get(self, request: Request) -> Response:
        """Check whether sign-up is open.

        Public. An administrator may have closed it.
        """
        return Response({"enabled": is_signup_enabled()})


class LogoutView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Sessions"

    @extend_schema(operation_id="logOut", request=None, responses={204: None})
    def post(self, request: Request) -> Response:
        """Log out.

        Ends the session and deletes the session cookie.
        """
        log_out(current_member(request), session_credentials(request).session.key_hash)
        response = Response(status=status.HTTP_204_NO_CONTENT)
        delete_session_cookie(response)
        return response


class SessionView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Sessions"

    @extend_schema(responses=SessionUserSerializer)
    def get(self, request: Request) -> Response:
        """Get the session user.

        The member who is logged in, with the plan that is in force now.
        """
        return Response(session_user_payload(current_member(request)))


def login_response(
    request: Request,
    member: Member,
    *,
    device_name: str,
    code: int = status.HTTP_200_OK,
    extra: dict[str, Any] | None = None,
) -> Response:
    """Create the session of a member who passed the first step; return the response.

    Raises `SecondFactorRequiredError` for a member with a second factor.
    """
    login_tickets.require_second_factor(
        member, timezone.now(), device_name=device_name, extra=extra or {}
    )
    created = login.start_session(
        member,
        ip_address=get_client_ip(request) or None,
        user_agent=request.META.get("HTTP_USER_AGENT", ""),
        device_name=device_name,
    )
    return session_response(request, member, created, code=code, extra=extra)


def session_response(
    request: Request,
    member: Member,
    created: tuple[str, datetime],
    *,
    code: int = status.HTTP_200_OK,
    extra: dict[str, Any] | None = None,
) -> Response:
    """Return the response to a login, and end the session of the request's cookie.

    `created` are key and expiry of the new session.
    """
    key, expires_at = created
    # Against session fixation: the key is always new, a presented one is revoked.
    presented = extract_session_key(request)
    if presented is not None and presented.is_from_cookie:
        revoke_session(hash_session_key(presented.key))
    member_id.set(member.pk)
    payload = {
        "token": key,
        "expiresAt": expires_at,
        "member": MemberSerializer(member).data,
    }
    response = Response(payload | (extra or {}), status=code)
    set_session_cookie(response, key, expires_at)
    return response


def create_session_for_request(
    request: Request, member: Member, *, is_fresh: bool
) -> tuple[str, datetime]:
    """Return the key and the expiry of a session in place of another one.

    Raises `InvalidCredentialsError` if password or status changed in the meantime.
    """
    try:
        return create_session(
            member,
            ip_address=get_client_ip(request) or None,
            user_agent=request.META.get("HTTP_USER_AGENT", ""),
            is_fresh=is_fresh,
        )
    except StaleCredentialsError:
        raise InvalidCredentialsError from None
