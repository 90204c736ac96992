"""The cookie of a session, and the middleware that renews it."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from core.middleware import NonApiSessionMiddleware


def set_session_cookie(
    response: HttpResponseBase, key: str, expires_at: datetime
) -> None:
    """Add the cookie of a session to the response."""
    response.set_cookie(
        settings.SESSION_COOKIE_NAME,
        key,
        expires=expires_at,
        path=settings.SESSION_COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def delete_session_cookie(response: HttpResponseBase) -> None:
    """Make the browser forget the cookie."""
    response.delete_cookie(
        settings.SESSION_COOKIE_NAME,
        path=settings.SESSION_COOKIE_PATH,
        samesite="Lax",
    )


class SessionMiddleware(NonApiSessionMiddleware):
    """Renews the cookie when the expiry of its session was extended.

    The browser would otherwise drop it at the expiry that the session had at login.
    """

    def __call__(self, request: HttpRequest) -> Any:
        response = super().__call__(request)
        # Set by `SessionAuthentication` in the API, by `SessionStore` elsewhere.
        expires_at = getattr(request, "session_extended_until", None) or getattr(
            getattr(request, "session", None), "extended_until", None
        )
        key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
        if (
            expires_at
            and key
            # The response of a login, a logout, a new password.
            and settings.SESSION_COOKIE_NAME not in response.cookies
            # A shared cache would give the cookie to everybody.
            and "public" not in response.get("Cache-Control", "")
        ):
            set_session_cookie(response, key, expires_at)
        return response
