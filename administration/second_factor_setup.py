"""The page for the second factor of staff (`ADMIN_SECOND_FACTOR`)."""

from datetime import datetime
from typing import Any, cast

import segno
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
from accounts.login.second_factor import PendingTotp
from accounts.models import Member
from accounts.sessions.store import hash_session_key
from administration.reauthentication import ask_again
from core.errors import DomainError

SETUP_NAME = "second_factor"
TEMPLATE = "admin/second_factor.html"
# Pixels of a module of the code: about 200 across.
QR_SCALE = 4
SECRET_GROUP_LENGTH = 4


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
        cancel_url = reverse(f"admin:{SETUP_NAME}")
        site = self.admin_site
        page = ask_again(request, site, cancel_url=cancel_url, for_factors=True)
        if page is not None:
            return page
        member, now = cast("Member", request.user), timezone.now()
        key_hash = hash_session_key(request.session.session_key or "")
        try:
            if "code" not in request.POST:
                pending = second_factor.begin_totp(member, key_hash, now)
                return self._show(request, pending=pending)
            codes = second_factor.confirm_totp(
                member, key_hash, request.POST["code"], now
            )
        except ReauthenticationRequiredError:
            # The time has passed between the two questions.
            return HttpResponseRedirect(cancel_url)
        except DomainError as error:
            return self._show_error(request, member, error, now)
        return self._show(request, recovery_codes=codes)

    def _show_error(
        self, request: HttpRequest, member: Member, error: DomainError, now: datetime
    ) -> HttpResponse:
        """Show the seed again, which stays for its time, or that it is over."""
        pending = second_factor.find_pending_totp(member, now)
        text = str(error.detail)
        if pending is None:
            text = f"{text} {gettext('Begin again.')}"
        return self._show(request, error=text, pending=pending)

    def _show(
        self,
        request: HttpRequest,
        *,
        pending: PendingTotp | None = None,
        **context: Any,
    ) -> HttpResponse:
        if pending is not None:
            context |= {
                "pending": pending,
                "qr_code": draw_qr_code(pending.uri),
                "secret": group_secret(pending.secret),
            }
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


def draw_qr_code(uri: str) -> str:
    """Return a data URL of the SVG, which the Content-Security-Policy allows."""
    code = segno.make(uri, error="m", micro=False)
    # White around and below it: apps read no code that is light on dark.
    return code.svg_data_uri(scale=QR_SCALE, light="#fff", nl=False)


def group_secret(secret: str) -> str:
    """Return the secret in groups of four, as people read it."""
    size = SECRET_GROUP_LENGTH
    return " ".join(secret[at : at + size] for at in range(0, len(secret), size))
