"""Members in Django admin."""

from typing import Any, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.members.counters import count_members
from accounts.members.search import SEARCH_FIELDS, search_condition
from accounts.models import AuthSession, Member, PointHistory
from accounts.security.audit_log import CHANGE, log_admin_action
from accounts.security.events import SecurityEvent, log_security_event
from accounts.sessions.store import revoke_session
from administration.admin import member_deeds, support
from administration.admin.member_actions import MEMBER_ACTIONS
from administration.admin.member_columns import PLANS, PROVIDERS, ROLES, STATUSES
from billing.admin import PRODUCTS, YES_OR_NO, PurchaseInline
from board.admin import CommentInline, PostInline
from board.admin_author import link_to_author
from core.admin.actions import ActionAdmin, RowLink, get_actor
from core.admin.base import CappedPaginator, NewestInline
from core.admin.columns import (
    Badges,
    Column,
    Text,
    badge_column,
    number_column,
    state_column,
    text_column,
    time_column,
)
from core.admin.filters import badge_filter
from core.db.transactions import retry_on_conflict

REASONS: Badges = {
    PointHistory.Reason.POST: (_("Post"), ""),
    PointHistory.Reason.COMMENT: (_("Comment"), ""),
}


class MemberPaginator(CappedPaginator):
    """Paginator with the stored count of an unfiltered list."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        if rows.query.where:
            return int(super().count)
        return count_members(timezone.now())


def end_button(session: AuthSession) -> SafeString:
    url = reverse(
        "admin:accounts_member_end_session", args=[session.member_id, session.key_hash]
    )
    return format_html(
        '<button type="submit" class="button small" formaction="{}">{}</button>',
        *(url, gettext("End")),
    )


class SessionInline(NewestInline):
    model = AuthSession
    verbose_name_plural = _("newest sessions")
    columns = [
        time_column("last_seen_at", _("Last used")),
        text_column("user_agent", _("App or browser")),
        text_column("ip_address", _("Address")),
        time_column("created_at", _("Logged in")),
        time_column("expires_at", _("Ends")),
        Column("end", _("End"), lambda session: "", get_html=end_button),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuthSession]:
        rows: QuerySet[AuthSession] = super().get_queryset(request)
        return rows.filter(kind=AuthSession.Kind.SESSION)


class PointInline(NewestInline):
    model = PointHistory
    verbose_name_plural = _("newest points")
    columns = [
        time_column("created_at", _("Given")),
        number_column("points", _("Points")),
        badge_column("reason", _("For"), REASONS),
    ]


def list_states(member: Member) -> list[tuple[Text, str]]:
    """Return the badges of a member in lists: only deviations from the normal case."""
    states: list[tuple[Text, str]] = []
    if member.status != Member.Status.ACTIVE:
        states.append(STATUSES[member.status])
    if member.role != Member.Role.MEMBER:
        states.append(ROLES[member.role])
    return states


LOGIN_ID = text_column("login_id", _("Login ID"))
NAME = text_column("display_name", _("Name"))
EMAIL = text_column("email", _("Email"), order="email_normalized")
STATE = state_column("state", _("State"), list_states)
ROLE = badge_column("role", _("Role"), ROLES)
STATUS = badge_column("status", _("Status"), STATUSES)
# Like the API, an expired plan is free before the job has run.
PLAN = state_column(
    "plan", _("Plan"), lambda member: [PLANS[member.effective_plan(timezone.now())]]
)
PLAN_ENDS = time_column("plan_expires_at", _("Plan ends"))
JOINED = time_column("created_at", _("Joined"), order="id")


@admin.register(Member)
class MemberAdmin(ActionAdmin):
    """Read-only details of members: neither the password hash nor ledger data."""

    paginator = MemberPaginator
    list_display = [LOGIN_ID, NAME, EMAIL, STATE, PLAN, PLAN_ENDS, JOINED]
    list_filter = [
        badge_filter("role", _("Role"), ROLES),
        badge_filter("status", _("Status"), STATUSES),
        badge_filter("plan", _("Plan"), PLANS),
        badge_filter("provider", _("Logs in by"), PROVIDERS),
    ]
    # Django shows the field; `get_search_results` searches.
    search_fields = SEARCH_FIELDS
    search_help_text = _("Words that login ID, name or email contain.")
    ordering = ["-id"]
    fields = [
        (LOGIN_ID, NAME, EMAIL),
        (STATUS, ROLE, badge_column("provider", _("Logs in by"), PROVIDERS)),
        (
            PLAN,
            PLAN_ENDS,
            badge_column("plan_product", _("Product"), PRODUCTS),
            badge_column("plan_auto_renew", _("Renews itself"), YES_OR_NO),
        ),
        (number_column("points", _("Points")), JOINED),
    ]
    export_columns = [
        text_column("id", _("Number")),
        *(LOGIN_ID, NAME, EMAIL, ROLE, STATUS, PLAN, PLAN_ENDS, JOINED),
    ]
    inlines = [PurchaseInline, SessionInline, PostInline, CommentInline, PointInline]
    row_actions = MEMBER_ACTIONS
    leads_to_row = True

    def get_object_name(self, row: Member) -> str:
        return row.login_id

    def describe_row(self, row: Member) -> str:
        states = [ROLES[row.role], STATUSES[row.status], PLANS[row.plan]]
        return f"{row.display_name} ({row.email}): " + ", ".join(
            str(text) for text, _tone in states
        )

    def may_act_on(self, request: HttpRequest, row: Member) -> bool:
        return bool(row.pk != get_actor(request).pk)

    def list_row_links(self, request: HttpRequest, row: Any) -> list[RowLink]:
        return [
            RowLink(support.support_url(row.pk), _("Support view")),
            *member_deeds.list_deed_links(request, row, timezone.now()),
            link_to_author(row.pk),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Member]:
        rows: QuerySet[Member] = super().get_queryset(request)
        return rows.defer("profile_image", "password")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Member], search_term: str
    ) -> tuple[QuerySet[Member], bool]:
        for word in search_term.split():
            queryset = queryset.filter(search_condition(word))
        return queryset, False

    def get_urls(self) -> list[URLPattern]:
        end_session = path(
            "<int:member_id>/sessions/<str:key_hash>/end",
            self.admin_site.admin_view(require_POST(self.revoke_session)),
            name="accounts_member_end_session",
        )
        deed = path(
            "<int:member_id>/deeds/<slug:name>/",
            self.admin_site.admin_view(
                member_deeds.MemberDeedView.as_view(model_admin=self)
            ),
            name=member_deeds.URL_NAME,
        )
        support_view = path(
            "<int:member_id>/support/",
            self.admin_site.admin_view(support.SupportView.as_view(model_admin=self)),
            name=support.URL_NAME,
        )
        return [end_session, deed, support_view, *super().get_urls()]

    @retry_on_conflict
    def revoke_session(
        self, request: HttpRequest, member_id: int, key_hash: str
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = AuthSession.objects.select_related("member")
        session = get_object_or_404(rows, member_id=member_id, key_hash=key_hash)
        with transaction.atomic():
            revoke_session(key_hash)
            log_security_event(SecurityEvent.SESSIONS_ENDED, member_id, ended=1)
            log_admin_action(
                get_actor(request),
                cast("Member", session.member),
                CHANGE,
                "Session ended.",
            )
        messages.success(request, gettext("The session has ended."))
        return HttpResponseRedirect(
            reverse("admin:accounts_member_change", args=[member_id])
        )
