"""Errors that are reported to clients."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from django.db import IntegrityError
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

RETRY_AFTER_SECONDS = 5
# A maintenance takes minutes.
READ_ONLY_RETRY_SECONDS = 60
_SHARD_CONSTRAINT_RE = re.compile(r'constraint "(?P<name>\w+?)(?:_\d{6,})?"')


@dataclass(frozen=True, slots=True)
class FieldError:
    """`field` is named as in the request; `location` is in a backup."""

    field: str
    detail: str | Promise
    code: str = "invalid"
    location: Mapping[str, Any] | None = None
    # A known name, with the code `unknown`.
    suggestion: str | None = None


class DomainError(Exception):
    """An error response (spec 1.6)."""

    status = 400
    code = "VALIDATION_ERROR"
    # Lazy, so that it is in the language of the response.
    detail: str | Promise = gettext_lazy("The request is invalid.")

    def __init__(
        self,
        detail: str | Promise | None = None,
        *,
        errors: tuple[FieldError, ...] = (),
        headers: Mapping[str, str] | None = None,
        members: Mapping[str, Any] | None = None,
    ) -> None:
        self.detail = self.detail if detail is None else detail
        self.errors = errors
        self.headers = dict(headers or {})
        self.members = dict(members or {})
        super().__init__(self.detail)


@contextmanager
def errors_of(part: str) -> Iterator[None]:
    """Put the name of a part of the body before the fields of errors in the block."""
    try:
        yield
    except DomainError as error:
        error.errors = tuple(
            replace(each, field=f"{part}.{each.field}") for each in error.errors
        )
        raise


class InvalidFieldError(DomainError):
    def __init__(
        self, field: str, detail: str | Promise, code: str = "invalid"
    ) -> None:
        super().__init__(errors=(FieldError(field, detail, code),))


class NotFoundError(DomainError):
    status = 404
    code = "NOT_FOUND"
    detail = gettext_lazy("Not found.")


class MissingItemError(InvalidFieldError):
    """The caller has no item with the id in the field."""

    def __init__(self, field: str) -> None:
        super().__init__(field, NotFoundError.detail, "does_not_exist")


class DuplicateError(DomainError):
    status = 409
    code = "DUPLICATE"
    detail = gettext_lazy("This already exists.")


class InUseError(DomainError):
    status = 409
    code = "IN_USE"
    detail = gettext_lazy("This is in use.")


class LimitReachedError(DomainError):
    status = 409
    code = "LIMIT_REACHED"
    detail = gettext_lazy("The list has as many rows as it may have.")


class InvalidOrderError(DomainError):
    code = "INVALID_ORDER"
    detail = gettext_lazy("The list must contain each id exactly once.")


class CategoryHierarchyError(DomainError):
    code = "CATEGORY_HIERARCHY"
    detail = gettext_lazy(
        "A minor category must belong to a major category of the same type."
    )


class ServiceUnavailableError(DomainError):
    status = 503
    code = "SERVICE_UNAVAILABLE"
    detail = gettext_lazy("The service is temporarily unavailable. Try again later.")

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


class ReadOnlyError(DomainError):
    """An administrator has switched all changes off (spec 7.11)."""

    status = 503
    code = "READ_ONLY"
    detail = gettext_lazy(
        "The service is being maintained, and nothing can be changed. Try again later."
    )

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": str(READ_ONLY_RETRY_SECONDS)})


class InvalidImageError(DomainError):
    code = "INVALID_IMAGE"
    detail = gettext_lazy("The image is damaged or its format is not supported.")


class RateLimitedError(DomainError):
    status = 429
    code = "RATE_LIMITED"
    detail = gettext_lazy("Too many attempts. Try again later.")

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(max(1, retry_after_seconds))})


class ProviderUnavailableError(DomainError):
    status = 502
    code = "PROVIDER_UNAVAILABLE"
    detail = gettext_lazy("An external service is currently unavailable.")


class ProviderBusyError(ProviderUnavailableError):
    status = 503
    code = "SERVICE_UNAVAILABLE"
    detail = gettext_lazy("An external service is currently busy. Try again later.")

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


class CrossOriginError(DomainError):
    status = 403
    code = "CSRF_FAILED"
    detail = gettext_lazy("Requests authenticated by cookie must come from this site.")


@contextmanager
def raise_on_constraint_violation(
    constraint: str, domain_error: DomainError
) -> Iterator[None]:
    """Raise `domain_error` if a statement violates the constraint.

    Open a savepoint inside if the transaction is to continue.
    """
    try:
        yield
    except IntegrityError as error:
        if violated_constraint_name(error) == constraint:
            raise domain_error from error
        raise


def violated_constraint_name(error: IntegrityError) -> str | None:
    """Return the name of the violated constraint.

    Citus passes on only the text of a worker's error, with the number of a shard.
    """
    diagnostics = getattr(error.__cause__, "diag", None)
    if diagnostics is None:
        return None
    if name := diagnostics.constraint_name:
        return str(name)
    # The details quote members' data.
    found = _SHARD_CONSTRAINT_RE.search(diagnostics.message_primary or "")
    return found["name"] if found else None
