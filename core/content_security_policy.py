"""The Content-Security-Policy of every response."""

import secrets
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


class ContentSecurityPolicyMiddleware(Middleware):
    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if HEADER in response.headers:
            return response
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers[HEADER] = STRICT_POLICY
        # Django's error pages of debug mode have inline blocks.
        elif not (settings.DEBUG and response.status_code >= 400):
            nonce = getattr(request, "csp_nonce", "")
            response.headers[HEADER] = PAGE_POLICY.format(
                nonce=f" 'nonce-{nonce}'" if nonce else ""
            )
        return response


def add_nonce(request: Any) -> dict[str, str]:
    # DRF's renderer wraps the middleware's request.
    request = getattr(request, "_request", request)
    if not hasattr(request, "csp_nonce"):
        request.csp_nonce = secrets.token_urlsafe(NONCE_BYTES)
    return {"csp_nonce": request.csp_nonce}
