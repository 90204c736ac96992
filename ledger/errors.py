"""Errors of the ledger alone."""

from collections.abc import Mapping
from datetime import date

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from core.errors import (
    DomainError,
    FieldError,
    InUseError,
    LimitReachedError,
    MissingItemError,
)
from ledger.entry_shape import LinesMismatchError as LinesMismatchError


class MissingWalletError(MissingItemError):
    """The wallet was not looked up, or has been deleted since."""

    def __init__(self, field: str = "walletId") -> None:
        super().__init__(field)


class DeletedError(DomainError):
    """The entry with this `clientId` was deleted."""

    status = 409
    code = "DELETED"
    detail = gettext_lazy("The entry was deleted.")


class CursorExpiredError(DomainError):
    status = 410
    code = "CURSOR_EXPIRED"
    detail = gettext_lazy("The cursor is too old. Read a whole copy again.")


class NegativeHoldingsError(DomainError):
    """A trade would make holdings negative; `day` is the first day affected."""

    code = "NEGATIVE_HOLDINGS"

    def __init__(self, day: date) -> None:
        detail = gettext("Holdings would become negative on {day}.")
        detail = detail.format(day=day.isoformat())
        super().__init__(detail, errors=(FieldError("date", detail, "negative"),))


class RefundExceedsError(DomainError):
    code = "REFUND_EXCEEDS"
    detail = gettext_lazy("The refunds exceed the amount of the expense.")

    def __init__(self, field: str = "amount") -> None:
        super().__init__(errors=(FieldError(field, self.detail, "exceeds"),))


class NotMergeableError(DomainError):
    def __init__(self, detail: str | Promise) -> None:
        super().__init__(errors=(FieldError("with", detail, "not_mergeable"),))


class ReferenceGoneError(DomainError):
    status = 409
    code = "REFERENCE_GONE"
    detail = gettext_lazy(
        "A wallet of these rows was deleted. Name another one in `walletId`."
    )


class ChangedSinceError(DomainError):
    """`counts` are the rows written since, by kind."""

    status = 409
    code = "CHANGED_SINCE"
    detail = gettext_lazy("The ledger was changed since. With `force` that is lost.")

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        super().__init__(members={"counts": counts or {}})


class NotUndoableError(DomainError):
    status = 409
    code = "NOT_UNDOABLE"
    detail = gettext_lazy("The operation cannot be undone any more.")


class ReceiptsNotConfiguredError(DomainError):
    status = 503
    code = "OCR_NOT_CONFIGURED"
    detail = gettext_lazy("Receipt recognition is not configured.")


class LedgerFullError(LimitReachedError):
    detail = gettext_lazy("A ledger holds at most 500,000 entries.")


class EmptyBackupError(DomainError):
    code = "EMPTY_BACKUP"
    detail = gettext_lazy("The backup contains no rows; nothing was changed.")


class InvalidBackupError(DomainError):
    code = "INVALID_BACKUP"
    detail = gettext_lazy("The backup contains invalid rows; nothing was changed.")


class ImportUnreadableError(DomainError):
    """`detail` says why, for a person."""

    code = "IMPORT_UNREADABLE"
    detail = gettext_lazy("The file cannot be read.")


class FilePasswordError(DomainError):
    """An encrypted file came without its password, or with another one."""

    code = "PASSWORD_NEEDED"

    def __init__(self, is_wrong: bool = False) -> None:
        super().__init__(
            gettext("The password does not open the file.")
            if is_wrong
            else gettext("The file is encrypted. Send its password.")
        )


class RestoreInProgressError(InUseError):
    detail = gettext_lazy("Another restore of this ledger is in progress.")


class RestoreTimeoutError(DomainError):
    """A statement of a restore exceeded its time limit; nothing was written."""

    status = 503
    code = "SERVICE_UNAVAILABLE"
    detail = gettext_lazy(
        "A step of the restore took longer than the limit of {seconds} seconds."
        " Nothing was changed. Try again later."
    )

    def __init__(self, seconds: int) -> None:
        super().__init__(
            self.detail.format(seconds=seconds), headers={"Retry-After": "60"}
        )


class BackupsBusyError(DomainError):
    status = 503
    code = "SERVICE_UNAVAILABLE"
    detail = gettext_lazy("Other backups are being processed. Try again in a moment.")

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "5"})
