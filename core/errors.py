"""The root of every refusal, and the refusals that belong to no single app."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field; `field` is its name on the wire.

    `place` says more about where it stands: sheet, row and column of a backup.
    """

    field: str
    detail: str
    code: str = "invalid"
    location: Mapping[str, Any] | None = None


class DomainError(Exception):
    """A refusal that a rule raises; `core.api.exception_handler` renders it.

    Subclasses state `status`, `code` and `detail` (spec 1.6).
    """

    status = 400
    code = "VALIDATION_ERROR"
    detail = "The request is not valid."

    def __init__(
        self,
        detail: str | None = None,
        *,
        errors: tuple[FieldError, ...] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.detail = detail or self.detail
        self.errors = errors
        self.headers = dict(headers or {})
        super().__init__(self.detail)


class InvalidFieldError(DomainError):
    """One field of the request breaks a rule: 400 with the field named."""

    def __init__(self, field: str, detail: str, code: str = "invalid") -> None:
        super().__init__(errors=(FieldError(field, detail, code),))


class NotFoundError(DomainError):
    status = 404
    code = "NOT_FOUND"
    detail = "There is nothing here under this address."


class DuplicateError(DomainError):
    status = 409
    code = "DUPLICATE"
    detail = "This exists already."


class InUseError(DomainError):
    status = 409
    code = "IN_USE"
    detail = "This is still in use."


class InvalidOrderError(DomainError):
    code = "INVALID_ORDER"
    detail = "The ids must be exactly those of the list, each once."


class CategoryHierarchyError(DomainError):
    code = "CATEGORY_HIERARCHY"
    detail = "Categories have two levels: a major one, and minor ones of its type."


class InvalidImageError(DomainError):
    code = "INVALID_IMAGE"
    detail = "This is not a picture that can be used here."


class RateLimitedError(DomainError):
    status = 429
    code = "RATE_LIMITED"
    detail = "Too many attempts. Try again later."

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(max(1, retry_after_seconds))})


class ProviderUnavailableError(DomainError):
    status = 502
    code = "PROVIDER_UNAVAILABLE"
    detail = "A service that this depends on does not answer."


class CrossOriginError(DomainError):
    status = 403
    code = "CSRF_FAILED"
    detail = "A request by cookie must come from this site."


@contextmanager
def raise_on_constraint_violation(
    constraint: str, refusal: DomainError
) -> Iterator[None]:
    """Turn the breach of one named database constraint into a refusal.

    The constraint decides, not an earlier look: two requests at once cannot both
    pass. Open a savepoint inside when the transaction goes on afterwards.
    """
    try:
        yield
    except IntegrityError as error:
        if violated_constraint_name(error) == constraint:
            raise refusal from error
        raise


def violated_constraint_name(error: IntegrityError) -> str | None:
    """The name of the constraint that PostgreSQL reports as broken."""
    diagnostics = getattr(error.__cause__, "diag", None)
    return getattr(diagnostics, "constraint_name", None)
