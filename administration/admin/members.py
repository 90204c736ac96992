"""Members in Django admin."""

import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
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
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.members.counters import count_members
from accounts.members.search import SEARCH_FIELDS, search_condition
from accounts.models import AuthSession, Member, PointHistory
from accounts.security.audit_log import CHANGE, log_admin_action
from accounts.security.events import SecurityEvent, log_security_event
from accounts.sessions.store import revoke_session
from administration.members import set_member_plan, set_member_role, set_member_status
from billing.admin import PRODUCTS, YES_OR_NO, PurchaseInline
from board.admin import CommentInline, PostInline
from board.admin_author import link_to_author
from core.admin.actions import Action, ActionAdmin, get_actor
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
from core.api.permissions import AdminRequiredError
from core.db.transactions import retry_on_conflict
from core.errors import DomainError

# Proxies wait for 30 to 60 seconds.
MAX_ACTION_SECONDS = 20.0
MAX_TOLD_ERRORS = 5
ROLES: Badges = {
    Member.Role.MEMBER: (_("Member"), ""),
    Member.Role.MODERATOR: (_("Moderator"), "info"),
    Member.Role.ADMIN: (_("Administrator"), "info"),
}
STATUSES: Badges = {
    Member.Status.ACTIVE: (_("Active"), "good"),
    Member.Status.SUSPENDED: (_("Suspended"), "bad"),
}
PLANS: Badges = {
    Member.Plan.FREE: (_("Free"), ""),
    Member.Plan.PREMIUM: (_("Premium"), "good"),
}
PROVIDERS: Badges = {
    Member.Provider.LOCAL: (_("Password"), ""),
    Member.Provider.IDP: (_("Google account"), ""),
}
REASONS: Badges = {
    PointHistory.Reason.POST: (_("Post"), ""),
    PointHistory.Reason.COMMENT: (_("Comment"), ""),
}


def make_action(
    change: Callable[[Member, int], Member],
    label: Text,
    question: Text,
    target_values: dict[str, Any],
    *,
    is_dangerous: bool = False,
) -> Action:
    """Return an action on members whose values differ from `target_values`."""

    def has_effect_on(member: Member) -> bool:
        return any(getattr(member, k) != value for k, value in target_values.items())

    def apply(request: HttpRequest, ids: Collection[int]) -> None:
        rows = Member.objects.only("login_id", *target_values).filter(pk__in=ids)
        members = list(rows.order_by("pk"))
        due = [member for member in members if has_effect_on(member)]
        change_members(request, partial(change, get_actor(request)), due, label)
        report_unchanged(request, len(members) - len(due))

    return Action(
        label,
        apply,
        question=question,
        has_effect_on=has_effect_on,
        is_dangerous=is_dangerous,
    )


def change_members(
    request: HttpRequest,
    change: Callable[[int], Member],
    members: Sequence[Member],
    label: Text,
) -> None:
    """Change each member in a transaction, and tell what was done to how many."""
    end = time.monotonic() + MAX_ACTION_SECONDS
    errors: list[str] = []
    refused = done = left = 0
    # A refused member does not stop the others.
    for place, member in enumerate(members):
        if time.monotonic() >= end:
            left = len(members) - place
            break
        try:
            change(member.pk)
        except AdminRequiredError as error:
            # The actor has lost the role meanwhile.
            errors.append(str(error.detail))
            left = len(members) - place
            break
        except DomainError as error:
            refused += 1
            errors.append(f"{member}: {error.detail}")
        else:
            done += 1
    for text in errors[:MAX_TOLD_ERRORS]:
        messages.error(request, text)
    report_members(request, label, members, done=done, refused=refused, left=left)


def report_members(
    request: HttpRequest,
    label: Text,
    members: Sequence[Member],
    *,
    done: int,
    refused: int,
    left: int,
) -> None:
    if done and len(members) == 1:
        text = gettext("{member}: {action}: done.")
        messages.success(request, text.format(member=members[0], action=label))
    elif done:
        text = ngettext(
            "{action}: {count} member: done.", "{action}: {count} members: done.", done
        )
        messages.success(request, text.format(action=label, count=f"{done:,}"))
    if refused > MAX_TOLD_ERRORS:
        text = gettext("{count} members in all were refused.")
        messages.error(request, text.format(count=f"{refused:,}"))
    if left:
        text = ngettext(
            "{count} is left: repeat the action to go on.",
            "{count} are left: repeat the action to go on.",
            left,
        )
        messages.warning(request, text.format(count=f"{left:,}"))


def report_unchanged(request: HttpRequest, count: int) -> None:
    text = ngettext(
        "{count} left as it is: it was so already.",
        "{count} left as they are: they were so already.",
        count,
    )
    if count:
        messages.warning(request, text.format(count=f"{count:,}"))


MEMBER_ACTIONS = {
    "set_premium": make_action(
        partial(set_member_plan, plan=Member.Plan.PREMIUM),
        _("Give Premium"),
        _("The member gets Premium without an end; the subscription data is cleared."),
        {"plan": Member.Plan.PREMIUM, "plan_expires_at": None},
    ),
    "set_free": make_action(
        partial(set_member_plan, plan=Member.Plan.FREE),
        _("End Premium"),
        _("The member loses Premium at once; the subscription data is cleared."),
        {"plan": Member.Plan.FREE, "plan_expires_at": None},
    ),
    "suspend": make_action(
        partial(set_member_status, status=Member.Status.SUSPENDED),
        _("Suspend"),
        _("All sessions end at once, and the member can no longer log in."),
        {"status": Member.Status.SUSPENDED},
        is_dangerous=True,
    ),
    "activate": make_action(
        partial(set_member_status, status=Member.Status.ACTIVE),
        _("Reactivate"),
        _("The member can log in again."),
        {"status": Member.Status.ACTIVE},
    ),
    "make_administrator": make_action(
        partial(set_member_role, role=Member.Role.ADMIN),
        _("Make administrator"),
        _("The member can use these pages and change all other members."),
        {"role": Member.Role.ADMIN},
    ),
    "make_moderator": make_action(
        partial(set_member_role, role=Member.Role.MODERATOR),
        _("Make moderator"),
        _("The member can use the pages of the board, and decides about reports."),
        {"role": Member.Role.MODERATOR},
    ),
    "make_member": make_action(
        partial(set_member_role, role=Member.Role.MEMBER),
        _("Remove staff role"),
        _("The member can no longer use these pages."),
        {"role": Member.Role.MEMBER},
    ),
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

    def list_row_links(self, request: HttpRequest, row: Any) -> list[tuple[str, Text]]:
        return [link_to_author(row.pk)]

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
        return [end_session, *super().get_urls()]

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
