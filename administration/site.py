"""The Django admin of this service; its index is the dashboard."""

import functools
from http import HTTPStatus
from typing import Any, cast

from django.contrib.admin import AdminSite
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import BadRequest, ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from accounts.models import Member
from accounts.sessions import hash_session_key, revoke_sessions
from administration.dashboard import build_dashboard
from core.errors import RateLimitedError


class AdminLoginForm(AdminAuthenticationForm):
    """The same limited login as the API's; a refusal shows as a form error."""

    def clean(self) -> dict[str, Any]:
        try:
            return super().clean()
        except RateLimitedError as refusal:
            raise ValidationError(refusal.detail) from refusal


class ServiceAdminSite(AdminSite):
    """Django's site; a password changed here ends the member's other sessions."""

    site_header = "Household Ledger administration"
    site_title = "Household Ledger"
    index_title = "Administration"
    login_form = AdminLoginForm
    site_url = "/"

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """No text with NUL gets further: PostgreSQL's text cannot hold it."""
        guarded = super().admin_view(view, cacheable)

        @functools.wraps(guarded)
        def refuse_nul(request: HttpRequest, *args: Any, **options: Any) -> Any:
            if any("\0" in text for text in list_request_strings(request)):
                raise BadRequest("There is a NUL in it.")
            return guarded(request, *args, **options)

        return refuse_nul

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """The list of what can be administered, below the dashboard."""
        dashboard = build_dashboard(timezone.now())
        return super().index(request, {"dashboard": dashboard, **(extra_context or {})})

    def password_change(  # type: ignore[override]  # it redirects on success
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().password_change(request, extra_context)
        if request.method == "POST" and response.status_code == HTTPStatus.FOUND:
            kept = hash_session_key(request.session.session_key or "")
            revoke_sessions(cast("Member", request.user), except_digest=kept)
        return response


def list_request_strings(request: HttpRequest) -> list[str]:
    """The address, and the values of query and form."""
    texts = [request.path]
    for given in (request.GET, request.POST):
        for _, values in given.lists():
            texts += values
    return texts
