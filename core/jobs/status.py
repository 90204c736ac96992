"""The status of jobs."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from core.db.rows import fetch_all
from core.jobs.models import JobRun

OVERDUE_AFTER_INTERVALS = 2

# Two index seeks for each job.
_LAST_RUNS = """
SELECT job.name, job.interval, last_run.state, last_run.error, last_run.count,
       last_run.started_at, last_success.started_at AS last_success_at
FROM unnest(%s::text[], %s::interval[]) AS job (name, interval)
LEFT JOIN LATERAL (
    SELECT state, error, count, started_at FROM job_run
    WHERE job = job.name AND state <> 'SKIPPED'
    ORDER BY started_at DESC LIMIT 1
) last_run ON true
LEFT JOIN LATERAL (
    SELECT started_at FROM job_run
    WHERE job = job.name AND state = 'DONE'
    ORDER BY started_at DESC LIMIT 1
) last_success ON true
ORDER BY job.name
"""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The last run is not a skipped one."""

    name: str
    interval: timedelta
    state: str | None
    error: str | None
    count: int | None
    started_at: datetime | None
    last_success_at: datetime | None

    def is_overdue(self, now: datetime) -> bool:
        if self.name in settings.ON_DEMAND_JOBS:
            return False
        max_age = OVERDUE_AFTER_INTERVALS * self.interval
        return self.last_success_at is None or now - self.last_success_at > max_age

    @property
    def has_failed(self) -> bool:
        return self.state == JobRun.State.FAILED


def list_job_statuses() -> list[JobStatus]:
    intervals = get_job_intervals()
    params = [list(intervals), list(intervals.values())]
    return fetch_all(_LAST_RUNS, params, JobStatus)


def get_job_intervals() -> dict[str, timedelta]:
    return {
        name: job["schedule"] for name, job in settings.CELERY_BEAT_SCHEDULE.items()
    }
