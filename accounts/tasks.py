"""Celery tasks of accounts."""

from datetime import datetime

from celery import shared_task

from accounts.account_deletion import delete_accounts_in_batches, has_closed_accounts
from accounts.rate_limits import purge_rate_limits
from accounts.sessions import purge_expired_sessions
from core.jobs.runner import run_job


class AccountDeletionsFailedError(RuntimeError):
    """Some closed accounts could not be deleted; the log names them."""


@shared_task  # type: ignore[untyped-decorator]
def purge_sessions() -> None:
    """Delete expired sessions and rate limits whose windows have passed; daily."""
    run_job(
        "purge_sessions",
        lambda now: purge_expired_sessions(now) + purge_rate_limits(now),
    )


@shared_task  # type: ignore[untyped-decorator]
def delete_closed_accounts() -> None:
    """Delete the data of closed accounts; every minute, no run without any."""
    if has_closed_accounts():
        run_job("delete_closed_accounts", run_delete_closed_accounts)


def run_delete_closed_accounts(now: datetime) -> int:
    """Return the number of rows that were deleted in batches.

    Raises `AccountDeletionsFailedError` at the end if some accounts are left.
    """
    result = delete_accounts_in_batches()
    if result.failed:
        raise AccountDeletionsFailedError(f"{result.failed} accounts are left.")
    return result.rows
