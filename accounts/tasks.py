"""Celery tasks of accounts."""

from datetime import datetime, timedelta
from typing import NamedTuple

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from accounts.codes.codes import purge_code_requests
from accounts.codes.waiting_requests import has_waiting_requests, process_requests
from accounts.inbox.items import purge_inboxes
from accounts.legal.reminders import remind_of_marketing_consents
from accounts.login.limited_logins import (
    has_untold_logins,
    notify_of_limited_logins,
)
from accounts.login.tickets import purge_login_tickets
from accounts.mail.delivery import has_due_mails, purge_mails, send_due_mails
from accounts.members.suspensions import end_suspensions
from accounts.security.log import purge_security_log
from accounts.security.rate_limits import purge_rate_limits
from accounts.sessions.store import purge_expired_sessions
from accounts.tokens.tokens import notify_of_expiring_tokens
from core.jobs.runner import run_job
from core.progress import SILENT_PROGRESS, Progress


class PurgedRows(NamedTuple):
    sessions: int
    limits: int
    mails: int
    logins: int
    notified_tokens: int
    reminded_consents: int
    inbox_items: int


class MailServerError(RuntimeError):
    """Refused mails stay in the outbox."""


@shared_task  # type: ignore[untyped-decorator]
def purge_sessions() -> None:
    """Delete expired rows; daily."""
    run_job("purge_sessions", lambda now: sum(run_purge(now)))


@shared_task  # type: ignore[untyped-decorator]
def lift_suspensions() -> None:
    """End suspensions whose time is over; hourly."""
    run_job("lift_suspensions", end_suspensions)


@shared_task  # type: ignore[untyped-decorator]
def send_mail() -> None:
    """Send waiting mails; every minute and after each commit."""
    now = timezone.now()
    if has_waiting_requests() or has_untold_logins(now) or has_due_mails(now):
        run_job("send_mail", run_send_mail)


def run_purge(now: datetime, progress: Progress = SILENT_PROGRESS) -> PurgedRows:
    before = now - timedelta(days=settings.SECURITY_EVENT_DAYS)
    return PurgedRows(
        purge_expired_sessions(now, progress),
        purge_rate_limits(now),
        purge_mails(now) + purge_code_requests(now),
        purge_login_tickets(now) + purge_security_log(before),
        notify_of_expiring_tokens(now),
        remind_of_marketing_consents(now),
        purge_inboxes(now),
    )


def run_send_mail(now: datetime) -> int:
    process_requests(now)
    notify_of_limited_logins(now)
    result = send_due_mails()
    if result.failed:
        raise MailServerError(f"{result.failed} mails were not accepted.")
    return result.sent
