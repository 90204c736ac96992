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
from accounts.authentication import credentials_of, member_of, read_presented
from accounts.errors import InvalidCredentials
from accounts.models import Member
from accounts.serializers.members import (
    MemberBody,
    SessionMemberBody,
    SignupBody,
    describe_session_member,
)
from accounts.serializers.sessions import (
    ClientIdBody,
    EnabledBody,
    IdentitySessionBody,
    IdTokenBody,
    LoginBody,
    SessionBody,
)
from accounts.sessions import (
    MemberChanged,
    digest_key,
    end_session,
    start_session,
)
from accounts.signup_setting import is_signup_enabled
from core.api.fields import read_body
from core.api.permissions import AllowAny, IsMember
from core.client_ip import read_client_address


class SignupView(APIView):
    permission_classes = [AllowAny]

    @extend_schema(request=SignupBody, responses={201: SessionBody})
    def post(self, request: Request) -> Response:
        """Sign up and log in; 5 attempts an hour and address."""
        signup.admit_attempt(read_client_address(request))
        if isinstance(request.data, dict):
            signup.refuse_programs(request.data.get("website"))
        body = read_body(SignupBody, request)
        body.pop("website", None)
        member = signup.create_member(signup.NewMember(**body))
        return answer_with_session(request, member, code=status.HTTP_201_CREATED)


class LoginView(APIView):
    permission_classes = [AllowAny]

    @extend_schema(request=LoginBody, responses=SessionBody)
    def post(self, request: Request) -> Response:
        """Log in by login id and password."""
        body = read_body(LoginBody, request)
        address = read_client_address(request)
        member = login.log_in(body["login_id"], body["password"], address)
        return answer_with_session(request, member)


class IdentityView(APIView):
    permission_classes = [AllowAny]

    @extend_schema(request=IdTokenBody, responses=IdentitySessionBody)
    def post(self, request: Request) -> Response:
        """Log in by the ID token of the identity provider."""
        body = read_body(IdTokenBody, request)
        found = idp_login.log_in_by_identity(idp_login.check_id_token(body["id_token"]))
        extra = {"created": found.created, "linked": found.linked}
        return answer_with_session(request, found.member, extra=extra)


class ClientIdView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(responses=ClientIdBody)
    def get(self, request: Request) -> Response:
        """The client id that ID tokens must be made for; empty when not set up."""
        return Response({"clientId": settings.IDP_CLIENT_ID})


class SignupEnabledView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(responses=EnabledBody)
    def get(self, request: Request) -> Response:
        """Whether sign-up is open."""
        return Response({"enabled": is_signup_enabled()})


class LogoutView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request) -> Response:
        """End the session in both stores."""
        end_session(credentials_of(request).session.digest)
        return forget_cookie(Response(status=status.HTTP_204_NO_CONTENT))


class SessionView(APIView):
    permission_classes = [IsMember]

    @extend_schema(responses=SessionMemberBody)
    def get(self, request: Request) -> Response:
        """The session user."""
        return Response(describe_session_member(member_of(request)))


def answer_with_session(
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
    presented = read_presented(request)
    if presented is not None and presented.by_cookie:
        end_session(digest_key(presented.key))
    key, expires_at = start_session_for(request, member)
    body = {"token": key, "expiresAt": expires_at, "member": MemberBody(member).data}
    response = Response(body | (extra or {}), status=code)
    return remember_in_cookie(response, key, expires_at)


def start_session_for(request: Request, member: Member) -> tuple[str, datetime]:
    try:
        return start_session(
            member,
            address=read_client_address(request) or None,
            user_agent=request.META.get("HTTP_USER_AGENT", ""),
        )
    except MemberChanged:
        raise InvalidCredentials from None


def remember_in_cookie(response: Response, key: str, expires_at: datetime) -> Response:
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


def forget_cookie(response: Response) -> Response:
    response.delete_cookie(
        settings.SESSION_COOKIE_NAME,
        path=settings.SESSION_COOKIE_PATH,
        samesite="Lax",
    )
    return response
