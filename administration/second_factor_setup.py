"""The page for the second factor of staff (`ADMIN_SECOND_FACTOR`)."""

from typing import Any, cast

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views import View

from accounts.errors import ReauthenticationRequiredError
from accounts.login import second_factor
from accounts.models import Member
from accounts.sessions.store import hash_session_key
from core.errors import DomainError

SETUP_NAME = "second_factor"
TEMPLATE = "admin/second_factor.html"


def needs_second_factor(request: HttpRequest) -> bool:
    user: Any = request.user
    return (
        settings.ADMIN_SECOND_FACTOR
        and user.is_active
        and user.is_staff
        and not user.has_second_factor
    )


def redirect_to_setup(request: HttpRequest) -> HttpResponse:
    """Redirect readers; refuse changes."""
    if request.method not in {"GET", "HEAD"}:
        raise PermissionDenied
    return HttpResponseRedirect(reverse(f"admin:{SETUP_NAME}"))


class SecondFactorSetupView(View):
    """Show a seed, which its first code activates."""

    http_method_names = ["get", "head", "post"]
    admin_site: Any = None

    def dispatch(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        user: Any = request.user
        if not (user.is_active and user.is_staff):
            login = reverse("admin:login")
            return HttpResponseRedirect(f"{login}?next={request.path}")
        return super().dispatch(request, *args, **options)

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(request)

    def post(self, request: HttpRequest) -> HttpResponse:
        member, now = cast("Member", request.user), timezone.now()
        key_hash = hash_session_key(request.session.session_key or "")
        code = request.POST.get("code", "")
        try:
            if "code" not in request.POST:
                pending = second_factor.begin_totp(member, key_hash, now)
                return self._show(request, pending=pending)
            codes = second_factor.confirm_totp(member, key_hash, code, now)
        except ReauthenticationRequiredError:
            return self._show(request, error=gettext("Log out and in again first."))
        except DomainError as error:
            return self._show(
                request, error=f"{error.detail} {gettext('Begin again.')}"
            )
        return self._show(request, recovery_codes=codes)

    def _show(self, request: HttpRequest, **context: Any) -> HttpResponse:
        return TemplateResponse(
            request,
            TEMPLATE,
            {
                **self.admin_site.each_context(request),
                "title": gettext("Second factor"),
                "is_required": needs_second_factor(request),
                **context,
            },
        )
