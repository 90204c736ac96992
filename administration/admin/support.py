"""The support view of a member in Django admin (spec 7.13)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.core.validators import ProhibitNullCharactersValidator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views import View

from accounts.models import Member, SecurityLogEntry
from administration.admin.audit_log import ACTION, ACTOR, AT, TEXT
from administration.admin.documents import KINDS as DOCUMENTS
from administration.admin.member_columns import PLANS, PROVIDERS, ROLES, STATUSES
from administration.support import MAX_REASON_LENGTH, Support, read_support
from billing.admin import (
    BOUGHT,
    ENDS,
    ORDER_ID,
    PAID,
    PRODUCT,
    REFUNDED,
    STATE,
    STORE,
    YES_OR_NO,
)
from core.admin.actions import get_actor
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
from core.api.permissions import AdminRequiredError
from core.client import Client

TEMPLATE = "admin/member_support.html"
URL_NAME = "accounts_member_support"
Kind = SecurityLogEntry.Kind
EVENTS: Badges = {
    Kind.LOGIN: (_("Login"), ""),
    Kind.LOGIN_FAILED: (_("Failed login"), "warn"),
    Kind.LOGOUT: (_("Logout"), ""),
    Kind.SESSION_ENDED: (_("Session ended"), ""),
    Kind.PASSWORD_CHANGED: (_("Password changed"), "info"),
    Kind.PASSWORD_RESET: (_("Password reset"), "info"),
    Kind.EMAIL_CHANGED: (_("Email changed"), "info"),
    Kind.FACTOR_ADDED: (_("Second factor added"), "info"),
    Kind.FACTOR_REMOVED: (_("Second factor removed"), "warn"),
    Kind.IDENTITY_LINKED: (_("Identity linked"), "info"),
    Kind.IDENTITY_REMOVED: (_("Identity removed"), "info"),
    Kind.TOKEN_CREATED: (_("Token created"), "info"),
    Kind.TOKEN_REVOKED: (_("Token revoked"), ""),
    Kind.EXPORTED: (_("Backup taken"), ""),
    Kind.RESTORED: (_("Ledger restored"), "info"),
    Kind.SUPPORT_VIEWED: (_("Support view"), ""),
}
LEDGER_ROWS: dict[str, Text] = {
    "entries": _("Entries"),
    "wallets": _("Wallets"),
    "categories": _("Categories"),
    "tags": _("Tags"),
    "quick_entries": _("Quick entries"),
    "recurring_rules": _("Recurring transactions"),
    "budgets": _("Budgets"),
    "notifications": _("Card notifications"),
    "stocks": _("Stocks"),
    "trades": _("Trades"),
}
ADDRESS = text_column("ip_address", _("Address"))
ENDS_AT = time_column("expires_at", _("Ends"))
FACTS: Sequence[Column] = (
    text_column("login_id", _("Login ID")),
    text_column("display_name", _("Name")),
    text_column("email", _("Email")),
    badge_column("is_email_verified", _("Address is confirmed"), YES_OR_NO),
    text_column("pending_email", _("Address that waits for its code")),
    badge_column("provider", _("Logs in by"), PROVIDERS),
    badge_column("role", _("Role"), ROLES),
    badge_column("status", _("Status"), STATUSES),
    time_column("suspended_until", _("Suspended until")),
    text_column("suspension_reason", _("Reason of the suspension")),
    time_column("silenced_until", _("Silenced until")),
    text_column("silence_reason", _("Reason of the silence")),
    # As in lists, an expired plan is free before the job has run.
    state_column(
        "plan",
        _("Plan"),
        lambda member: [PLANS[member.effective_plan(timezone.now())]],
    ),
    time_column("plan_expires_at", _("Plan ends")),
    time_column("created_at", _("Joined")),
)
FACTORS: Sequence[Column] = (
    badge_column("totp", _("Authenticator app"), YES_OR_NO),
    time_column("totp_since", _("Set up")),
    number_column("recovery_codes_left", _("Recovery codes left")),
)
IDENTITIES: Sequence[Column] = (
    text_column("provider", _("Provider")),
    time_column("linked_at", _("Linked")),
    time_column("last_used_at", _("Last used")),
)
SESSIONS: Sequence[Column] = (
    time_column("last_seen_at", _("Last used")),
    text_column("name", _("Device")),
    Column(
        "client",
        _("App or browser"),
        lambda session: Client(user_agent=session.user_agent).name,
    ),
    ADDRESS,
    time_column("created_at", _("Logged in")),
    ENDS_AT,
)
TOKENS: Sequence[Column] = (
    text_column("name", _("Name")),
    Column("scopes", _("May do"), lambda token: ", ".join(token.scopes)),
    time_column("created_at", _("Created")),
    time_column("last_seen_at", _("Last used")),
    ENDS_AT,
)
CONSENTS: Sequence[Column] = (
    time_column("at", _("Time")),
    badge_column("kind", _("Document"), DOCUMENTS, path="document.kind"),
    text_column("version", _("Version"), path="document.version"),
    badge_column("accepted", _("Agreed"), YES_OR_NO),
)
PURCHASES: Sequence[Column] = (
    *(ORDER_ID, PRODUCT, STATE, STORE, BOUGHT, ENDS, PAID, REFUNDED),
)
EVENT_COLUMNS: Sequence[Column] = (
    time_column("at", _("Time")),
    badge_column("kind", _("Event"), EVENTS),
    badge_column("is_by_staff", _("By staff"), YES_OR_NO),
    ADDRESS,
    text_column("device_name", _("Device")),
    text_column("client", _("App or browser")),
    text_column("detail", _("Details")),
)
Cells = list[tuple[Text, str | SafeString]]


@dataclass(frozen=True, slots=True)
class Section:
    title: Text
    name: str
    columns: Sequence[Column]
    rows: Sequence[Any]

    def list_rows(self) -> list[Cells]:
        return [list_cells(self.columns, row) for row in self.rows]


def list_cells(columns: Sequence[Column], row: Any) -> Cells:
    return [(column.short_description, column(row)) for column in columns]


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=MAX_REASON_LENGTH,
        help_text=_(
            "The log keeps it after the account is gone: name nobody. The member sees "
            "that staff have read this, and when."
        ),
        widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "off"}),
        validators=[ProhibitNullCharactersValidator()],
    )


def support_url(member_id: int) -> str:
    return reverse(f"admin:{URL_NAME}", args=[member_id])


def list_sections(support: Support) -> list[Section]:
    return [
        Section(
            _("Security log, newest"), "events", EVENT_COLUMNS, support.security_events
        ),
        Section(_("Sessions"), "sessions", SESSIONS, support.sessions),
        Section(_("Personal tokens"), "tokens", TOKENS, support.tokens),
        Section(_("Identities"), "identities", IDENTITIES, support.identities),
        Section(_("Purchases, newest"), "purchases", PURCHASES, support.purchases),
        Section(
            _("Changes by staff, of the plan too"),
            "staff",
            (AT, ACTOR, ACTION, TEXT),
            support.staff_actions,
        ),
        Section(_("Consents, newest"), "consents", CONSENTS, support.consents),
    ]


class SupportView(View):
    """Ask for a reason, then show what support needs; a reading is a POST."""

    http_method_names = ["get", "head", "post"]
    model_admin: Any = None

    def dispatch(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        if not self.model_admin.has_view_permission(request):
            raise PermissionDenied
        return super().dispatch(request, *args, **options)

    def get(self, request: HttpRequest, member_id: int) -> HttpResponse:
        return self._show(request, member_id, form=ReasonForm())

    def post(self, request: HttpRequest, member_id: int) -> HttpResponse:
        form = ReasonForm(request.POST)
        if not form.is_valid():
            return self._show(request, member_id, form=form)
        # 404 before anything is logged.
        get_object_or_404(Member.objects.only("id"), pk=member_id)
        actor, reason = get_actor(request), form.cleaned_data["reason"]
        try:
            support = read_support(actor, member_id, reason, timezone.now())
        except AdminRequiredError:
            raise PermissionDenied from None
        counts = [
            (LEDGER_ROWS[name], count) for name, count in support.ledger_rows.items()
        ]
        return self._show(
            request,
            member_id,
            facts=list_cells(FACTS, support.member),
            factors=list_cells(FACTORS, support.factors),
            counts=counts,
            sections=list_sections(support),
            reason=reason,
        )

    def _show(
        self, request: HttpRequest, member_id: int, **context: Any
    ) -> HttpResponse:
        member = get_object_or_404(Member.objects.only("login_id"), pk=member_id)
        return TemplateResponse(
            request,
            TEMPLATE,
            {
                **self.model_admin.admin_site.each_context(request),
                "title": _("Support view"),
                "opts": self.model_admin.opts,
                "member_name": member.login_id,
                "member_url": reverse("admin:accounts_member_change", args=[member_id]),
                **context,
            },
        )
