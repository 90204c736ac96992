"""The site of Django admin, with the dashboard."""

import functools
import json
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.admin import models as admin_models
from django.core.exceptions import BadRequest
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy as _

from accounts.models import AuditLogEntry, Member
from accounts.security import audit_log
from accounts.security.events import SecurityEvent, log_security_event
from accounts.sessions.store import hash_session_key, revoke_sessions
from administration.admin_login import (
    AdminLoginForm,
    is_open_to,
    replace_wrong_next,
)
from administration.dashboard import build_dashboard
from administration.languages import get_staff_language
from administration.log import log_export
from administration.log_entries import (
    ACTIONS,
    TARGETS,
    describe_target,
    describe_text,
    link_to_target,
)
from administration.second_factor_setup import (
    SETUP_NAME,
    SecondFactorSetupView,
    needs_second_factor,
    redirect_to_setup,
)
from board.moderation.queue import MAX_SHOWN_CASES, count_open_cases
from core.admin.columns import badge_html
from core.admin.places import list_filters
from core.jobs.labels import RUN_COLUMNS

MAX_RECENT_ACTIONS = 10
# Django's actions in the audit log.
LOGGED_ACTIONS = {
    admin_models.ADDITION: audit_log.ADDITION,
    admin_models.CHANGE: audit_log.CHANGE,
    admin_models.DELETION: audit_log.DELETION,
}


class ServiceAdminSite(AdminSite):
    site_header = _("Household Ledger administration")
    site_title = _("Household Ledger")
    index_title = _("Administration")
    login_form = AdminLoginForm
    login_template = "admin/two_step_login.html"
    site_url = "/"

    def log_change(
        self, request: HttpRequest, target: Model, action_flag: int, message: Any
    ) -> None:
        """Log a change of one of Django's own pages."""
        # Django's own messages are JSON lists: "Changed Enabled."
        text = message if isinstance(message, str) else json.dumps(message)
        with translation.override(settings.LANGUAGE_CODE):
            text = admin_models.LogEntry(change_message=text).get_change_message()
        actor = cast("Member", request.user)
        audit_log.log_admin_action(actor, target, LOGGED_ACTIONS[action_flag], text)

    def log_export(
        self, request: HttpRequest, model: type[Model], rows: QuerySet[Any]
    ) -> None:
        """Log an export, which holds data of members, with its filter and rows."""
        log_security_event(
            SecurityEvent.LIST_EXPORTED, request.user.pk, list=model._meta.label
        )
        actor = cast("Member", request.user)
        log_export(actor, model, rows.count(), list_filters(request))

    def history_url(self, model: type[Model], object_id: str) -> str:
        """Return the URL of an object's audit log."""
        query = {"target_type": model._meta.label, "target_id": object_id}
        return (
            f"{reverse('admin:accounts_auditlogentry_changelist')}?{urlencode(query)}"
        )

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and not needs_second_factor(request)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        context = super().each_context(request)
        # Only for staff who are logged in: the header of each page has the queue.
        context["open_cases"] = show_open_cases() if context["has_permission"] else None
        return context

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        replace_wrong_next(request)
        response = super().login(request, extra_context)
        location = response.headers.get("Location", "")
        member: Any = request.user
        if not location or not member.is_authenticated or member.is_administrator:
            return response
        # The dashboard has nothing for moderators, who come for the queue.
        if location != reverse("admin:index") and is_open_to(member, location):
            return response
        return HttpResponseRedirect(reverse("admin:board_moderationcase_changelist"))

    def get_urls(self) -> list[Any]:
        setup = path(
            "second-factor/",
            SecondFactorSetupView.as_view(admin_site=self),
            name=SETUP_NAME,
        )
        return [setup, *super().get_urls()]

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Wrap an admin view with its language; NUL characters are 400."""
        guarded = super().admin_view(view, cacheable)

        @functools.wraps(guarded)
        def prepare(request: HttpRequest, *args: Any, **options: Any) -> Any:
            # `LanguageMiddleware` deactivates it, after templates have been rendered.
            translation.activate(get_staff_language(request))
            # PostgreSQL's text types cannot hold NUL.
            if any("\0" in text for text in list_request_strings(request)):
                raise BadRequest("NUL characters are not allowed.")
            if needs_second_factor(request):
                if request.path == reverse("admin:logout"):
                    return self.logout(request)
                return redirect_to_setup(request)
            return guarded(request, *args, **options)

        return prepare

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        member = cast("Member", request.user)
        own_actions = AuditLogEntry.objects.filter(actor_id=member.pk)
        # Revenue and members are for administrators.
        is_whole = member.is_administrator
        dashboard = build_dashboard(timezone.now()) if is_whole else None
        runs = dashboard.runs if dashboard else None
        context = {
            "dashboard": dashboard,
            "run_columns": RUN_COLUMNS,
            "run_rows": None
            if runs is None
            else [[(c.short_description, c(run)) for c in RUN_COLUMNS] for run in runs],
            "recent_actions": [
                {
                    "action": badge_html(*ACTIONS[entry.action]),
                    "kind": TARGETS.get(entry.target_type, (entry.target_type, ""))[0],
                    "target": link_to_target(entry)
                    if member.has_module_perms(entry.target_type.partition(".")[0])
                    else describe_target(entry),
                    "text": describe_text(entry),
                }
                for entry in own_actions.order_by("-id")[:MAX_RECENT_ACTIONS]
            ],
            **(extra_context or {}),
        }
        return super().index(request, context)

    def password_change(  # type: ignore[override]  # it redirects on success
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Change the password and revoke other sessions."""
        response = super().password_change(request, extra_context)
        if request.method == "POST" and response.status_code == HTTPStatus.FOUND:
            kept = hash_session_key(request.session.session_key or "")
            member = cast("Member", request.user)
            revoke_sessions(member, except_key_hash=kept, keep_tokens=True)
            log_security_event(SecurityEvent.PASSWORD_CHANGED, member.pk)
        return response


def show_open_cases() -> str:
    """Return the number of open cases, up to "99+"; "" for none."""
    count = count_open_cases()
    return f"{MAX_SHOWN_CASES}+" if count > MAX_SHOWN_CASES else f"{count or ''}"


def list_request_strings(request: HttpRequest) -> list[str]:
    strings = [request.path]
    for params in (request.GET, request.POST):
        for _name, values in params.lists():
            strings += values
    return strings
