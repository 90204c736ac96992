"""The Content-Security-Policy of every response, and the nonce of inline blocks."""

import secrets
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from core.middleware import GetResponse

HEADER = "Content-Security-Policy"
# JSON, images and files are never pages: they load nothing and are in no frame.
STRICT_POLICY = "default-src 'none'; frame-ancestors 'none'"
# Pages load scripts and styles of this service. Swagger UI has icons in data URLs.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'{nonce}; style-src 'self'{nonce}; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
NONCE_BYTES = 16


class ContentSecurityPolicyMiddleware:
    """Sets the policy of each response whose view has not set one."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if HEADER in response.headers:
            return response
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers[HEADER] = STRICT_POLICY
        # Django's own error pages of debug mode are made of inline blocks.
        elif not (settings.DEBUG and response.status_code >= 400):
            nonce = getattr(request, "csp_nonce", "")
            response.headers[HEADER] = PAGE_POLICY.format(
                nonce=f" 'nonce-{nonce}'" if nonce else ""
            )
        return response


def add_nonce(request: Any) -> dict[str, str]:
    """Return the nonce of this response for templates (a context processor)."""
    # DRF's renderer passes its own request, which wraps the middleware's.
    request = getattr(request, "_request", request)
    if not hasattr(request, "csp_nonce"):
        request.csp_nonce = secrets.token_urlsafe(NONCE_BYTES)
    return {"csp_nonce": request.csp_nonce}
