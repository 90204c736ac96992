"""The page `/legal/report`: anybody reports a post or comment (spec 5.13).

Mail scanners open every link, so a button sends the POST that spends the code.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import get_language, gettext
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import ValidationError

from accounts.codes.pages import REFERRER_POLICY
from accounts.errors import CodeInvalidError
from accounts.mail.outbox import is_mail_configured
from accounts.models import Member
from board.models import (
    MAX_REPORTER_NAME_LENGTH,
    OUTSIDE_TEXT_LENGTH,
    ReportReason,
)
from board.outside_reports.reports import ask_for_report, confirm_report
from board.outside_reports.serializers import (
    MAX_TARGET_LENGTH,
    OutsideCodeFormSerializer,
    OutsideReportFormSerializer,
)
from core.api.serializers import Serializer
from core.client_ip import get_client_ip
from core.errors import DomainError

FORM_FIELDS = ("target", "reason", "text", "name", "email", "website")


# The page has no session that a forged form could use.
@method_decorator(csrf_exempt, name="dispatch")
class OutsideReportPage(View):
    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        if "request" in request.GET:
            return self._render_code_form(request, request.GET)
        return self._render_form(request, request.GET)

    def post(self, request: HttpRequest) -> HttpResponse:
        form = request.POST
        return self._confirm(request) if "request" in form else self._ask(request)

    def _ask(self, request: HttpRequest) -> HttpResponse:
        form = request.POST
        if form.get("website"):
            errors = {"website": [gettext("Leave this field empty.")]}
            return self._render_form(request, form, errors=errors)
        names: Iterable[str] = OutsideReportFormSerializer().fields.keys()
        values = {name: form.get(name, "") for name in names}
        try:
            report = ask_for_report(
                validate(OutsideReportFormSerializer, values),
                language=get_language() or Member.Locale.EN,
                ip_address=get_client_ip(request),
                now=timezone.now(),
            )
        except ValidationError as error:
            return self._render_form(request, form, errors=error.detail)
        except DomainError as error:
            return self._render_form(request, form, error=error)
        return self._render_code_form(
            request,
            {"request": str(report.pk)},
            sent={"email": report.email, "target": report.target_path},
        )

    def _confirm(self, request: HttpRequest) -> HttpResponse:
        form = request.POST
        values = {"request": form["request"], "code": form.get("code", "")}
        try:
            code = validate(OutsideCodeFormSerializer, values)
            is_kept = confirm_report(code["request"], code["code"], timezone.now())
        except (ValidationError, CodeInvalidError):
            return self._render_code_form(request, form, is_invalid=True)
        return self._render(request, {"is_done": True, "is_kept": is_kept})

    def _render_form(
        self,
        request: HttpRequest,
        values: Mapping[str, Any],
        *,
        errors: Any = None,
        error: DomainError | None = None,
    ) -> HttpResponse:
        status = 200 if errors is None else 400
        problem = ""
        if error is not None:
            status = error.status
            errors = {each.field: [each.detail] for each in error.errors}
            problem = "" if errors else str(error.detail)
        page = {
            "values": {name: values.get(name, "") for name in FORM_FIELDS},
            "errors": errors or {},
            "problem": problem,
            "reasons": ReportReason.choices,
            "limits": {
                "target": MAX_TARGET_LENGTH,
                "text": OUTSIDE_TEXT_LENGTH,
                "name": MAX_REPORTER_NAME_LENGTH,
            },
            "has_mail": is_mail_configured(),
        }
        response = self._render(request, page, status=status)
        for name, value in (error.headers if error else {}).items():
            response.headers[name] = value
        return response

    def _render_code_form(
        self,
        request: HttpRequest,
        values: Mapping[str, Any],
        *,
        sent: Mapping[str, str] | None = None,
        is_invalid: bool = False,
    ) -> HttpResponse:
        page = {
            "asks_for_code": True,
            "request_id": values.get("request", ""),
            "code": values.get("code", ""),
            "sent": sent,
            "is_invalid": is_invalid,
        }
        return self._render(request, page, status=400 if is_invalid else 200)

    def _render(
        self, request: HttpRequest, page: dict[str, Any], *, status: int = 200
    ) -> HttpResponse:
        page["language"] = get_language()
        response = render(request, "legal/report.html", page, status=status)
        # The address may contain the code.
        response.headers[REFERRER_POLICY] = "no-referrer"
        return response


def validate(
    serializer_class: type[Serializer], values: Mapping[str, str]
) -> dict[str, Any]:
    serializer = serializer_class(data=values)
    serializer.is_valid(raise_exception=True)
    validated: dict[str, Any] = serializer.validated_data
    return validated
