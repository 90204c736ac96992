"""Pages for the links in mails; a GET spends nothing (spec 2.11).

Scanners of mail open every link. The page shows a button, whose POST spends the code.
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

from accounts import email_verification, password_reset
from accounts.errors import CodeInvalidError
from accounts.serializers.codes import (
    ConfirmEmailRequestSerializer,
    ConfirmPasswordResetRequestSerializer,
)
from core.api.serializers import Serializer
from core.errors import DomainError

REFERRER_POLICY = "Referrer-Policy"


# A form of another site that knows the code could send it by itself. The pages need no
# cookie, which a mail program's browser may refuse.
@method_decorator(csrf_exempt, name="dispatch")
class CodePage(View):
    """A page with the code of a mail's link."""

    http_method_names = ["get", "head", "post"]
    template: str
    serializer_class: type[Serializer]

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._render(request, request.GET)

    def post(self, request: HttpRequest) -> HttpResponse:
        serializer = self.serializer_class(
            data={
                "requestId": request.POST.get("request", ""),
                "code": request.POST.get("code", ""),
                "newPassword": request.POST.get("password", ""),
            }
        )
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
        # Of a password, which can be mended; a bad code or link cannot.
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
        # The address holds the code.
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
