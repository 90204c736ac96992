"""Headers of every response: Content-Security-Policy, caching and framing."""

import secrets
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from core.middleware import Middleware

HEADER = "Content-Security-Policy"
STRICT_POLICY = "default-src 'none'; frame-ancestors 'none'"
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'{nonce}; style-src 'self'{nonce}; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
NONCE_BYTES = 16


class ResponseHeadersMiddleware(Middleware):
    """Sets the headers of every response that a view has not set.

    One middleware, because each one takes time of its own.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        headers = response.headers
        if "Cache-Control" not in headers:
            headers["Cache-Control"] = "no-store"
        if "X-Frame-Options" not in headers:
            headers["X-Frame-Options"] = "DENY"
        if HEADER not in headers and (policy := choose_policy(request, response)):
            headers[HEADER] = policy
        return response


def choose_policy(request: HttpRequest, response: HttpResponseBase) -> str:
    """Return the Content-Security-Policy, "" for an error page of debug mode."""
    if not response.headers.get("Content-Type", "").startswith("text/html"):
        return STRICT_POLICY
    # They have inline blocks.
    if settings.DEBUG and response.status_code >= HTTPStatus.BAD_REQUEST:
        return ""
    nonce = getattr(request, "csp_nonce", "")
    return PAGE_POLICY.format(nonce=f" 'nonce-{nonce}'" if nonce else "")


def add_nonce(request: Any) -> dict[str, str]:
    # DRF's renderer wraps the middleware's request.
    request = getattr(request, "_request", request)
    if not hasattr(request, "csp_nonce"):
        request.csp_nonce = secrets.token_urlsafe(NONCE_BYTES)
    return {"csp_nonce": request.csp_nonce}
