"""Errors of the ledger that are not shared with other apps."""

from datetime import date

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from core.errors import DomainError, FieldError, InUseError


class NegativeHoldingsError(DomainError):
    """A trade would make holdings negative; `day` is the first day affected."""

    code = "NEGATIVE_HOLDINGS"

    def __init__(self, day: date) -> None:
        detail = gettext("Holdings would become negative on {day}.")
        detail = detail.format(day=day.isoformat())
        super().__init__(detail, errors=(FieldError("date", detail, "negative"),))


class LinesMismatchError(DomainError):
    """The lines of an entry do not add up to its amount."""

    code = "LINES_MISMATCH"
    detail = gettext_lazy("The lines do not add up to the amount.")

    def __init__(self) -> None:
        super().__init__(errors=(FieldError("lines", self.detail, "mismatch"),))


class RefundExceedsError(DomainError):
    """More would be refunded than was spent."""

    code = "REFUND_EXCEEDS"
    detail = gettext_lazy("The refunds exceed the amount of the expense.")

    def __init__(self) -> None:
        super().__init__(errors=(FieldError("amount", self.detail, "exceeds"),))


class NotMergeableError(DomainError):
    """Two entries that cannot become one transfer."""

    def __init__(self, detail: str | Promise) -> None:
        super().__init__(errors=(FieldError("with", detail, "not_mergeable"),))


class ReceiptsNotConfiguredError(DomainError):
    status = 503
    code = "OCR_NOT_CONFIGURED"
    detail = gettext_lazy("Receipt recognition is not configured.")


class MovingError(DomainError):
    """The entries of a wallet or category are moving, and it takes no writes."""

    status = 409
    code = "MOVING"
    detail = gettext_lazy(
        "The wallet or category is moving to another one. Try again in a few minutes."
    )


class EmptyBackupError(DomainError):
    code = "EMPTY_BACKUP"
    detail = gettext_lazy("The backup contains no rows; nothing was changed.")


class InvalidBackupError(DomainError):
    code = "INVALID_BACKUP"
    detail = gettext_lazy("The backup contains invalid rows; nothing was changed.")


class RestoreInProgressError(InUseError):
    detail = gettext_lazy("Another restore of this ledger is in progress.")


class BackupsBusyError(DomainError):
    """As many backups are being read or written as memory and threads allow."""

    status = 503
    code = "SERVICE_UNAVAILABLE"
    detail = gettext_lazy("Other backups are being processed. Try again in a moment.")

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "5"})
