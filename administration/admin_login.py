"""The login form of Django admin, in two steps for members with a factor."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.apps import apps
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, gettext_lazy

from accounts.errors import CodeInvalidError, HashingBusyError
from accounts.login.password import SecondFactorPendingError
from accounts.login.recovery_codes import MAX_CODE_LENGTH
from accounts.login.tickets import create_ticket, spend_ticket
from accounts.models import LoginTicket, Member
from accounts.security.events import SecurityEvent, log_security_event
from core.client_ip import get_client_ip
from core.errors import RateLimitedError

# Addresses of Django admin that are no pages.
NOT_PAGES = frozenset({"login", "logout", "jsi18n", "autocomplete"})
# Pages that all staff have for themselves.
OWN_PAGES = frozenset(
    {"index", "password_change", "password_change_done", "second_factor"}
)


def is_page(request: HttpRequest, url: str) -> bool:
    """Return True for the address of a page of Django admin on this host."""
    hosts = {request.get_host()}
    if not url_has_allowed_host_and_scheme(url, hosts, request.is_secure()):
        return False
    try:
        match = resolve(urlsplit(url).path)
    except Resolver404:
        return False
    # The catch-all of unknown addresses has no name.
    is_known = match.url_name is not None and match.url_name not in NOT_PAGES
    return is_known and match.namespace == "admin"


def is_open_to(member: Member, url: str) -> bool:
    """Return whether the member may open this page of Django admin."""
    match = resolve(urlsplit(url).path)
    name = str(match.kwargs.get("app_label") or match.url_name)
    if name in OWN_PAGES:
        return True
    # The name of any other page begins with its app.
    return any(
        member.has_module_perms(app.label) and f"{name}_".startswith(f"{app.label}_")
        for app in apps.get_app_configs()
    )


def replace_wrong_next(request: HttpRequest) -> None:
    """Replace a `next` that leads to no page of Django admin by the dashboard."""
    for method in ("GET", "POST"):
        params: QueryDict = getattr(request, method)
        if REDIRECT_FIELD_NAME not in params:
            continue
        if is_page(request, str(params[REDIRECT_FIELD_NAME])):
            continue
        params = params.copy()
        params[REDIRECT_FIELD_NAME] = reverse("admin:index")
        setattr(request, method, params)


class AdminLoginForm(AdminAuthenticationForm):
    """Login id and password, then a code.

    The first step gives a ticket, which the form of the second step carries.
    """

    # After a correct first step the form is not valid, but without errors.
    has_begun_second_step = False

    ticket = forms.CharField(required=False, widget=forms.HiddenInput)
    code = forms.CharField(
        required=False,
        max_length=MAX_CODE_LENGTH,
        label=gettext_lazy("Code"),
        widget=forms.TextInput(
            attrs={
                "autocomplete": "one-time-code",
                "autofocus": True,
                "aria-describedby": "code-help",
            }
        ),
    )

    def __init__(self, request: Any = None, *args: Any, **options: Any) -> None:
        super().__init__(request, *args, **options)
        self.fields["username"].label = gettext("Login ID")
        # The form of the second step carries it.
        self.ticket_key = str(self.data.get("ticket") or "")
        if self.ticket_key:
            self.fields["username"].required = False
            self.fields["password"].required = False

    def clean(self) -> dict[str, Any]:
        try:
            if self.ticket_key:
                return self._clean_second_step()
            return super().clean()
        except SecondFactorPendingError as pending:
            self._begin_second_step(pending.member)
            # An error keeps Django from logging in; the page does not show it.
            raise ValidationError("", code="second_factor") from None
        except (RateLimitedError, HashingBusyError) as error:
            raise ValidationError(error.detail) from error

    def _begin_second_step(self, member: Member) -> None:
        self.confirm_login_allowed(member)
        self.ticket_key = create_ticket(member, timezone.now()).ticket
        self.has_begun_second_step = True

    def _clean_second_step(self) -> dict[str, Any]:
        try:
            member = spend_ticket(
                self.ticket_key,
                self.cleaned_data.get("code", ""),
                get_client_ip(self.request) if self.request else "",
                timezone.now(),
                self._log_in,
            )
        except CodeInvalidError as error:
            # A code cannot be used twice.
            self.data = {**dict(self.data.items()), "code": ""}
            raise ValidationError(str(error.detail), code="invalid_code") from None
        self.user_cache = member
        return self.cleaned_data

    def _log_in(self, member: Member, ticket: LoginTicket) -> Member:
        self.confirm_login_allowed(member)
        log_security_event(SecurityEvent.LOGIN, member.pk)
        return member
