"""The only place that builds an error body: RFC 9457 problem details, or a page."""

import logging
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language, gettext, gettext_lazy
from rest_framework import exceptions

from core.api.renderers import dump_json
from core.db.transactions import is_conflict, is_lock_timeout
from core.errors import (
    CrossOriginError,
    DomainError,
    FieldError,
    NotFoundError,
    ServiceUnavailableError,
    violated_constraint_name,
)

logger = logging.getLogger(__name__)

PROBLEM_MEDIA_TYPE = "application/problem+json"
DATABASE_UNAVAILABLE_ERRORS = (OperationalError, InterfaceError)
# Foreign keys to the caller and the ledger.
MEMBER_FOREIGN_KEY_SUFFIXES = ("_fk_member_id", "_in_ledger")
TITLES = {
    400: gettext_lazy("Bad Request"),
    401: gettext_lazy("Unauthorized"),
    403: gettext_lazy("Forbidden"),
    404: gettext_lazy("Not Found"),
    405: gettext_lazy("Method Not Allowed"),
    408: gettext_lazy("Request Timeout"),
    409: gettext_lazy("Conflict"),
    410: gettext_lazy("Gone"),
    412: gettext_lazy("Precondition Failed"),
    413: gettext_lazy("Request Entity Too Large"),
    414: gettext_lazy("Request-URI Too Long"),
    415: gettext_lazy("Unsupported Media Type"),
    422: gettext_lazy("Unprocessable Content"),
    429: gettext_lazy("Too Many Requests"),
    500: gettext_lazy("Internal Server Error"),
    502: gettext_lazy("Bad Gateway"),
    503: gettext_lazy("Service Unavailable"),
}
BODY_FIELD = "body"
CHALLENGE = "Bearer"
# The content coding without compression.
IDENTITY = "identity"


class InvalidRequestError(DomainError):
    """400 for requests that Django rejects, such as a malformed host."""


class ForbiddenError(DomainError):
    status = 403
    code = "FORBIDDEN"
    detail = gettext_lazy("You do not have permission to do this.")


class AuthenticationRequiredError(DomainError):
    status = 401
    code = "AUTHENTICATION_REQUIRED"
    detail = gettext_lazy("Authentication is required.")


class MethodNotAllowedError(DomainError):
    status = 405
    code = "METHOD_NOT_ALLOWED"
    detail = gettext_lazy("The method is not allowed for this URL.")


class PayloadTooLargeError(DomainError):
    status = 413
    code = "PAYLOAD_TOO_LARGE"
    detail = gettext_lazy("The request body is too large.")


class UnsupportedMediaTypeError(DomainError):
    status = 415
    code = "UNSUPPORTED_MEDIA_TYPE"
    detail = gettext_lazy("The media type of the request body is not supported.")


class CompressedBodyError(UnsupportedMediaTypeError):
    detail = gettext_lazy("The request body must not be compressed.")

    def __init__(self) -> None:
        # RFC 9110, 15.5.16: it names the codings that are accepted.
        super().__init__(headers={"Accept-Encoding": IDENTITY})


class InternalError(DomainError):
    status = 500
    code = "INTERNAL_ERROR"
    detail = gettext_lazy("An internal error occurred.")


class TransactionConflictError(DomainError):
    """The transaction conflicted in each attempt, or waited too long for a lock."""

    status = 503
    code = "SERVICE_UNAVAILABLE"
    detail = gettext_lazy("Other changes were made at the same time. Try again.")

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "1"})


EXCEPTION_MAP: tuple[tuple[tuple[type[Exception], ...], type[DomainError]], ...] = (
    (DATABASE_UNAVAILABLE_ERRORS, ServiceUnavailableError),
    ((Http404,), NotFoundError),
    ((RequestDataTooBig,), PayloadTooLargeError),
    ((PermissionDenied,), ForbiddenError),
)


def handle_exception(exc: Exception, context: Mapping[str, Any]) -> HttpResponse | None:
    """Return the response to an exception (DRF's `EXCEPTION_HANDLER`).

    None leaves it to Django, which calls `server_error`.
    """
    problem = to_domain_error(exc)
    if problem is None:
        return None
    response = problem_response(problem)
    if isinstance(problem, ServiceUnavailableError):
        logger.warning("database unavailable: %s", type(exc).__name__)
        response.database_down = True  # type: ignore[attr-defined]
    elif is_lock_timeout(exc):
        # It names the relation or the advisory lock, and the rule that waited.
        logger.warning("lock timeout", exc_info=exc)
    return response


