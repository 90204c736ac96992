"""Sign-up, login, logout, session."""

from django.conf import settings
from django.utils import timezone
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

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
    SwitchedOffError,
)
from accounts.legal.consents import list_due_if_known, summary_payload
from accounts.login.identity_login import login_with_id_token
from accounts.login.login import LoggedIn, complete_login, log_in
from accounts.login.password import authenticate_member
from accounts.login.serializers import (
    MAX_ID_TOKEN_BYTES,
    CompletedLoginSessionSerializer,
    IdpClientIdSerializer,
    IdpLoginSessionSerializer,
    IdTokenRequestSerializer,
    LoginRequestSerializer,
    LoginSessionSerializer,
    SecondFactorLoginRequestSerializer,
    SignupEnabledSerializer,
)
from accounts.login.tickets import SecondFactorRequired
from accounts.members.serializers import (
    MemberSerializer,
    SessionUserSerializer,
    SignupRequestSerializer,
    session_user_payload,
)
from accounts.sessions.authentication import (
    current_member,
    session_key_hash,
)
from accounts.sessions.cookies import delete_session_cookie, set_session_cookie
from accounts.sessions.listing import log_out
from accounts.sessions.store import hash_session_key, revoke_session
from accounts.signup import signup
from accounts.signup.setting import is_signup_enabled
from core.api.exception_handler import AuthenticationRequiredError
from core.api.operations import extend_schema
from core.api.permissions import AllowAny, IsMember
from core.api.serializers import validate_body
from core.api.views import APIView, ViewSet
from core.client_ip import get_client_ip
from core.errors import (
    DuplicateError,
    ProviderUnavailableError,
    RateLimitedError,
    ReadOnlyError,
)
from core.languages import choose_language_of
from core.logging import member_id
from core.session_keys import find_session_key


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
        ]
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
        # A filled honeypot precedes errors of validation.
        if isinstance(request.data, dict):
            signup.validate_honeypot(request.data.get("website"))
        body = validate_body(SignupRequestSerializer, request)
        body.pop("website", None)
        device_name, consents = body.pop("device_name"), body.pop("consents")
        member = signup.create_member(
            signup.SignupData(**body, locale=choose_language_of(request)),
            consents,
            get_client_ip(request),
        )
        result = log_in(member, device_name=device_name)
        return login_response(request, result, code=status.HTTP_201_CREATED)


class LoginView(APIView):
    permission_classes = [AllowAny]
    schema_tag = "Sessions"
    works_read_only = True
    raises = {
        "post": [
            AuthenticationRequiredError,
            InvalidCredentialsError,
            SecondFactorRequiredError,
            MemberSuspendedError,
            RateLimitedError,
        ]
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
        member = authenticate_member(
            body["login_id"], body["password"], get_client_ip(request)
        )
        result = log_in(member, device_name=body["device_name"])
        return login_response(request, result)


class IdpLoginView(APIView):
    permission_classes = [AllowAny]
    schema_tag = "Sessions"
    works_read_only = True
    body_limits = {"post": MAX_ID_TOKEN_BYTES}
    raises = {
        "post": [
            AuthenticationRequiredError,
            IdentityProviderNotConfiguredError,
            InvalidIdTokenError,
            InvalidCredentialsError,
            SecondFactorRequiredError,
            SwitchedOffError,
            ReadOnlyError,
            SignupDisabledError,
            LinkingRefusedError,
            MemberSuspendedError,
            RateLimitedError,
            ProviderUnavailableError,
        ]
    }

    @extend_schema(
        operation_id="logInWithIdp",
        request=IdTokenRequestSerializer,
        responses=IdpLoginSessionSerializer,
    )
    def post(self, request: Request) -> Response:
        """Log in with an ID token of the identity provider.

        A `nonce` that is sent must equal the one in the token. An account with a second
        factor is linked only after its code; where it has never verified the address,
        401 `SECOND_FACTOR_REQUIRED` has `addressProved: false`, and `link: false` makes
        an account of its own.
        """
        body = validate_body(IdTokenRequestSerializer, request)
        found = login_with_id_token(
            body["id_token"],
            body.get("nonce"),
            get_client_ip(request),
            locale=choose_language_of(request),
            may_link=body["link"],
            consents=body["consents"],
        )
        result = log_in(
            found.member,
            device_name=body["device_name"],
            extra={"created": found.created, "linked": found.linked},
            identity=found.identity,
        )
        return login_response(request, result)


class SecondFactorLoginView(APIView):
    permission_classes = [AllowAny]
    schema_tag = "Sessions"
    works_read_only = True
    raises = {
        "post": [
            AuthenticationRequiredError,
            CodeInvalidError,
            InvalidCredentialsError,
            SwitchedOffError,
            ReadOnlyError,
            LinkingRefusedError,
            RateLimitedError,
        ]
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
        result = complete_login(
            body["ticket"], body["code"], get_client_ip(request), timezone.now()
        )
        return login_response(request, result)


class LoginOptionsViewSet(ViewSet):
    authentication_classes = []
    permission_classes = [AllowAny]
    schema_tag = "Sessions"

    @extend_schema(responses=IdpClientIdSerializer)
    @action(detail=False, url_path="idp-client-id")
    def get_idp_client_id(self, request: Request) -> Response:
        """Get the client id for the identity provider.

        The audience of ID tokens; empty if the provider is not configured.
        """
        return Response({"clientId": settings.IDP_CLIENT_ID})

    @extend_schema(responses=SignupEnabledSerializer)
    @action(detail=False, url_path="signup-enabled")
    def get_signup_enabled(self, request: Request) -> Response:
        """Check whether sign-up is open.

        Public. An administrator may have closed it.
        """
        return Response({"enabled": is_signup_enabled()})


class CurrentSessionViewSet(ViewSet):
    permission_classes = [IsMember]
    schema_tag = "Sessions"
    works_read_only = True

    @extend_schema(request=None, responses={204: None})
    @action(detail=False, methods=["post"], url_path="logout")
    def log_out(self, request: Request) -> Response:
        """Log out.

        Ends the session and deletes the session cookie.
        """
        log_out(current_member(request), session_key_hash(request))
        response = Response(status=status.HTTP_204_NO_CONTENT)
        delete_session_cookie(response)
        return response

    @extend_schema(responses=SessionUserSerializer)
    @action(detail=False, url_path="session")
    def get_session(self, request: Request) -> Response:
        """Get the session user.

        The member who is logged in, with the plan that is in force now.
        """
        member = current_member(request)
        due = list_due_if_known(member, choose_language_of(request), timezone.now())
        consents = [summary_payload(each) for each in due]
        return Response(session_user_payload(member) | {"consentsDue": consents})


def login_response(
    request: Request,
    result: LoggedIn | SecondFactorRequired,
    *,
    code: int = status.HTTP_200_OK,
) -> Response:
    if isinstance(result, SecondFactorRequired):
        members = {
            "ticket": result.ticket,
            "methods": result.methods,
            "expiresAt": result.expires_at,
        }
        if not result.is_address_proved:
            members["addressProved"] = False
        raise SecondFactorRequiredError(members=members)
    # The cookie's old session ends, against session fixation.
    presented = find_session_key(request.META)
    if presented is not None and presented.is_from_cookie:
        revoke_session(hash_session_key(presented.key))
    member_id.set(result.member.pk)
    payload = {
        "token": result.key,
        "expiresAt": result.expires_at,
        "member": MemberSerializer(result.member).data,
    }
    response = Response(payload | result.extra, status=code)
    set_session_cookie(response, result.key, result.expires_at)
    return response
