"""Errors of a backup file."""

from django.utils.translation import gettext

from core.api.unknown_names import UNKNOWN, describe_unknown_name
from core.errors import FieldError
from ledger.errors import InvalidBackupError

MAX_REPORTED_ERRORS = 100
# Validation stops here: the file is hardly a backup.
MAX_COUNTED_ERRORS = 1_000


class ErrorCollector:
    """Errors with sheet, row and column: the first 100, and the number of all."""

    def __init__(self) -> None:
        self._errors: list[FieldError] = []
        self._sheet = ""
        self._count = 0

    def start_sheet(self, sheet: str) -> None:
        self._sheet = sheet

    def add(
        self,
        row_number: int,
        column: str | None,
        code: str,
        detail: str,
        *,
        suggestion: str | None = None,
    ) -> None:
        """Add an error of a row, or with `column` of one cell.

        Raises `InvalidBackupError` for the last error that is counted.
        """
        self._count += 1
        if self._count >= MAX_COUNTED_ERRORS:
            self.raise_if_any()
        if len(self._errors) >= MAX_REPORTED_ERRORS:
            return
        path = ".".join(filter(None, (self._sheet, str(row_number), column)))
        location = {"sheet": self._sheet, "row": row_number, "column": column}
        self._errors.append(FieldError(path, detail, code, location, suggestion))

    def add_unknown_name(
        self, row_number: int, name: str, suggestion: str | None
    ) -> None:
        """Add an error of a column that its sheet does not have."""
        text = describe_unknown_name(suggestion, "")
        self.add(row_number, name, UNKNOWN, text, suggestion=suggestion)

    def raise_if_any(self) -> None:
        if not self._errors:
            return
        detail = str(InvalidBackupError.detail)
        omitted = self._count - len(self._errors)
        if self._count >= MAX_COUNTED_ERRORS:
            more = gettext("At least {count} more errors.")
            detail = f"{detail} {more.format(count=omitted)}"
        elif omitted:
            more = gettext("{count} more errors.")
            detail = f"{detail} {more.format(count=omitted)}"
        raise InvalidBackupError(detail, errors=tuple(self._errors))
