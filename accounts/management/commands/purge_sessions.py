"""`purge_sessions`: delete expired sessions, rate limits, mails and codes."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from accounts.codes import purge_code_requests
from accounts.login_tickets import purge_login_tickets
from accounts.mail.delivery import purge_mails
from accounts.personal_tokens import notify_of_expiring_tokens
from accounts.rate_limits import purge_rate_limits
from accounts.security_log import purge_security_log
from accounts.sessions import purge_expired_sessions
from core.progress import Progress


class Command(BaseCommand):
    help = (
        "Deletes expired sessions from auth_session, rate limits whose windows have "
        "passed, and what is left of old mails, codes, logins and security logs; tells "
        "members of tokens that end. Beat does the same once a day; running both at "
        "the same time is safe."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        sessions = purge_expired_sessions(now, Progress(self.stderr.write))
        limits = purge_rate_limits(now)
        self.stdout.write(f"{sessions} sessions and {limits} rate limits purged.")
        if mails := purge_mails(now) + purge_code_requests(now):
            self.stdout.write(f"{mails} rows of mails and codes purged.")
        before = now - timedelta(days=settings.SECURITY_EVENT_DAYS)
        if logins := purge_login_tickets(now) + purge_security_log(before):
            self.stdout.write(f"{logins} rows of logins and security logs purged.")
        notify_of_expiring_tokens(now)
