"""Members in Django admin: search, details, and actions on plan, status and role."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from accounts.audit_log import CHANGE, log_admin_action
from accounts.member_counters import count_members
from accounts.member_search import SEARCH_FIELDS, search_condition
from accounts.models import AuthSession, Member, PointHistory
from accounts.security_events import SecurityEvent, log_security_event
from accounts.sessions import revoke_session
from administration.members import set_member_plan, set_member_role, set_member_status
from billing.admin import PurchaseInline
from core.admin import CappedPaginator, NewestInline, ReadOnlyAdmin
from core.db.transactions import retry_on_conflict
from core.errors import DomainError

MAX_BATCH_SIZE = 100


@dataclass(frozen=True, slots=True)
class MemberAction:
    """An action that staff can run on members, after a confirmation."""

    label: str
    description: str
    # Called with the acting administrator and the id of the member.
    apply: Callable[[Member, int], Member]
    # Values of a member whom the action would not change.
    target_values: dict[str, Any]

    def has_effect_on(self, member: Member) -> bool:
        """Return True if the action would change the member."""
        return any(
            getattr(member, k) != value for k, value in self.target_values.items()
        )


MEMBER_ACTIONS = {
    "set_premium": MemberAction(
        "Set plan PREMIUM",
        "The member gets PREMIUM without expiry; the subscription data is cleared.",
        partial(set_member_plan, plan=Member.Plan.PREMIUM),
        {"plan": Member.Plan.PREMIUM, "plan_expires_at": None},
    ),
    "set_free": MemberAction(
        "Set plan FREE",
        "The member loses PREMIUM at once; the subscription data is cleared.",
        partial(set_member_plan, plan=Member.Plan.FREE),
        {"plan": Member.Plan.FREE, "plan_expires_at": None},
    ),
    "suspend": MemberAction(
        "Suspend",
        "All sessions end at once, and the member can no longer log in.",
        partial(set_member_status, status=Member.Status.SUSPENDED),
        {"status": Member.Status.SUSPENDED},
    ),
    "activate": MemberAction(
        "Reactivate",
        "The member can log in again.",
        partial(set_member_status, status=Member.Status.ACTIVE),
        {"status": Member.Status.ACTIVE},
    ),
    "make_administrator": MemberAction(
        "Make administrator",
        "The member can use this admin and change all other members.",
        partial(set_member_role, role=Member.Role.ADMIN),
        {"role": Member.Role.ADMIN},
    ),
    "make_member": MemberAction(
        "Remove administrator role",
        "The member can no longer use this admin.",
        partial(set_member_role, role=Member.Role.MEMBER),
        {"role": Member.Role.MEMBER},
    ),
}


class MemberPaginator(CappedPaginator):
    """Paginator that takes the count of an unfiltered list from the counters."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        # Every query of members has the condition that the account is not closed.
        if rows.query.where != Member.objects.all().query.where:
            return int(super().count)
        return count_members(timezone.now())


class SessionInline(NewestInline):
    """The newest sessions of a member, with a button to end each."""

    model = AuthSession
    verbose_name_plural = "newest sessions"
    readonly_fields = (
        "created_at",
        "last_seen_at",
        "expires_at",
        "ip_address",
        "user_agent",
        "end",
    )
    fields = readonly_fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuthSession]:
        rows: QuerySet[AuthSession] = super().get_queryset(request)
        return rows.filter(kind=AuthSession.Kind.SESSION)

    @admin.display(description="")
    def end(self, session: AuthSession) -> SafeString:
        url = reverse(
            "admin:accounts_member_end_session",
            args=[session.member_id, session.key_hash],
        )
        return format_html(
            '<button type="submit" class="button" formaction="{}">End</button>', url
        )


class PointInline(NewestInline):
    """The newest point awards of a member."""

    model = PointHistory
    verbose_name_plural = "newest point awards"
    readonly_fields = ("created_at", "points", "reason")
    fields = readonly_fields


@admin.register(Member)
class MemberAdmin(ReadOnlyAdmin):
    """Read-only details of members: neither the password hash nor ledger data."""

    paginator = MemberPaginator
    list_display = [
        "login_id",
        "display_name",
        "email",
        "role",
        "status",
        "plan",
        "created_at",
    ]
    list_filter = ["role", "status", "plan", "provider"]
    # Shows the search box; `get_search_results` does the search.
    search_fields = SEARCH_FIELDS
    search_help_text = "Words that login id, name or email contain."
    ordering = ["-id"]
    fields = [
        ("login_id", "provider"),
        ("display_name", "email"),
        ("role", "status"),
        ("plan", "plan_expires_at"),
        ("plan_product", "plan_auto_renew"),
        ("points", "created_at"),
    ]
    inlines = [SessionInline, PointInline, PurchaseInline]
    change_form_template = "admin/accounts/member/change_form.html"

    class Media:
        css = {"all": ["administration/member.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Member]:
        rows: QuerySet[Member] = super().get_queryset(request)
        return rows.defer("profile_image", "password")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Member], search_term: str
    ) -> tuple[QuerySet[Member], bool]:
        """Search as the administrators' API does."""
        for word in search_term.split():
            queryset = queryset.filter(search_condition(word))
        return queryset, False

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {
            name: (partial(_confirm_or_apply, name), name, action.label)
            for name, action in MEMBER_ACTIONS.items()
        }

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
        """End one session of the member."""
        rows = AuthSession.objects.select_related("member")
        session = get_object_or_404(rows, member_id=member_id, key_hash=key_hash)
        with transaction.atomic():
            revoke_session(key_hash)
            log_security_event(SecurityEvent.SESSIONS_ENDED, member_id, ended=1)
            log_admin_action(
                _actor(request),
                cast("Member", session.member),
                CHANGE,
                "Session ended.",
            )
        messages.success(request, "The session has ended.")
        return HttpResponseRedirect(_change_url(member_id))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any
    ) -> HttpResponse:
        member = context["original"]
        if member is not None and member.pk != _actor(request).pk:
            context["member_actions"] = {
                name: action
                for name, action in MEMBER_ACTIONS.items()
                if action.has_effect_on(member)
            }
        return super().render_change_form(request, context, *args, **options)


def _confirm_or_apply(
    name: str, model_admin: MemberAdmin, request: HttpRequest, rows: QuerySet[Member]
) -> HttpResponse | None:
    """Show the confirmation page, or apply the confirmed action to each member."""
    action = MEMBER_ACTIONS[name]
    selected = list(rows.order_by("pk")[: MAX_BATCH_SIZE + 1])
    if len(selected) > MAX_BATCH_SIZE:
        messages.error(request, f"Select at most {MAX_BATCH_SIZE} members at once.")
        return None
    if "confirmed" not in request.POST:
        context = {
            **model_admin.admin_site.each_context(request),
            "title": action.label,
            "opts": model_admin.opts,
            "member_action": action,
            "action_name": name,
            "selected": selected,
            "checkbox": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/accounts/member/confirm.html", context)
    # Each in its own transaction: a refused member does not hold up the others.
    for member in selected:
        try:
            action.apply(_actor(request), member.pk)
        except DomainError as error:
            messages.error(request, f"{member}: {error.detail}")
        else:
            messages.success(request, f"{member}: {action.label}: done.")
    # Back to the page of the member, or to the list.
    if len(selected) == 1:
        return HttpResponseRedirect(_change_url(selected[0].pk))
    return None


def _actor(request: HttpRequest) -> Member:
    return cast("Member", request.user)


def _change_url(member_id: int) -> str:
    return reverse("admin:accounts_member_change", args=[member_id])
