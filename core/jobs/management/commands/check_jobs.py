"""`check_jobs`: whether the periodic jobs run when they should."""

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from core.jobs.status import JobStatus, list_job_statuses


class Command(BaseCommand):
    help = (
        "Prints each periodic job with its last run, and exits with 1 if the last run "
        "of one failed, or if its last good run is older than twice its interval: Beat "
        "or the worker is down, or the job does not get through. Meant for monitoring, "
        "once an hour; a service that has just been set up needs a minute first. Runs "
        "that were skipped because another was under way do not count. The job that "
        "follows store notifications is never late: it runs when one waits."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        states = list_job_statuses()
        for state in states:
            self.stdout.write(format_job_status(state, now))
        ill = [
            state.name for state in states if state.has_failed or state.is_overdue(now)
        ]
        if ill:
            raise CommandError(f"Look after: {', '.join(ill)}.")


def format_job_status(state: JobStatus, now: datetime) -> str:
    """One line: `run_recurring: DONE 12 min ago, 3 rows`."""
    if state.started_at is None:
        return f"{state.name}: never ran"
    minutes = int((now - state.started_at).total_seconds()) // 60
    parts = [f"{state.name}: {state.state} {minutes} min ago"]
    if state.count is not None:
        parts.append(f"{state.count} rows")
    if state.error:
        parts.append(state.error)
    if state.is_overdue(now):
        parts.append("LATE")
    return ", ".join(parts)
