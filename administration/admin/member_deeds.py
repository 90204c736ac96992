"""Deeds of staff to one member in Django admin, each on a page with its question."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.validators import ProhibitNullCharactersValidator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views import View

from accounts.mail.outbox import is_mail_configured
from accounts.models import Member
from accounts.models.members import MAX_REASON_LENGTH
from administration.members import (
    delete_member,
    end_member_factors,
    end_member_sessions,
    end_member_silence,
    send_password_reset,
    set_member_status,
    silence_member,
)
from administration.reauthentication import CONFIRMED_FIELD, ask_again
from core.admin.actions import RowLink, get_actor
from core.admin.columns import Text
from core.admin.places import FILTERS_FIELD, add_list_query, read_list_query
from core.api.fields import MAX_FUTURE
from core.api.permissions import AdminRequiredError
from core.errors import DomainError

TEMPLATE = "admin/member_deed.html"
URL_NAME = "accounts_member_deed"


class DeedForm(forms.Form):
    """The question without a field."""

    def __init__(self, member: Member, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.member = member


class TimeForm(DeedForm):
    until = forms.DateTimeField(
        label=_("Until"),
        widget=forms.DateTimeInput(
            attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
        ),
    )
    reason = forms.CharField(
        label=_("Reason, which the member reads"),
        max_length=MAX_REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
        validators=[ProhibitNullCharactersValidator()],
    )

    def clean_until(self) -> datetime | None:
        until: datetime | None = self.cleaned_data["until"]
        if until is not None and not timezone.now() < until <= MAX_FUTURE:
            raise forms.ValidationError(gettext("Must be in the future."))
        return until


class SuspensionForm(TimeForm):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["until"].required = self.fields["reason"].required = False
        self.fields["until"].help_text = gettext("Without it, until somebody ends it.")


class DeletionForm(DeedForm):
    login_id = forms.CharField(
        label=_("Login ID of the member, to confirm"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def clean_login_id(self) -> str:
        login_id = str(self.cleaned_data["login_id"])
        if login_id != self.member.login_id:
            raise forms.ValidationError(gettext("This is not the member's login ID."))
        return login_id


Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Deed:
    label: Text
    question: Text
    # Raises the errors of the API.
    apply: Callable[[Member, int, Values, datetime], object]
    form: type[DeedForm] = DeedForm
    is_offered: Callable[[Member, datetime], bool] = lambda member, now: True
    # The values of the form before anybody has written in it.
    initial: Callable[[Member], Values] = lambda member: {}
    needs_fresh: bool = False
    is_dangerous: bool = False


def _suspend(actor: Member, member_id: int, values: Values, now: datetime) -> None:
    status = Member.Status.SUSPENDED
    set_member_status(actor, member_id, status, values["until"], values["reason"])


def _silence(actor: Member, member_id: int, values: Values, now: datetime) -> None:
    silence_member(actor, member_id, values["until"], values["reason"], now)


DEEDS: Mapping[str, Deed] = {
    "password-reset": Deed(
        _("Send the mail for a new password"),
        _(
            "The mail has a code, which staff do not see. The password stays until "
            "it is used."
        ),
        lambda actor, member_id, values, now: send_password_reset(
            actor, member_id, now
        ),
        is_offered=lambda member, now: is_mail_configured() and member.is_active,
    ),
    "factors": Deed(
        _("End the second factor"),
        _(
            "For a member who has lost app and recovery codes, and has shown who they "
            "are. Logins then ask for the password alone; the member is told by mail."
        ),
        lambda actor, member_id, values, now: end_member_factors(actor, member_id),
        is_offered=lambda member, now: (
            member.has_second_factor and not member.is_administrator
        ),
        needs_fresh=True,
        is_dangerous=True,
    ),
    "sessions": Deed(
        _("End all sessions"),
        _("Personal tokens end too. The member can log in again."),
        lambda actor, member_id, values, now: end_member_sessions(actor, member_id),
    ),
    "silence": Deed(
        _("Silence"),
        _(
            "The member writes nothing on the board until then; the ledger stays open. "
            "The member is told."
        ),
        _silence,
        form=TimeForm,
        initial=lambda member: {
            "until": member.silenced_until,
            "reason": member.silence_reason,
        },
    ),
    "end-silence": Deed(
        _("End the silence"),
        _("The member can write on the board again, and is told."),
        lambda actor, member_id, values, now: end_member_silence(actor, member_id, now),
        is_offered=lambda member, now: member.is_silenced(now),
    ),
    "suspension": Deed(
        _("Suspend"),
        _("All sessions end at once, and the member can no longer log in."),
        _suspend,
        form=SuspensionForm,
        initial=lambda member: {
            "until": member.suspended_until,
            "reason": member.suspension_reason,
        },
        is_dangerous=True,
    ),
    "deletion": Deed(
        _("Delete the account"),
        _(
            "The account, its ledger and all that it wrote on the board are gone at "
            "once and for good. Nothing can be undone."
        ),
        lambda actor, member_id, values, now: delete_member(actor, member_id),
        form=DeletionForm,
        needs_fresh=True,
        is_dangerous=True,
    ),
}


def list_deed_links(
    request: HttpRequest, member: Member, now: datetime
) -> list[RowLink]:
    """Return the pages of the deeds that the member's state leaves open."""
    list_query = read_list_query(request, is_list=False)
    return [
        RowLink(deed_url(member.pk, name, list_query), deed.label, deed.is_dangerous)
        for name, deed in DEEDS.items()
        if deed.is_offered(member, now)
    ]


