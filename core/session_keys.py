"""Where a request has its session key: bearer token, else cookie (spec 1.7)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import parse_cookie

BEARER_SCHEME = "bearer"


@dataclass(frozen=True, slots=True)
class PresentedSessionKey:
    key: str
    is_from_cookie: bool


def find_session_key(environ: Mapping[str, Any]) -> PresentedSessionKey | None:
    """Return the session key; a bearer header, even an empty one, hides the cookie."""
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == BEARER_SCHEME:
        key, is_from_cookie = token.strip(), False
    else:
        cookies = parse_cookie(environ.get("HTTP_COOKIE", ""))
        key, is_from_cookie = cookies.get(settings.SESSION_COOKIE_NAME, ""), True
    return PresentedSessionKey(key, is_from_cookie) if key else None