def to_domain_error(exc: Exception) -> DomainError | None:
    if isinstance(exc, DomainError):
        return exc
    if isinstance(exc, exceptions.APIException):
        return _from_drf_exception(exc)
    if isinstance(exc, IntegrityError):
        # The caller's account was deleted while the request ran.
        name = violated_constraint_name(exc) or ""
        is_deleted = name.endswith(MEMBER_FOREIGN_KEY_SUFFIXES)
        return AuthenticationRequiredError() if is_deleted else None
    if isinstance(exc, get_user_model().DoesNotExist):
        return AuthenticationRequiredError()
    if is_conflict(exc) or is_lock_timeout(exc):
        return TransactionConflictError()
    for kind, problem in EXCEPTION_MAP:
        if isinstance(exc, kind):
            return problem()
    return None


def _from_drf_exception(exc: exceptions.APIException) -> DomainError:
    headers = dict(getattr(exc, "headers", None) or {})
    match exc:
        case exceptions.ValidationError():
            return DomainError(errors=tuple(flatten_errors(exc.get_full_details())))
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return AuthenticationRequiredError()
        case exceptions.PermissionDenied():
            return ForbiddenError()
        case exceptions.NotFound():
            return NotFoundError()
        case exceptions.MethodNotAllowed():
            return MethodNotAllowedError(headers=headers)
        case exceptions.UnsupportedMediaType():
            return UnsupportedMediaTypeError()
        case _:
            return InvalidRequestError(str(exc.detail))


def flatten_errors(details: Any, path: str = "") -> Iterator[FieldError]:
    """Flatten DRF's nested details; fields are dotted (`items.1.amount`)."""
    if isinstance(details, Mapping):
        code = details.get("code")
        # Otherwise these are the errors of fields, one of which may be named `code`.
        if isinstance(code, str):
            text = str(details["message"]).encode("utf-8", "replace").decode()
            yield FieldError(
                path or BODY_FIELD,
                text,
                str(code),
                suggestion=getattr(code, "suggestion", None),
            )
            return
        for key, value in details.items():
            name = "" if key == "non_field_errors" else str(key)
            yield from flatten_errors(value, ".".join(filter(None, (path, name))))
    elif isinstance(details, list):
        for item in details:
            yield from flatten_errors(item, path)


def problem_body(problem: DomainError) -> dict[str, Any]:
    body: dict[str, Any] = {
        # RFC 9457 wants the phrase of the status as the title of about:blank.
        "type": "about:blank",
        "title": TITLES[problem.status],
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code,
    }
    if problem.errors:
        body["errors"] = [
            {"field": e.field, "code": e.code, "detail": e.detail}
            | ({"suggestion": e.suggestion} if e.suggestion is not None else {})
            | dict(e.location or {})
            for e in problem.errors
        ]
    return body | problem.members


def problem_response(problem: DomainError) -> HttpResponse:
    response = HttpResponse(
        dump_json(problem_body(problem)),
        status=problem.status,
        content_type=PROBLEM_MEDIA_TYPE,
    )
    return _add_headers(response, problem)


def error_response(request: HttpRequest, problem: DomainError) -> HttpResponse:
    """Return a page for a browser, else the problem."""
    # The web server imports this module before Django is set up.
    from core.api.error_pages import prefers_page, render_error_page

    if not prefers_page(request, [PROBLEM_MEDIA_TYPE, "application/json"]):
        return problem_response(problem)
    response = render_error_page(request, problem, TITLES[problem.status])
    patch_vary_headers(response, ["Accept"])
    return _add_headers(response, problem)


def _add_headers(response: HttpResponse, problem: DomainError) -> HttpResponse:
    for name, value in problem.headers.items():
        response.headers[name] = value
    if problem.status == AuthenticationRequiredError.status:
        response.headers["WWW-Authenticate"] = CHALLENGE
    response.headers["Content-Language"] = get_language() or settings.LANGUAGE_CODE
    patch_vary_headers(response, ["Accept-Language"])
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    problem = to_domain_error(exception) or InvalidRequestError()
    return error_response(request, problem)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_response(request, ForbiddenError())


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_response(request, NotFoundError(gettext("The URL does not exist.")))


def server_error(request: HttpRequest) -> HttpResponse:
    exc = sys.exc_info()[1]
    problem = to_domain_error(exc) if isinstance(exc, Exception) else None
    return error_response(request, problem or InternalError())


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return error_response(request, CrossOriginError(reason))
