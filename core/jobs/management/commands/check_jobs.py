"""Report the periodic jobs that failed or are overdue."""

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from core.jobs.status import JobStatus, list_job_statuses


class Command(BaseCommand):
    help = (
        "Prints each periodic job with its last run. Exits with 1 if the last run of a "
        "job failed or its last successful run is older than twice its interval: then "
        "Beat or the worker is down, or the job does not finish. Meant for monitoring, "
        "once an hour; a new installation needs a minute first. Runs that were skipped "
        "because another was in progress do not count. The job that processes store "
        "notifications is never overdue: it runs only when there is one."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        statuses = list_job_statuses()
        for status in statuses:
            self.stdout.write(format_job_status(status, now))
        problems = [
            status.name
            for status in statuses
            if status.has_failed or status.is_overdue(now)
        ]
        if problems:
            raise CommandError(f"Failed or overdue: {', '.join(problems)}.")


def format_job_status(status: JobStatus, now: datetime) -> str:
    """Return a line such as `run_recurring: DONE 12 min ago, 3 rows`."""
    if status.started_at is None:
        return f"{status.name}: never ran"
    minutes = int((now - status.started_at).total_seconds()) // 60
    parts = [f"{status.name}: {status.state} {minutes} min ago"]
    if status.count is not None:
        parts.append(f"{status.count} rows")
    if status.error:
        parts.append(status.error)
    if status.is_overdue(now):
        parts.append("OVERDUE")
    return ", ".join(parts)
