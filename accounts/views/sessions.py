"""Sign-up, login, logout and the session user."""

from datetime import datetime
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import idp_login, login, signup
from accounts.authentication import (
    current_member,
    extract_session_key,
    session_credentials,
)
from accounts.errors import InvalidCredentialsError
from accounts.models import Member
from accounts.serializers.members import (
    MemberSerializer,
    SessionUserSerializer,
    SignupRequestSerializer,
    session_user_payload,
)
from accounts.serializers.sessions import (
    IdpClientIdSerializer,
    IdpLoginSessionSerializer,
    IdTokenRequestSerializer,
    LoginRequestSerializer,
    LoginSessionSerializer,
    SignupEnabledSerializer,
)
from accounts.sessions import (
    StaleCredentialsError,
    create_session,
    hash_session_key,
    revoke_session,
)
from accounts.signup_setting import is_signup_enabled
from core.api.permissions import AllowAny, IsMember
from core.api.serializers import validate_body
from core.client_ip import get_client_ip


class SignupView(APIView):
    permission_classes = [AllowAny]

    @extend_schema(
        request=SignupRequestSerializer, responses={201: LoginSessionSerializer}
    )
    def post(self, request: Request) -> Response:
        """Sign up and log in; 5 attempts an hour and address."""
        signup.require_signup_allowed(get_client_ip(request))
        if isinstance(request.data, dict):
            signup.validate_honeypot(request.data.get("website"))
        body = validate_body(SignupRequestSerializer, request)
        body.pop("website", None)
        member = signup.create_member(signup.SignupData(**body))
        return login_response(request, member, code=status.HTTP_201_CREATED)


class LoginView(APIView):
    permission_classes = [AllowAny]

    @extend_schema(request=LoginRequestSerializer, responses=LoginSessionSerializer)
    def post(self, request: Request) -> Response:
        """Log in by login id and password."""
        body = validate_body(LoginRequestSerializer, request)
        address = get_client_ip(request)
        member = login.authenticate_member(body["login_id"], body["password"], address)
        return login_response(request, member)


class IdpLoginView(APIView):
    permission_classes = [AllowAny]

    @extend_schema(
        request=IdTokenRequestSerializer, responses=IdpLoginSessionSerializer
    )
    def post(self, request: Request) -> Response:
        """Log in by the ID token of the identity provider."""
        body = validate_body(IdTokenRequestSerializer, request)
        found = idp_login.login_with_identity(
            idp_login.verify_id_token(body["id_token"])
        )
        extra = {"created": found.created, "linked": found.linked}
        return login_response(request, found.member, extra=extra)


class IdpClientIdView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(responses=IdpClientIdSerializer)
    def get(self, request: Request) -> Response:
        """The client id that ID tokens must be made for; empty when not set up."""
        return Response({"clientId": settings.IDP_CLIENT_ID})


class SignupEnabledView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(responses=SignupEnabledSerializer)
    def get(self, request: Request) -> Response:
        """Whether sign-up is open."""
        return Response({"enabled": is_signup_enabled()})


class LogoutView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request) -> Response:
        """End the session in both stores."""
        revoke_session(session_credentials(request).session.key_hash)
        return delete_session_cookie(Response(status=status.HTTP_204_NO_CONTENT))


class SessionView(APIView):
    permission_classes = [IsMember]

    @extend_schema(responses=SessionUserSerializer)
    def get(self, request: Request) -> Response:
        """The session user."""
        return Response(session_user_payload(current_member(request)))


def login_response(
    request: Request,
    member: Member,
    *,
    code: int = status.HTTP_200_OK,
    extra: dict[str, Any] | None = None,
) -> Response:
    """Start a session under a new key and end the one that came by cookie.

    A key that somebody planted in a browser, or that was used before, never becomes
    the key of the member who logs in.
    """
    presented = extract_session_key(request)
    if presented is not None and presented.is_from_cookie:
        revoke_session(hash_session_key(presented.key))
    key, expires_at = create_session_for_request(request, member)
    body = {
        "token": key,
        "expiresAt": expires_at,
        "member": MemberSerializer(member).data,
    }
    response = Response(body | (extra or {}), status=code)
    return set_session_cookie(response, key, expires_at)


def create_session_for_request(
    request: Request, member: Member
) -> tuple[str, datetime]:
    try:
        return create_session(
            member,
            ip_address=get_client_ip(request) or None,
            user_agent=request.META.get("HTTP_USER_AGENT", ""),
        )
    except StaleCredentialsError:
        raise InvalidCredentialsError from None


def set_session_cookie(response: Response, key: str, expires_at: datetime) -> Response:
    response.set_cookie(
        settings.SESSION_COOKIE_NAME,
        key,
        expires=expires_at,
        path=settings.SESSION_COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def delete_session_cookie(response: Response) -> Response:
    response.delete_cookie(
        settings.SESSION_COOKIE_NAME,
        path=settings.SESSION_COOKIE_PATH,
        samesite="Lax",
    )
    return response
