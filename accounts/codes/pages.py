"""Pages for the links in mails (spec 2.11).

Mail scanners open every link, so a button sends the POST that spends the code.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import get_language
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import ValidationError

from accounts.codes import email_verification, password_reset
from accounts.codes.serializers import (
    ConfirmEmailRequestSerializer,
    ConfirmPasswordResetRequestSerializer,
)
from accounts.errors import CodeInvalidError
from core.api.serializers import Serializer
from core.errors import DomainError

REFERRER_POLICY = "Referrer-Policy"


# A mail program's browser may refuse cookies, and a forger would need the code.
@method_decorator(csrf_exempt, name="dispatch")
class CodePage(View):
    http_method_names = ["get", "head", "post"]
    template: str
    serializer_class: type[Serializer]

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._render(request, request.GET)

    def post(self, request: HttpRequest) -> HttpResponse:
        form = {
            "requestId": request.POST.get("request", ""),
            "code": request.POST.get("code", ""),
            "newPassword": request.POST.get("password", ""),
        }
        names = self.serializer_class().fields.keys()
        serializer = self.serializer_class(data={name: form[name] for name in names})
        try:
            serializer.is_valid(raise_exception=True)
            self.confirm(serializer.validated_data)
        except ValidationError as error:
            return self._refuse(request, list(error.detail), error.detail)
        except CodeInvalidError:
            return self._refuse(request, ["code"], {})
        except DomainError as error:
            texts: dict[str, list[Any]] = {}
            for each in error.errors:
                texts.setdefault(each.field, []).append(each.detail)
            return self._refuse(request, list(texts), texts)
        return self._render(request, {}, is_done=True)

    def confirm(self, values: dict[str, Any]) -> None:
        raise NotImplementedError

    def _refuse(self, request: HttpRequest, fields: Any, texts: Any) -> HttpResponse:
        errors = texts["newPassword"] if fields == ["newPassword"] else []
        return self._render(
            request, request.POST, status=400, errors=errors, is_invalid=not errors
        )

    def _render(
        self, request: HttpRequest, values: Any, *, status: int = 200, **context: Any
    ) -> HttpResponse:
        page = {
            "language": get_language(),
            "request_id": values.get("request", ""),
            "code": values.get("code", ""),
            **context,
        }
        response = render(request, f"account/{self.template}.html", page, status=status)
        # The URL contains the code.
        response.headers[REFERRER_POLICY] = "no-referrer"
        return response


class ConfirmEmailPage(CodePage):
    template = "confirm"
    serializer_class = ConfirmEmailRequestSerializer

    def confirm(self, values: dict[str, Any]) -> None:
        email_verification.confirm_verification(
            values["request_id"], values["code"], timezone.now()
        )


class ResetPasswordPage(CodePage):
    template = "reset"
    serializer_class = ConfirmPasswordResetRequestSerializer

    def confirm(self, values: dict[str, Any]) -> None:
        password_reset.confirm_reset(
            values["request_id"], values["code"], values["new_password"], timezone.now()
        )
