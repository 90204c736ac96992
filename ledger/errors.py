"""Every refusal of the ledger that is not shared with other apps."""

from datetime import date

from core.errors import DomainError, FieldError, InUseError


class NegativeHoldingsError(DomainError):
    """More would be sold than is held; names the first day on which it would be."""

    code = "NEGATIVE_HOLDINGS"

    def __init__(self, day: date) -> None:
        detail = f"More would be sold than is held on {day.isoformat()}."
        super().__init__(detail, errors=(FieldError("date", detail, "negative"),))


class ReceiptsNotConfiguredError(DomainError):
    status = 503
    code = "OCR_NOT_CONFIGURED"
    detail = "Receipt recognition is not set up here."


class EmptyBackupError(DomainError):
    code = "EMPTY_BACKUP"
    detail = "There is no row in this backup; nothing was changed."


class InvalidBackupError(DomainError):
    code = "INVALID_BACKUP"
    detail = "Some rows of this backup cannot be restored; nothing was changed."


class RestoreInProgressError(InUseError):
    detail = "Another restore of this ledger is under way."


class BackupReadersBusyError(DomainError):
    """Files are read by a few at a time, so that their memory stays bounded."""

    status = 503
    code = "SERVICE_UNAVAILABLE"
    detail = "Other backups are being read. Try again in a moment."

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "5"})
