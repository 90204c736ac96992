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
from core.errors import CrossOrigin

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
SAME_SITE = frozenset({"same-origin", "none"})
BEARER = "bearer"


@dataclass(frozen=True, slots=True)
class Presented:
    """A session key and the way it came."""

    key: str
    by_cookie: bool


@dataclass(frozen=True, slots=True)
class Credentials:
    """`request.auth` of a member who is logged in."""

    session: LiveSession
    by_cookie: bool


class SessionAuthentication(BaseAuthentication):
    """The member of the presented session; `request.user` is None without one."""

    def authenticate(self, request: Request) -> tuple[Member, Credentials] | None:
        presented = read_presented(request)
        if presented is None:
            return None
        live = find_session(presented.key)
        if live is None or live.member is None or not live.member.is_active:
            return None
        if presented.by_cookie and request.method not in SAFE_METHODS:
            require_same_origin(request)
        return live.member, Credentials(live, presented.by_cookie)

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def member_of(request: Request) -> Member:
    """The member of a request that `IsMember` or a stricter class let in."""
    return cast("Member", request.user)


def credentials_of(request: Request) -> Credentials:
    """How that member presented the session."""
    return cast("Credentials", request.auth)


def read_presented(request: HttpRequest) -> Presented | None:
    """A bearer token decides alone; the cookie counts only without one."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == BEARER:
        return Presented(token.strip(), by_cookie=False) if token.strip() else None
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    return Presented(key, by_cookie=True) if key else None


def require_same_origin(request: HttpRequest) -> None:
    """Refuse an unsafe request that another site made a browser send.

    Judged by Sec-Fetch-Site, else by Origin; a client that sends neither is no
    browser (contract, section 1, Session).
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        if site not in SAME_SITE:
            raise CrossOrigin
        return
    origin = request.headers.get("Origin")
    if origin is not None and origin not in _own_origins(request):
        raise CrossOrigin


def _own_origins(request: HttpRequest) -> set[str]:
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
            {"type": "http", "scheme": BEARER},
            {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
        ]
