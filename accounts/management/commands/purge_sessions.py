"""`purge_sessions`: delete expired rows of accounts."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from accounts.tasks import run_purge
from core.progress import Progress


class Command(BaseCommand):
    help = (
        "Deletes expired sessions from auth_session, rate limits whose windows have "
        "passed, and what is left of old mails, codes, logins and security logs; mails "
        "members whose tokens end, and reminds of marketing consents. Beat does the "
        "same once a day; running both at the same time is safe."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        purged = run_purge(timezone.now(), Progress(self.stderr.write))
        self.stdout.write(
            f"{purged.sessions} sessions and {purged.limits} rate limits purged."
        )
        if purged.mails:
            self.stdout.write(f"{purged.mails} rows of mails and codes purged.")
        if purged.logins:
            self.stdout.write(
                f"{purged.logins} rows of logins and security logs purged."
            )