def deed_url(member_id: int, name: str, list_query: str = "") -> str:
    url = reverse(f"admin:{URL_NAME}", args=[member_id, name])
    return add_list_query(url, list_query, name=FILTERS_FIELD)


class MemberDeedView(View):
    http_method_names = ["get", "head", "post"]
    model_admin: Any = None

    def dispatch(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        if not self.model_admin.has_view_permission(request):
            raise PermissionDenied
        name, now = options["name"], timezone.now()
        if name not in DEEDS:
            raise Http404
        rows = Member.objects.defer("profile_image", "password")
        member = get_object_or_404(rows, pk=options["member_id"])
        deed = DEEDS[name]
        if not deed.is_offered(member, now):
            text = gettext("{action} is not possible, or it was done already.")
            messages.warning(request, text.format(action=deed.label))
            return self._lead_back(request, member)
        if deed.needs_fresh:
            cancel_url = self._member_url(request, member)
            site = self.model_admin.admin_site
            page = ask_again(request, site, cancel_url=cancel_url)
            if page is not None:
                return page
        if request.method == "POST" and CONFIRMED_FIELD in request.POST:
            return self._answer(request, deed, member, now)
        # After fresh authentication the question comes again, with what was written.
        initial = deed.initial(member) | request.POST.dict()
        return self._ask(request, deed, member, deed.form(member, initial=initial))

    def _answer(
        self, request: HttpRequest, deed: Deed, member: Member, now: datetime
    ) -> HttpResponse:
        form = deed.form(member, request.POST)
        if not form.is_valid():
            return self._ask(request, deed, member, form)
        try:
            deed.apply(get_actor(request), member.pk, form.cleaned_data, now)
        except AdminRequiredError:
            # The actor has lost the role meanwhile.
            raise PermissionDenied from None
        except DomainError as error:
            messages.error(request, str(error.detail))
            return self._lead_back(request, member)
        text = gettext("{member}: {action}: done.")
        done = text.format(member=member.login_id, action=deed.label)
        messages.success(request, done)
        return self._lead_back(request, member)

    def _ask(
        self, request: HttpRequest, deed: Deed, member: Member, form: DeedForm
    ) -> HttpResponse:
        context = {
            **self.model_admin.admin_site.each_context(request),
            "title": deed.label,
            "opts": self.model_admin.opts,
            "deed": deed,
            "form": form,
            "member_name": member.login_id,
            "description": self.model_admin.describe_row(member),
            "member_url": self._member_url(request, member),
            "confirmed_field": CONFIRMED_FIELD,
            "filters_field": FILTERS_FIELD,
            "list_query": read_list_query(request, is_list=False),
        }
        return TemplateResponse(request, TEMPLATE, context)

    def _member_url(self, request: HttpRequest, member: Member) -> str:
        url = reverse("admin:accounts_member_change", args=[member.pk])
        list_query = read_list_query(request, is_list=False)
        return add_list_query(url, list_query, name=FILTERS_FIELD)

    def _lead_back(self, request: HttpRequest, member: Member) -> HttpResponse:
        """Lead to the member, or after the deletion to the list."""
        if Member.objects.filter(pk=member.pk).exists():
            return HttpResponseRedirect(self._member_url(request, member))
        list_query = read_list_query(request, is_list=False)
        url = add_list_query(self.model_admin.get_list_url(), list_query)
        return HttpResponseRedirect(url)
