"""Fresh authentication in Django admin (spec 2.13)."""

from datetime import datetime
from typing import Any, cast

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from accounts.login.fresh import is_session_fresh, mark_fresh, may_change_factors
from accounts.login.password import verify_password
from accounts.login.second_factor import verify_second_factor
from accounts.models import Member
from accounts.sessions.store import hash_session_key
from core.api.exception_handler import AuthenticationRequiredError
from core.client_ip import get_client_ip
from core.errors import DomainError

TEMPLATE = "admin/reauthenticate.html"
PASSWORD_FIELD, CODE_FIELD = "proof_password", "proof_code"  # names
PROOF_FIELDS = frozenset({PASSWORD_FIELD, CODE_FIELD})
# The question comes again after the proof.
CONFIRMED_FIELD = "confirmed"
LEFT_OUT = PROOF_FIELDS | {CONFIRMED_FIELD, "csrfmiddlewaretoken"}


def ask_again(
    request: HttpRequest,
    site: AdminSite,
    *,
    cancel_url: str = "",
    for_factors: bool = False,
) -> HttpResponse | None:
    """Return the page that asks who it is; None in a fresh session, or after a proof.

    The page carries what was sent, except for its confirmation. A reader is redirected
    to where they were. `for_factors` asks for a proof by the second factor, which
    changes of one's own factors need.
    """
    member, now = cast("Member", request.user), timezone.now()
    key_hash = hash_session_key(request.session.session_key or "")
    if for_factors:
        is_fresh = may_change_factors(member, key_hash, now)
    else:
        is_fresh = is_session_fresh(key_hash)
    sent = list_sent_fields(request)
    error = ""
    if not is_fresh and PROOF_FIELDS & request.POST.keys():
        try:
            _prove(request, member, key_hash, now)
        except AuthenticationRequiredError:
            # The session has ended meanwhile.
            return HttpResponseRedirect(reverse("admin:login"))
        except DomainError as refusal:
            error = str(refusal.detail)
        else:
            if not sent:
                return HttpResponseRedirect(request.get_full_path())
            is_fresh = True
    if is_fresh:
        return None
    context = {
        **site.each_context(request),
        "title": gettext("Confirm that it is you"),
        "asks_password": member.has_usable_password(),
        "asks_code": member.has_second_factor,
        "password_field": PASSWORD_FIELD,
        "code_field": CODE_FIELD,
        "sent": sent,
        "cancel_url": cancel_url or reverse("admin:index"),
        "error": error,
    }
    return TemplateResponse(request, TEMPLATE, context)


def list_sent_fields(request: HttpRequest) -> list[tuple[str, str]]:
    """Return names and values of a form, without its confirmation and the proof."""
    return [
        (name, str(value))
        for name, values in request.POST.lists()
        for value in values
        if name not in LEFT_OUT
    ]


def _prove(request: Any, member: Member, key_hash: str, now: datetime) -> None:
    """Make the session fresh by the password and, where there is one, the factor.

    Failures count as failed logins. Raises `DomainError`.
    """
    address = get_client_ip(request)
    has_password = member.has_usable_password()
    if not (has_password or member.has_second_factor):
        raise DomainError(gettext("Log out and in again first."))
    if has_password:
        verify_password(member, request.POST.get(PASSWORD_FIELD, ""), address)
    if member.has_second_factor:
        verify_second_factor(member, request.POST.get(CODE_FIELD, ""), address, now)
    mark_fresh(key_hash, now, has_shown_factor=member.has_second_factor)
