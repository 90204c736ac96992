"""The page that deletes an account (spec 2.9).

Its first form proves the account and its second form confirms the deletion.
"""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import get_language, gettext
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import ValidationError

from accounts.codes.deletion import (
    SecondFactorInvalidError,
    begin_deletion,
    check_deletion_code,
    confirm_deletion,
    request_deletion,
)
from accounts.codes.pages import REFERRER_POLICY
from accounts.codes.serializers import (
    ConfirmEmailRequestSerializer,
    PasswordResetRequestSerializer,
)
from accounts.errors import CodeInvalidError, InvalidCredentialsError
from accounts.identifiers import normalize_identifier
from accounts.login.serializers import CodeRequestSerializer, LoginRequestSerializer
from accounts.mail.outbox import is_mail_configured
from accounts.models import Member
from core.api.exception_handler import CHALLENGE
from core.api.serializers import Serializer
from core.client_ip import get_client_ip
from core.errors import DomainError

# Both are taken in either language.
WORDS = frozenset({"삭제", "delete"})
# Fields of the serializers by the names of the inputs.
LOGIN_FIELDS = {"login_id": "loginId", "password": "password"}
MAIL_FIELDS = {"email": "email"}
LINK_FIELDS = {"request": "requestId", "code": "code"}
FACTOR_FIELDS = {"factor": "code"}
UUID_LENGTH = 36
# Templates.
START, CONFIRM, DONE = "delete", "delete_confirm", "delete_done"


class InvalidFormError(Exception):
    """`errors` are texts by input."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__()
        self.errors = errors


def read_form(
    request: HttpRequest, serializer_class: type[Serializer], fields: Mapping[str, str]
) -> dict[str, Any]:
    data = {name: request.POST.get(each, "") for each, name in fields.items()}
    serializer = serializer_class(data=data)
    try:
        serializer.is_valid(raise_exception=True)
    except ValidationError as error:
        details: Any = error.detail
        raise InvalidFormError(
            {
                each: " ".join(details[name])
                for each, name in fields.items()
                if name in details
            }
        ) from error
    values: dict[str, Any] = serializer.validated_data
    return values


def is_confirmation(word: str) -> bool:
    return normalize_identifier(word.strip()) in WORDS


def read_confirmation(request: HttpRequest, member: Member) -> str:
    """Return the code of the second factor, "" for a member without one."""
    errors: dict[str, str] = {}
    factor = ""
    if not is_confirmation(request.POST.get("word", "")):
        errors["word"] = gettext("Type the word as it is shown.")
    if member.has_second_factor:
        try:
            factor = read_form(request, CodeRequestSerializer, FACTOR_FIELDS)["code"]
        except InvalidFormError as invalid:
            errors |= invalid.errors
    if errors:
        raise InvalidFormError(errors)
    return factor


def describe_refusal(error: DomainError) -> str:
    """Return the text of an error, and end and reason of a suspension (spec 7.1)."""
    texts = [str(error.detail)]
    if (until := error.members.get("until")) is not None:
        end = f"{timezone.localtime(until):%Y-%m-%d %H:%M}"
        texts.append(gettext("It ends on {time}.").format(time=end))
    if reason := error.members.get("reason"):
        texts.append(gettext("Reason: {reason}").format(reason=reason))
    return " ".join(texts)


# The page has no session that a forged form could use.
@method_decorator(csrf_exempt, name="dispatch")
class DeleteAccountPage(View):
    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        if request_id := request.GET.get("request"):
            code = request.GET.get("code", "")
            return self._render(request, CONFIRM, request_id=request_id, code=code)
        return self._render(request, START)

    def post(self, request: HttpRequest) -> HttpResponse:
        match request.POST.get("step"):
            case "login":
                return self._log_in(request)
            case "mail":
                return self._send_mail(request)
            case "confirm":
                return self._confirm(request)
        return self._render(request, START, status=400, is_step_unknown=True)

    def _log_in(self, request: HttpRequest) -> HttpResponse:
        try:
            values = read_form(request, LoginRequestSerializer, LOGIN_FIELDS)
        except InvalidFormError as invalid:
            return self._render(request, START, status=400, errors=invalid.errors)
        login_id, password = values["login_id"], values["password"]
        try:
            made = begin_deletion(
                login_id, password, get_client_ip(request), timezone.now()
            )
        except DomainError as error:
            refused = {"login_error": describe_refusal(error), "login_id": login_id}
            return self._render(request, START, error=error, **refused)
        return self._render(
            request,
            CONFIRM,
            request_id=made.request_id,
            code=made.code,
            member=made.member,
        )

    def _send_mail(self, request: HttpRequest) -> HttpResponse:
        try:
            values = read_form(request, PasswordResetRequestSerializer, MAIL_FIELDS)
        except InvalidFormError as invalid:
            return self._render(request, START, status=400, errors=invalid.errors)
        email = values["email"]
        try:
            stored = request_deletion(email, get_client_ip(request), timezone.now())
        except DomainError as error:
            refused = {"mail_error": error.detail, "email": email}
            return self._render(request, START, error=error, **refused)
        return self._render(request, CONFIRM, request_id=stored.pk, is_sent=True)

    def _confirm(self, request: HttpRequest) -> HttpResponse:
        now = timezone.now()
        try:
            link = read_form(request, ConfirmEmailRequestSerializer, LINK_FIELDS)
            code = check_deletion_code(link["request_id"], link["code"], now)
        except (InvalidFormError, CodeInvalidError):
            return self._refuse_code(request)
        page = {"request_id": link["request_id"], "code": link["code"]}
        page |= {"member": code.member, "word": request.POST.get("word", "").strip()}
        try:
            factor = read_confirmation(request, code.member)
            confirm_deletion(code, factor, get_client_ip(request), now)
        except InvalidFormError as invalid:
            if "word" in invalid.errors:
                page["word"] = ""
            return self._render(
                request, CONFIRM, status=400, errors=invalid.errors, **page
            )
        except SecondFactorInvalidError as error:
            errors = {"factor": error.detail}
            return self._render(request, CONFIRM, error=error, errors=errors, **page)
        except CodeInvalidError:
            return self._refuse_code(request)
        except DomainError as error:
            page["confirm_error"] = error.detail
            return self._render(request, CONFIRM, error=error, **page)
        return self._render(request, DONE)

    def _refuse_code(self, request: HttpRequest) -> HttpResponse:
        """Show the input again in which the code was typed, else the first form."""
        if "typed" not in request.POST:
            return self._render(request, START, status=400, is_link_invalid=True)
        return self._render(
            request,
            CONFIRM,
            status=400,
            request_id=request.POST.get("request", "")[:UUID_LENGTH],
            errors={"code": CodeInvalidError.detail},
        )

    def _render(
        self,
        request: HttpRequest,
        template: str,
        *,
        status: int = 200,
        error: DomainError | None = None,
        **context: Any,
    ) -> HttpResponse:
        page = {"language": get_language(), "has_mail": is_mail_configured()}
        response = render(
            request,
            f"account/{template}.html",
            page | context,
            status=error.status if error else status,
        )
        for name, value in (error.headers if error else {}).items():
            response.headers[name] = value
        if response.status_code == InvalidCredentialsError.status:
            response.headers["WWW-Authenticate"] = CHALLENGE
        # The URL of a mail contains the code.
        response.headers[REFERRER_POLICY] = "no-referrer"
        return response
