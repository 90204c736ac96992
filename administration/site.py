"""Django admin site of this service; its index shows the dashboard."""

import functools
import json
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib.admin import AdminSite
from django.contrib.admin import models as admin_models
from django.core.exceptions import BadRequest
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone

from accounts import audit_log
from accounts.models import AuditLogEntry, Member
from accounts.security_events import SecurityEvent, log_security_event
from accounts.sessions import hash_session_key, revoke_sessions
from administration.admin_login import AdminLoginForm
from administration.dashboard import build_dashboard
from administration.second_factor_setup import (
    SETUP_NAME,
    SecondFactorSetupView,
    needs_second_factor,
    redirect_to_setup,
)

MAX_RECENT_ACTIONS = 10
# The actions of Django admin's pages in the audit log.
ACTIONS = {
    admin_models.ADDITION: audit_log.ADDITION,
    admin_models.CHANGE: audit_log.CHANGE,
    admin_models.DELETION: audit_log.DELETION,
}


class ServiceAdminSite(AdminSite):
    """Django's admin site with the dashboard and the session rules of the service."""

    site_header = "Household Ledger administration"
    site_title = "Household Ledger"
    index_title = "Administration"
    login_form = AdminLoginForm
    login_template = "admin/two_step_login.html"
    site_url = "/"

    def log_change(
        self, request: HttpRequest, target: Model, action_flag: int, message: Any
    ) -> None:
        """Write a change of one of Django's own pages to the audit log."""
        # A list that Django words: 'Changed Enabled.'
        text = message if isinstance(message, str) else json.dumps(message)
        text = admin_models.LogEntry(change_message=text).get_change_message()
        actor = cast("Member", request.user)
        audit_log.log_admin_action(actor, target, ACTIONS[action_flag], text)

    def history_url(self, model: type[Model], object_id: str) -> str:
        """Return the address of the entries of the audit log about an object."""
        query = {"target_type": model._meta.label, "target_id": object_id}
        return (
            f"{reverse('admin:accounts_auditlogentry_changelist')}?{urlencode(query)}"
        )

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and not needs_second_factor(request)

    def get_urls(self) -> list[Any]:
        setup = path(
            "second-factor/",
            SecondFactorSetupView.as_view(admin_site=self),
            name=SETUP_NAME,
        )
        return [setup, *super().get_urls()]

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Wrap an admin view to answer 400 to requests that contain NUL characters."""
        guarded = super().admin_view(view, cacheable)

        @functools.wraps(guarded)
        def refuse_nul(request: HttpRequest, *args: Any, **options: Any) -> Any:
            # PostgreSQL's text types cannot hold NUL.
            if any("\0" in text for text in list_request_strings(request)):
                raise BadRequest("NUL characters are not allowed.")
            if needs_second_factor(request):
                if request.path == reverse("admin:logout"):
                    return self.logout(request)
                return redirect_to_setup(request)
            return guarded(request, *args, **options)

        return refuse_nul

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Show the dashboard above the list of models, and what the caller did last."""
        own_actions = AuditLogEntry.objects.filter(
            actor_id=cast("int", request.user.pk)
        )
        context = {
            "dashboard": build_dashboard(timezone.now()),
            "recent_actions": own_actions.order_by("-id")[:MAX_RECENT_ACTIONS],
            **(extra_context or {}),
        }
        return super().index(request, context)

    def password_change(  # type: ignore[override]  # it redirects on success
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Change the own password and revoke the member's other sessions."""
        response = super().password_change(request, extra_context)
        if request.method == "POST" and response.status_code == HTTPStatus.FOUND:
            kept = hash_session_key(request.session.session_key or "")
            member = cast("Member", request.user)
            revoke_sessions(member, except_key_hash=kept, keep_tokens=True)
            log_security_event(SecurityEvent.PASSWORD_CHANGED, member.pk)
        return response


def list_request_strings(request: HttpRequest) -> list[str]:
    """Return the path and all values of the query and the form."""
    strings = [request.path]
    for params in (request.GET, request.POST):
        for _, values in params.lists():
            strings += values
    return strings
