"""What is wrong with a backup, named by sheet, row and column."""

from core.errors import FieldError
from ledger.errors import EmptyBackupError, InvalidBackupError

MAX_REPORTED_ERRORS = 100
MAX_COUNTED_ERRORS = 1_000
"""Where so much is wrong, the rest is not looked at."""


class ErrorCollector:
    """Collects the errors of the rows; the first 100 are told."""

    def __init__(self) -> None:
        self._errors: list[FieldError] = []
        self._sheet = ""
        self._count = 0

    def start_sheet(self, sheet: str) -> None:
        self._sheet = sheet

    def add(self, row: int, column: str | None, code: str, detail: str) -> None:
        self._count += 1
        if self._count >= MAX_COUNTED_ERRORS:
            self.raise_if_any(is_empty=False)
        if len(self._errors) >= MAX_REPORTED_ERRORS:
            return
        path = ".".join(filter(None, (self._sheet, str(row), column)))
        place = {"sheet": self._sheet, "row": row, "column": column}
        self._errors.append(FieldError(path, detail, code, place))

    def raise_if_any(self, *, is_empty: bool) -> None:
        """Raise what was found; an empty backup only where nothing is wrong."""
        if self._errors:
            detail = InvalidBackupError.detail + self._omitted_errors_text()
            raise InvalidBackupError(detail, errors=tuple(self._errors))
        if is_empty:
            raise EmptyBackupError

    def _omitted_errors_text(self) -> str:
        others = self._count - len(self._errors)
        if not others:
            return ""
        at_least = "At least " if self._count >= MAX_COUNTED_ERRORS else ""
        return f" {at_least}{others} more errors."
