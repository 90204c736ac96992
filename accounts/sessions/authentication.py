"""Authentication of requests by session: bearer token, else cookie (spec 1.7)."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.models import Member
from accounts.sessions.store import LiveSession, find_session
from core.api.token_scopes import ScopeRequiredError, get_required_scope
from core.errors import CrossOriginError
from core.languages import use_language_of_member
from core.logging import current_client, member_id
from core.request_clients import MEMBER_ID_KEY
from core.session_keys import BEARER_SCHEME, find_session_key

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
SAFE_FETCH_SITES = frozenset({"same-origin", "none"})


@dataclass(frozen=True, slots=True)
class SessionCredentials:
    """The live session of a request: `request.auth`."""

    session: LiveSession
    is_from_cookie: bool


class SessionAuthentication(BaseAuthentication):
    """Authentication by session; `request.user` is None without a live session."""

    def authenticate(
        self, request: Request
    ) -> tuple[Member, SessionCredentials] | None:
        presented = find_session_key(request.META)
        if presented is None:
            return None
        session = find_session(presented.key)
        # The web server counts what a member uses, and learns whose key it is.
        request.META[MEMBER_ID_KEY] = None
        if session is None or session.member is None or not session.member.is_active:
            return None
        request.META[MEMBER_ID_KEY] = session.member.pk
        if session.scopes is not None:
            # Tokens are never in cookies.
            if presented.is_from_cookie:
                return None
            require_token_scope(session.scopes, request)
            drop_role(session.member)
        # Browsers attach cookies to requests of other sites.
        if presented.is_from_cookie and request.method not in SAFE_METHODS:
            require_same_origin(request)
        if (client := current_client.get()) is not None:
            client.session_key_hash = session.key_hash
        member_id.set(session.member.pk)
        use_language_of_member(request._request, session.member.locale)  # noqa: SLF001
        if presented.is_from_cookie and session.is_extended:
            # `SessionMiddleware` sees Django's request.
            django_request: Any = request._request  # noqa: SLF001
            django_request.session_extended_until = session.expires_at
        return session.member, SessionCredentials(session, presented.is_from_cookie)

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def current_member(request: Request) -> Member:
    """Return the member, in views with `IsMember` or stricter."""
    return cast("Member", request.user)


def session_credentials(request: Request) -> SessionCredentials:
    return cast("SessionCredentials", request.auth)


def session_key_hash(request: Request) -> str:
    return session_credentials(request).session.key_hash


def require_same_origin(request: HttpRequest) -> None:
    """Raise `CrossOriginError` for a request of another site (spec 1.7).

    A client without both headers is no browser.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        if site not in SAFE_FETCH_SITES:
            raise CrossOriginError
        return
    origin = request.headers.get("Origin")
    if origin is None:
        return
    public_url = urlsplit(settings.PUBLIC_URL)
    trusted_origins = {
        f"{request.scheme}://{request.get_host()}",
        f"{public_url.scheme}://{public_url.netloc}",
    }
    if origin not in trusted_origins:
        raise CrossOriginError


def require_token_scope(scopes: Collection[str], request: Request) -> None:
    """Raise `ScopeRequiredError` unless the token may use the operation.

    A view could forget a permission class, but not its authentication.
    """
    view = (request.parser_context or {}).get("view")
    required = get_required_scope(view, request.method or "")
    if required is None or required not in scopes:
        raise ScopeRequiredError(required)


def drop_role(member: Member) -> None:
    """Let a token act as a member: staff act in sessions only (spec 2.15).

    Premium that comes with the role stays, in this copy of the row.
    """
    if member.is_administrator:
        member.plan, member.plan_expires_at = Member.Plan.PREMIUM, None
    member.role = Member.Role.MEMBER


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = SessionAuthentication
    name = ["bearer", "cookie"]

    def get_security_requirement(self, auto_schema: object) -> list[dict[str, Any]]:
        return [{name: []} for name in self.name]

    def get_security_definition(self, auto_schema: object) -> list[dict[str, str]]:
        return [
            {"type": "http", "scheme": BEARER_SCHEME},
            {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
        ]
