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
    CrossOriginError,
    DomainError,
    FieldError,
    NotFoundError,
    violated_constraint_name,
)

logger = logging.getLogger(__name__)

PROBLEM_MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 5
DATABASE_UNAVAILABLE_ERRORS = (OperationalError, InterfaceError)
MEMBER_FOREIGN_KEY_SUFFIX = "_fk_member_id"
"""How Django names the foreign keys to the table of members."""
BODY_FIELD = "body"
"""The `field` of an error that concerns the body as a whole."""


class InvalidRequestError(DomainError):
    """400 for what Django itself refuses, such as a malformed host or form."""


class ForbiddenError(DomainError):
    status = 403
    code = "FORBIDDEN"
    detail = "This is not allowed."


class AuthenticationRequiredError(DomainError):
    status = 401
    code = "AUTHENTICATION_REQUIRED"
    detail = "Log in first."


class MethodNotAllowedError(DomainError):
    status = 405
    code = "METHOD_NOT_ALLOWED"
    detail = "This address does not answer this method."


class NotAcceptableError(DomainError):
    status = 406
    code = "NOT_ACCEPTABLE"
    detail = "The answer cannot be given in a form that the request accepts."


class PayloadTooLargeError(DomainError):
    status = 413
    code = "PAYLOAD_TOO_LARGE"
    detail = "The body is too large."


class UnsupportedMediaTypeError(DomainError):
    status = 415
    code = "UNSUPPORTED_MEDIA_TYPE"
    detail = "The body is of a type that is not read here."


class InternalError(DomainError):
    status = 500
    code = "INTERNAL_ERROR"
    detail = "Something went wrong on our side."


class ServiceUnavailableError(DomainError):
    status = 503
    code = "SERVICE_UNAVAILABLE"
    detail = "The database does not answer. Try again in a moment."

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


EXCEPTION_MAP: tuple[tuple[tuple[type[Exception], ...], type[DomainError]], ...] = (
    (DATABASE_UNAVAILABLE_ERRORS, ServiceUnavailableError),
    ((Http404,), NotFoundError),
    ((RequestDataTooBig,), PayloadTooLargeError),
    ((PermissionDenied,), ForbiddenError),
)
"""What Django raises, and what it means here."""


def handle_exception(exc: Exception, context: Mapping[str, Any]) -> HttpResponse | None:
    """DRF's exception handler; None lets Django answer 500 and log the trace."""
    problem = to_domain_error(exc)
    if problem is None:
        return None
    response = problem_response(problem)
    if isinstance(problem, ServiceUnavailableError):
        logger.warning("database unavailable: %s", type(exc).__name__)
        response.database_down = True  # type: ignore[attr-defined]
    return response


def problem_payload(problem: DomainError) -> dict[str, Any]:
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
            {"field": e.field, "code": e.code, "detail": e.detail, **(e.location or {})}
            for e in problem.errors
        ]
    return body


def to_domain_error(exc: Exception) -> DomainError | None:
    """The refusal that an exception stands for, or None for a fault of ours."""
    if isinstance(exc, DomainError):
        return exc
    if isinstance(exc, exceptions.APIException):
        return _from_drf_exception(exc)
    if isinstance(exc, IntegrityError):
        return _from_integrity_error(exc)
    if isinstance(exc, get_user_model().DoesNotExist):
        return AuthenticationRequiredError()
    for kind, problem in EXCEPTION_MAP:
        if isinstance(exc, kind):
            return problem()
    return None


def _from_integrity_error(exc: IntegrityError) -> DomainError | None:
    """A member who was deleted while the request ran is logged out, not a fault."""
    if (violated_constraint_name(exc) or "").endswith(MEMBER_FOREIGN_KEY_SUFFIX):
        return AuthenticationRequiredError()
    return None


def _from_drf_exception(exc: exceptions.APIException) -> DomainError:
    headers = dict(getattr(exc, "headers", None) or {})
    match exc:
        case exceptions.ValidationError():
            return DomainError(errors=tuple(flatten_errors(exc.get_full_details())))
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            realm = getattr(exc, "auth_header", "Bearer")
            return AuthenticationRequiredError(headers={"WWW-Authenticate": realm})
        case exceptions.PermissionDenied():
            return ForbiddenError()
        case exceptions.NotFound():
            return NotFoundError()
        case exceptions.MethodNotAllowed():
            return MethodNotAllowedError(headers=headers)
        case exceptions.NotAcceptable():
            return NotAcceptableError()
        case exceptions.UnsupportedMediaType():
            return UnsupportedMediaTypeError()
        case _:
            return InvalidRequestError(str(exc.detail))


def flatten_errors(details: Any, path: str = "") -> Iterator[FieldError]:
    """DRF's nested error details as a flat list, fields dotted (`items.1.amount`)."""
    if isinstance(details, Mapping):
        if "message" in details and "code" in details:
            text = str(details["message"]).encode("utf-8", "replace").decode()
            yield FieldError(path or BODY_FIELD, text, details["code"])
            return
        for key, value in details.items():
            name = "" if key == "non_field_errors" else str(key)
            yield from flatten_errors(value, ".".join(filter(None, (path, name))))
    elif isinstance(details, list):
        for item in details:
            yield from flatten_errors(item, path)


def problem_response(problem: DomainError) -> HttpResponse:
    """One body for all: views, unknown paths, middleware, faults."""
    return HttpResponse(
        dump_json(problem_payload(problem)),
        status=problem.status,
        headers=problem.headers,
        content_type=PROBLEM_MEDIA_TYPE,
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return problem_response(to_domain_error(exception) or InvalidRequestError())


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return problem_response(ForbiddenError())


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return problem_response(NotFoundError("There is no such address."))


def server_error(request: HttpRequest) -> HttpResponse:
    fault = sys.exc_info()[1]
    problem = to_domain_error(fault) if isinstance(fault, Exception) else None
    return problem_response(problem or InternalError())


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's own form check, which guards the admin."""
    return problem_response(CrossOriginError(reason))
