"""Errors of reading a file; the API turns them into its own."""

from typing import NamedTuple


class UnreadableValueError(ValueError):
    """A cell cannot be read; `message` says why, for a person."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class UnreadableFileError(Exception):
    """A file cannot be read; `reason` says why, for a person."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class PasswordNeededError(Exception):
    """A file is encrypted; `wrong` is True if the given password does not open it."""

    def __init__(self, *, wrong: bool) -> None:
        self.wrong = wrong
        super().__init__()


class MappingError(NamedTuple):
    """A field of a mapping, the code of the error, and a sentence for a person."""

    field: str
    code: str
    message: str


class InvalidMappingError(Exception):
    def __init__(self, errors: tuple[MappingError, ...]) -> None:
        self.errors = errors
        super().__init__(errors)
