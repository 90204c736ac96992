"""Whether the periodic jobs run when they should."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

from core.jobs.models import JobRun

OVERDUE_AFTER_INTERVALS = 2

_LAST_RUNS = """
SELECT job.name, latest.state, latest.error, latest.count, latest.started_at,
       good.started_at
FROM unnest(%s::text[]) AS job (name)
LEFT JOIN LATERAL (
    SELECT state, error, count, started_at FROM job_run
    WHERE job = job.name AND state <> 'SKIPPED'
    ORDER BY started_at DESC LIMIT 1
) latest ON true
LEFT JOIN LATERAL (
    SELECT started_at FROM job_run
    WHERE job = job.name AND state = 'DONE'
    ORDER BY started_at DESC LIMIT 1
) good ON true
ORDER BY job.name
"""


@dataclass(frozen=True)
class JobStatus:
    """What is known of one job: its last run, skipped ones aside, and the last good.

    `state` is None for a job that never ran.
    """

    name: str
    interval: timedelta
    state: str | None
    error: str | None
    count: int | None
    started_at: datetime | None
    last_success_at: datetime | None

    def is_overdue(self, now: datetime) -> bool:
        """Whether a good run is overdue by a whole interval."""
        if self.name in settings.ON_DEMAND_JOBS:
            return False
        longest = OVERDUE_AFTER_INTERVALS * self.interval
        return self.last_success_at is None or now - self.last_success_at > longest

    @property
    def has_failed(self) -> bool:
        return self.state == JobRun.State.FAILED


def list_job_statuses() -> list[JobStatus]:
    """One for each job that Beat runs, by name; an index seek for each."""
    intervals = get_job_intervals()
    with connection.cursor() as cursor:
        cursor.execute(_LAST_RUNS, [list(intervals)])
        rows = cursor.fetchall()
    return [JobStatus(name, intervals[name], *rest) for name, *rest in rows]


def get_job_intervals() -> dict[str, timedelta]:
    """How often each job runs, by the name that its runs are recorded under."""
    # From the settings, since the web server does not load the Celery application.
    return {
        name: job["schedule"] for name, job in settings.CELERY_BEAT_SCHEDULE.items()
    }
