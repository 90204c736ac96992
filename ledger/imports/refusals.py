"""Files that cannot be read, as errors of the API."""

from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import DomainError, FieldError
from ledger.errors import FilePasswordError, ImportUnreadableError
from ledger.imports.errors import (
    InvalidMappingError,
    PasswordNeededError,
    UnreadableFileError,
)


@contextmanager
def refuse_unreadable() -> Iterator[None]:
    """Raise the API's errors for those of the readers."""
    try:
        yield
    except UnreadableFileError as error:
        raise ImportUnreadableError(error.reason) from None
    except PasswordNeededError as error:
        raise FilePasswordError(error.wrong) from None
    except InvalidMappingError as error:
        named = [(f"mapping.{each.field}", each) for each in error.errors]
        errors = tuple(FieldError(name, it.message, it.code) for name, it in named)
        raise DomainError(errors=errors) from None
