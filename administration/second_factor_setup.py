"""The page for the second factor of staff (`ADMIN_SECOND_FACTOR`)."""

import textwrap
from typing import Any, cast

import segno
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.views import View

from accounts.errors import CodeInvalidError, ReauthenticationRequiredError
from accounts.login import second_factor
from accounts.login.fresh import require_factor_change
from accounts.login.second_factor import PendingTotp
from accounts.models import Member
from administration.identity_proof import IdentityProof, get_session_key_hash
from core.errors import DomainError

SETUP_NAME = "second_factor"
TEMPLATE = "admin/second_factor.html"
# Of the secret, so that it is easily typed.
GROUP_LENGTH = 4


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
        """Begin, or put the shown secret in force by its first code.

        A session that is not fresh enough proves first who works in it. A wrong code
        keeps the secret, as long as it waits.
        """
        member, now = cast("Member", request.user), timezone.now()
        key_hash = get_session_key_hash(request)
        is_confirmation = "code" in request.POST
        try:
            require_factor_change(member, key_hash, now)
        except ReauthenticationRequiredError:
            proof = IdentityProof(request)
            if is_confirmation or not proof.check():
                return self._show(request, proof=proof)
        try:
            if not is_confirmation:
                pending = second_factor.begin_totp(member, key_hash, now)
                return self._show(request, pending=pending)
            code = request.POST["code"]
            codes = second_factor.confirm_totp(member, key_hash, code, now)
        except CodeInvalidError as error:
            return self._show_again(request, str(error.detail))
        except ReauthenticationRequiredError:
            return self._show(request, proof=IdentityProof(request))
        except DomainError as error:
            return self._show(request, error=str(error.detail))
        return self._show(request, recovery_codes=codes)

    def _show_again(self, request: HttpRequest, error: str) -> HttpResponse:
        member, now = cast("Member", request.user), timezone.now()
        key_hash = get_session_key_hash(request)
        try:
            pending = second_factor.read_pending_totp(member, key_hash, now)
        except DomainError:
            return self._show(request, error=f"{error} {gettext('Begin again.')}")
        return self._show(request, error=error, pending=pending)

    def _show(
        self, request: HttpRequest, pending: PendingTotp | None = None, **context: Any
    ) -> HttpResponse:
        if pending is not None:
            context |= {
                "pending": pending,
                "secret": " ".join(textwrap.wrap(pending.secret, GROUP_LENGTH)),
                "picture": draw_qr_code(pending.uri),
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


def draw_qr_code(text: str) -> SafeString:
    """Return a QR code as SVG, on white also where the page is dark."""
    picture = segno.make(text, error="m", micro=False).svg_inline(
        scale=5,
        border=4,
        light="#fff",
        title=gettext("QR code of the secret"),
        omitsize=False,
    )
    # Made of the modules of the code alone.
    return mark_safe(picture)  # noqa: S308
