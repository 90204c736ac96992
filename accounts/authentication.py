"""How a request presents its session: a bearer token, else the cookie."""

from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.models import Member
from accounts.sessions import LiveSession, find_session
from core.errors import CrossOriginError

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
SAFE_FETCH_SITES = frozenset({"same-origin", "none"})
BEARER_SCHEME = "bearer"


@dataclass(frozen=True, slots=True)
class PresentedSessionKey:
    """A session key and the way it came."""

    key: str
    is_from_cookie: bool


@dataclass(frozen=True, slots=True)
class SessionCredentials:
    """`request.auth` of a member who is logged in."""

    session: LiveSession
    is_from_cookie: bool


class SessionAuthentication(BaseAuthentication):
    """The member of the presented session; `request.user` is None without one."""

    def authenticate(
        self, request: Request
    ) -> tuple[Member, SessionCredentials] | None:
        presented = extract_session_key(request)
        if presented is None:
            return None
        live = find_session(presented.key)
        if live is None or live.member is None or not live.member.is_active:
            return None
        if presented.is_from_cookie and request.method not in SAFE_METHODS:
            require_same_origin(request)
        return live.member, SessionCredentials(live, presented.is_from_cookie)

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def current_member(request: Request) -> Member:
    """The member of a request that `IsMember` or a stricter class let in."""
    return cast("Member", request.user)


def session_credentials(request: Request) -> SessionCredentials:
    """How that member presented the session."""
    return cast("SessionCredentials", request.auth)


def extract_session_key(request: HttpRequest) -> PresentedSessionKey | None:
    """A bearer token decides alone; the cookie counts only without one."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == BEARER_SCHEME:
        return (
            PresentedSessionKey(token.strip(), is_from_cookie=False)
            if token.strip()
            else None
        )
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    return PresentedSessionKey(key, is_from_cookie=True) if key else None


def require_same_origin(request: HttpRequest) -> None:
    """Refuse an unsafe request that another site made a browser send.

    Judged by Sec-Fetch-Site, else by Origin; a client that sends neither is no
    browser (spec 1.7).
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        if site not in SAFE_FETCH_SITES:
            raise CrossOriginError
        return
    origin = request.headers.get("Origin")
    if origin is not None and origin not in _trusted_origins(request):
        raise CrossOriginError


def _trusted_origins(request: HttpRequest) -> set[str]:
    public = urlsplit(settings.PUBLIC_URL)
    return {
        f"{request.scheme}://{request.get_host()}",
        f"{public.scheme}://{public.netloc}",
    }


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Both ways in the OpenAPI document."""

    target_class = SessionAuthentication
    name = ["bearer", "cookie"]

    def get_security_definition(self, auto_schema: object) -> list[dict[str, str]]:
        return [
            {"type": "http", "scheme": BEARER_SCHEME},
            {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
        ]
