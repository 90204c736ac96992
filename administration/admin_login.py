"""The login form of Django admin, with the second step of members who have one."""

from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from accounts.errors import CodeInvalidError, SecondFactorRequiredError
from accounts.login import SecondFactorPendingError
from accounts.login_tickets import require_second_factor, spend_ticket
from accounts.models import LoginTicket, Member
from accounts.recovery_codes import MAX_CODE_LENGTH
from accounts.security_events import SecurityEvent, log_security_event
from core.client_ip import get_client_ip
from core.errors import RateLimitedError


class AdminLoginForm(AdminAuthenticationForm):
    """Login id and password, then a code of members with a second factor.

    The first step gives a ticket, which the form of the second one carries. Rate limits
    are shown as errors of the form.
    """

    # The first step was right: the form is not valid yet, but nothing is wrong.
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
        # Of the second step, for the template.
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
            # Django logs nobody in by a form with an error; the page shows none.
            raise ValidationError("", code="second_factor") from None
        except RateLimitedError as error:
            raise ValidationError(error.detail) from error

    def _begin_second_step(self, member: Member) -> None:
        self.confirm_login_allowed(member)
        try:
            require_second_factor(member, timezone.now(), extra={})
        except SecondFactorRequiredError as required:
            self.ticket_key = str(required.members["ticket"])
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
            # No use to type it again.
            self.data = {**dict(self.data.items()), "code": ""}
            raise ValidationError(str(error.detail), code="invalid_code") from None
        self.user_cache = member
        return self.cleaned_data

    def _log_in(self, member: Member, ticket: LoginTicket) -> Member:
        self.confirm_login_allowed(member)
        log_security_event(SecurityEvent.LOGIN, member.pk)
        return member
