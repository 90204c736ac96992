"""Refusal of changes while the service is read-only (spec 7.11)."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from accounts.switches.switches import KNOWN
from core.api.exception_handler import error_response
from core.errors import ReadOnlyError
from core.middleware import Middleware

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
# Pages of Django admin by which administrators log in and turn the switch off.
OPEN_PAGES = frozenset(
    {
        "admin:login",
        "admin:logout",
        "admin:second_factor",
        "admin:accounts_applicationsetting_changelist",
        "admin:accounts_applicationsetting_change",
    }
)


class ReadOnlyMiddleware(Middleware):
    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., Any],
        arguments: Any,
        options: Any,
    ) -> HttpResponseBase | None:
        if request.method in SAFE_METHODS or is_open(request, view):
            return None
        if not KNOWN.get().read_only:
            return None
        response = error_response(request, ReadOnlyError())
        # Meant by an administrator: no error line for each request.
        setattr(response, "_has_been_logged", True)  # noqa: B010 - of Django
        return response


def is_open(request: HttpRequest, view: Callable[..., Any]) -> bool:
    """Return whether the view changes something even then."""
    match = request.resolver_match
    is_page = match is not None and match.view_name in OPEN_PAGES
    view_class = getattr(view, "cls", None)
    return is_page or getattr(view_class, "works_read_only", False)
