"""The session cookie, and the middleware that renews it."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from core.middleware import NonApiSessionMiddleware


def set_session_cookie(
    response: HttpResponseBase, key: str, expires_at: datetime
) -> None:
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
    response.delete_cookie(
        settings.SESSION_COOKIE_NAME, path=settings.SESSION_COOKIE_PATH, samesite="Lax"
    )


class SessionMiddleware(NonApiSessionMiddleware):
    """Renews the cookie of an extended session."""

    def __call__(self, request: HttpRequest) -> Any:
        response = super().__call__(request)
        # `SessionAuthentication` sets it in the API, `SessionStore` elsewhere.
        expires_at = getattr(request, "session_extended_until", None) or getattr(
            getattr(request, "session", None), "extended_until", None
        )
        key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
        if (
            expires_at
            and key
            # A login, a logout or a new password has set it.
            and settings.SESSION_COOKIE_NAME not in response.cookies
            # A shared cache would share the cookie.
            and "public" not in response.get("Cache-Control", "")
        ):
            set_session_cookie(response, key, expires_at)
        return response
