"""`purge_sessions`: delete expired sessions, rate limits, mails and codes."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from accounts.codes import purge_code_requests
from accounts.mail.delivery import purge_mails
from accounts.rate_limits import purge_rate_limits
from accounts.sessions import purge_expired_sessions
from core.progress import Progress


class Command(BaseCommand):
    help = (
        "Deletes expired sessions from auth_session, rate limits whose windows have "
        "passed, and what is left of old mails and codes. Beat does the same once a "
        "day; running both at the same time is safe."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        sessions = purge_expired_sessions(now, Progress(self.stderr.write))
        limits = purge_rate_limits(now)
        self.stdout.write(f"{sessions} sessions and {limits} rate limits purged.")
        if mails := purge_mails(now) + purge_code_requests(now):
            self.stdout.write(f"{mails} rows of mails and codes purged.")
