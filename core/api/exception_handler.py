"""The only place that shapes an error body: RFC 9457 problem details."""

import logging
import sys
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions

from core.api.renderers import dump_json
from core.errors import (
    CrossOrigin,
    DomainError,
    FieldError,
    NotFound,
    broken_constraint,
)

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 5
DATABASE_DOWN = (OperationalError, InterfaceError)
MEMBER_IS_GONE = "_fk_member_id"
"""How Django names the foreign keys to the table of members."""
BODY = "body"
"""The `field` of an error that concerns the body as a whole."""


class InvalidRequest(DomainError):
    """400 for what Django itself refuses, such as a malformed host or form."""


class Forbidden(DomainError):
    status = 403
    code = "FORBIDDEN"
    detail = "This is not allowed."


class AuthenticationRequired(DomainError):
    status = 401
    code = "AUTHENTICATION_REQUIRED"
    detail = "Log in first."


class MethodNotAllowed(DomainError):
    status = 405
    code = "METHOD_NOT_ALLOWED"
    detail = "This address does not answer this method."


class NotAcceptable(DomainError):
    status = 406
    code = "NOT_ACCEPTABLE"
    detail = "The answer cannot be given in a form that the request accepts."


class PayloadTooLarge(DomainError):
    status = 413
    code = "PAYLOAD_TOO_LARGE"
    detail = "The body is too large."


class UnsupportedMediaType(DomainError):
    status = 415
    code = "UNSUPPORTED_MEDIA_TYPE"
    detail = "The body is of a type that is not read here."


class InternalError(DomainError):
    status = 500
    code = "INTERNAL_ERROR"
    detail = "Something went wrong on our side."


class ServiceUnavailable(DomainError):
    status = 503
    code = "SERVICE_UNAVAILABLE"
    detail = "The database does not answer. Try again in a moment."

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


PROBLEMS: tuple[tuple[tuple[type[Exception], ...], type[DomainError]], ...] = (
    (DATABASE_DOWN, ServiceUnavailable),
    ((Http404,), NotFound),
    ((RequestDataTooBig,), PayloadTooLarge),
    ((PermissionDenied,), Forbidden),
)
"""What Django raises, and what it means here."""


def handle_exception(exc: Exception, context: Mapping[str, Any]) -> HttpResponse | None:
    """DRF's exception handler; None lets Django answer 500 and log the trace."""
    problem = as_problem(exc)
    if problem is None:
        return None
    response = render_problem(problem)
    if isinstance(problem, ServiceUnavailable):
        logger.warning("database unavailable: %s", type(exc).__name__)
        response.database_down = True  # type: ignore[attr-defined]
    return response


def describe(problem: DomainError) -> dict[str, Any]:
    """The members of the body: `type` is about:blank, so `title` is the status."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code,
    }
    if problem.errors:
        body["errors"] = [
            {"field": e.field, "code": e.code, "detail": e.detail, **(e.place or {})}
            for e in problem.errors
        ]
    return body


def as_problem(exc: Exception) -> DomainError | None:
    """The refusal that an exception stands for, or None for a fault of ours."""
    if isinstance(exc, DomainError):
        return exc
    if isinstance(exc, exceptions.APIException):
        return _translate(exc)
    if isinstance(exc, IntegrityError):
        return _translate_breach(exc)
    if isinstance(exc, get_user_model().DoesNotExist):
        return AuthenticationRequired()
    for kind, problem in PROBLEMS:
        if isinstance(exc, kind):
            return problem()
    return None


def _translate_breach(exc: IntegrityError) -> DomainError | None:
    """A member who was deleted while the request ran is logged out, not a fault."""
    if (broken_constraint(exc) or "").endswith(MEMBER_IS_GONE):
        return AuthenticationRequired()
    return None


def _translate(exc: exceptions.APIException) -> DomainError:
    headers = dict(getattr(exc, "headers", None) or {})
    match exc:
        case exceptions.ValidationError():
            return DomainError(errors=tuple(flatten(exc.get_full_details())))
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            realm = getattr(exc, "auth_header", "Bearer")
            return AuthenticationRequired(headers={"WWW-Authenticate": realm})
        case exceptions.PermissionDenied():
            return Forbidden()
        case exceptions.NotFound():
            return NotFound()
        case exceptions.MethodNotAllowed():
            return MethodNotAllowed(headers=headers)
        case exceptions.NotAcceptable():
            return NotAcceptable()
        case exceptions.UnsupportedMediaType():
            return UnsupportedMediaType()
        case _:
            return InvalidRequest(str(exc.detail))


def flatten(details: Any, path: str = "") -> Iterator[FieldError]:
    """DRF's nested error details as a flat list, fields dotted (`items.1.amount`)."""
    if isinstance(details, Mapping):
        if "message" in details and "code" in details:
            text = str(details["message"]).encode("utf-8", "replace").decode()
            yield FieldError(path or BODY, text, details["code"])
            return
        for key, value in details.items():
            name = "" if key == "non_field_errors" else str(key)
            yield from flatten(value, ".".join(filter(None, (path, name))))
    elif isinstance(details, list):
        for item in details:
            yield from flatten(item, path)


def render_problem(problem: DomainError) -> HttpResponse:
    """One body for all: views, unknown paths, middleware, faults."""
    return HttpResponse(
        dump_json(describe(problem)),
        status=problem.status,
        headers=problem.headers,
        content_type=MEDIA_TYPE,
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render_problem(as_problem(exception) or InvalidRequest())


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render_problem(Forbidden())


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render_problem(NotFound("There is no such address."))


def server_error(request: HttpRequest) -> HttpResponse:
    fault = sys.exc_info()[1]
    problem = as_problem(fault) if isinstance(fault, Exception) else None
    return render_problem(problem or InternalError())


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's own form check, which guards the admin."""
    return render_problem(CrossOrigin(reason))
