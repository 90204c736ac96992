"""Errors as pages for browsers (spec 7.7).

A page asks neither the database nor the session: it is shown while these are away.
"""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext

from core.errors import CrossOriginError, DomainError
from core.middleware import ADMIN_PREFIX
from core.response_headers import add_nonce

API_PREFIX = "/api"
PAGE_MEDIA_TYPE = "text/html"


def is_below(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(f"{prefix}/")


def prefers_page(request: HttpRequest, others: Sequence[str]) -> bool:
    """Return whether a page is preferred to the other media types.

    Addresses of the API answer none, with and without their prefix (spec 1.2).
    """
    if is_below(request.path_info, API_PREFIX):
        return False
    match = request.resolver_match
    if match is not None and hasattr(match.func, "cls"):
        return False
    # Of equal ones the first is preferred.
    preferred = request.get_preferred_type([*others, PAGE_MEDIA_TYPE])
    return preferred == PAGE_MEDIA_TYPE


def render_error_page(
    request: HttpRequest, problem: DomainError, title: str | Promise
) -> HttpResponse:
    context: dict[str, Any] = {
        "title": title,
        "detail": problem.detail,
        "language": get_language(),
        **add_nonce(request),
    }
    if problem.code == CrossOriginError.code:
        context["detail"] = gettext(
            "The form is no longer valid. Go back, load the page again and repeat it."
        )
    template = "error.html"
    if is_below(request.path_info, ADMIN_PREFIX):
        template = "admin/error.html"
        context |= {
            "site_title": admin.site.site_title,
            "site_header": admin.site.site_header,
        }
    # Without the request, since its user and messages would be read.
    return HttpResponse(render_to_string(template, context), status=problem.status)
