"""Members in Django admin: find them, see what they have, change plan and status."""

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
from accounts.sessions import revoke_session
from administration.members import set_member_plan, set_member_role, set_member_status
from billing.admin import PurchaseInline
from core.admin import CappedPaginator, NewestInline, ReadOnlyAdmin
from core.errors import DomainError

MAX_BATCH_SIZE = 100


@dataclass(frozen=True, slots=True)
class MemberAction:
    """One action on members: what it is called, what it means, what does it."""

    label: str
    meaning: str
    apply: Callable[[Member, int], Member]
    target_values: dict[str, Any]
    """What a member is who needs it no more."""

    def has_effect_on(self, member: Member) -> bool:
        """Whether it would change anything."""
        return any(
            getattr(member, k) != value for k, value in self.target_values.items()
        )


MEMBER_ACTIONS = {
    "set_premium": MemberAction(
        "Set plan PREMIUM",
        "The plan PREMIUM is permanent then; the subscription is forgotten.",
        partial(set_member_plan, plan=Member.Plan.PREMIUM),
        {"plan": Member.Plan.PREMIUM, "plan_expires_at": None},
    ),
    "set_free": MemberAction(
        "Set plan FREE",
        "The plan FREE counts at once; the subscription is forgotten.",
        partial(set_member_plan, plan=Member.Plan.FREE),
        {"plan": Member.Plan.FREE, "plan_expires_at": None},
    ),
    "suspend": MemberAction(
        "Suspend",
        "All sessions end at once, and nobody can log in to the account.",
        partial(set_member_status, status=Member.Status.SUSPENDED),
        {"status": Member.Status.SUSPENDED},
    ),
    "activate": MemberAction(
        "End the suspension",
        "The member can log in again.",
        partial(set_member_status, status=Member.Status.ACTIVE),
        {"status": Member.Status.ACTIVE},
    ),
    "make_administrator": MemberAction(
        "Make administrator",
        "They may change every member, and enter this admin.",
        partial(set_member_role, role=Member.Role.ADMIN),
        {"role": Member.Role.ADMIN},
    ),
    "make_member": MemberAction(
        "Make ordinary member",
        "They may no longer enter this admin.",
        partial(set_member_role, role=Member.Role.MEMBER),
        {"role": Member.Role.MEMBER},
    ),
}


class MemberPaginator(CappedPaginator):
    """Without a filter the count is a kept one."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        if rows.query.where:
            return int(super().count)
        return count_members(timezone.now())


class SessionInline(NewestInline):
    """Where the member is logged in; the button ends a session at once."""

    model = AuthSession
    verbose_name_plural = "newest sessions"
    readonly_fields = (
        "created_at",
        "last_seen_at",
        "expires_at",
        "address",
        "user_agent",
        "end",
    )
    fields = readonly_fields

    @admin.display(description="")
    def end(self, session: AuthSession) -> SafeString:
        address = reverse(
            "admin:accounts_member_end_session",
            args=[session.member_id, session.digest],
        )
        return format_html(
            '<button type="submit" class="button" formaction="{}">End</button>', address
        )


class PointInline(NewestInline):
    model = PointHistory
    verbose_name_plural = "newest awards of points"
    readonly_fields = ("created_at", "points", "reason")
    fields = readonly_fields


@admin.register(Member)
class MemberAdmin(ReadOnlyAdmin):
    """Only what is listed is shown: no password hash, nothing of the ledger."""

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
    search_fields = SEARCH_FIELDS  # shows the field; `get_search_results` searches
    search_help_text = "Words, each contained in login id, name or email."
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
        """As the API's list searches."""
        for word in search_term.split():
            queryset = queryset.filter(search_condition(word))
        return queryset, False

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {
            name: (partial(_confirm_or_apply, name), name, change.label)
            for name, change in MEMBER_ACTIONS.items()
        }

    def get_urls(self) -> list[URLPattern]:
        end = path(
            "<int:member_id>/sessions/<str:digest>/end",
            self.admin_site.admin_view(require_POST(self.revoke_session)),
            name="accounts_member_end_session",
        )
        return [end, *super().get_urls()]

    def revoke_session(
        self, request: HttpRequest, member_id: int, digest: str
    ) -> HttpResponse:
        """End one session of the member, at once."""
        rows = AuthSession.objects.select_related("member")
        session = get_object_or_404(rows, member_id=member_id, digest=digest)
        with transaction.atomic():
            revoke_session(digest)
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
            due = {
                name: c for name, c in MEMBER_ACTIONS.items() if c.has_effect_on(member)
            }
            context["changes"] = due
        return super().render_change_form(request, context, *args, **options)


def _confirm_or_apply(
    name: str, of: MemberAdmin, request: HttpRequest, rows: QuerySet[Member]
) -> HttpResponse | None:
    """First a page that says what will happen; then each member on their own."""
    chosen = list(rows.order_by("pk")[: MAX_BATCH_SIZE + 1])
    if len(chosen) > MAX_BATCH_SIZE:
        messages.error(request, f"Choose at most {MAX_BATCH_SIZE} members at once.")
        return None
    if "confirmed" not in request.POST:
        return _confirmation_page(name, of, request, chosen)
    for member in chosen:
        _apply_action(MEMBER_ACTIONS[name], request, member)
    return HttpResponseRedirect(_change_url(chosen[0].pk)) if len(chosen) == 1 else None


def _confirmation_page(
    name: str, of: MemberAdmin, request: HttpRequest, chosen: list[Member]
) -> TemplateResponse:
    context = {
        **of.admin_site.each_context(request),
        "title": MEMBER_ACTIONS[name].label,
        "opts": of.opts,
        "change": MEMBER_ACTIONS[name],
        "action": name,
        "chosen": chosen,
        "checkbox": ACTION_CHECKBOX_NAME,
    }
    return TemplateResponse(request, "admin/accounts/member/confirm.html", context)


def _apply_action(change: MemberAction, request: HttpRequest, member: Member) -> None:
    try:
        change.apply(_actor(request), member.pk)
    except DomainError as refusal:
        messages.error(request, f"{member}: {refusal.detail}")
    else:
        messages.success(request, f"{member}: {change.label}: done.")


def _actor(request: HttpRequest) -> Member:
    return cast("Member", request.user)


def _change_url(member_id: int) -> str:
    return reverse("admin:accounts_member_change", args=[member_id])
