"""Celery tasks of accounts."""

from datetime import datetime, timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from accounts.account_deletion import delete_accounts_in_batches, has_closed_accounts
from accounts.codes import purge_code_requests
from accounts.login_tickets import purge_login_tickets
from accounts.mail.delivery import has_due_mails, purge_mails, send_due_mails
from accounts.password_reset import has_waiting_requests, process_requests
from accounts.personal_tokens import notify_of_expiring_tokens
from accounts.rate_limits import purge_rate_limits
from accounts.security_log import purge_security_log
from accounts.sessions import purge_expired_sessions
from core.jobs.runner import run_job


class AccountDeletionsFailedError(RuntimeError):
    """Some closed accounts could not be deleted; the log names them."""


class MailServerError(RuntimeError):
    """The mail server did not accept some mails; they are tried again."""


@shared_task  # type: ignore[untyped-decorator]
def purge_sessions() -> None:
    """Delete what has expired of accounts, and tell of tokens that will; daily."""
    run_job(
        "purge_sessions",
        lambda now: (
            purge_expired_sessions(now)
            + purge_rate_limits(now)
            + purge_mails(now)
            + purge_code_requests(now)
            + purge_login_tickets(now)
            + purge_security_log(now - timedelta(days=settings.SECURITY_EVENT_DAYS))
            + notify_of_expiring_tokens(now)
        ),
    )


@shared_task  # type: ignore[untyped-decorator]
def send_mail() -> None:
    """Send the mails that wait; every minute and after each commit of one."""
    if has_waiting_requests() or has_due_mails(timezone.now()):
        run_job("send_mail", run_send_mail)


def run_send_mail(now: datetime) -> int:
    """Return the number of mails that were sent.

    Raises `MailServerError` at the end if some have to wait for another attempt.
    """
    process_requests(now)
    result = send_due_mails()
    if result.failed:
        raise MailServerError(f"{result.failed} mails were not accepted.")
    return result.sent


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
