"""Runs of periodic jobs: one at a time for each job.

Jobs are idempotent; the lease only saves work.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.utils import timezone

from core.jobs.models import JobRun
from core.leases.holding import (
    acquire_lease_of_killed_holder,
    lease,
    purge_expired_leases,
)

RUN_RETENTION = timedelta(days=90)

logger = logging.getLogger(__name__)
Job = Callable[[datetime], int]


def run_job(name: str, job: Job) -> JobRun:
    """Skip `job` while a run of the same name is in progress."""
    # The task of a killed worker is delivered again before its lease expires, and must
    # not be skipped.
    with lease(f"job {name}", acquire_lease_of_killed_holder) as held:
        now = timezone.now()
        purge_old_records(now)
        if held is None:
            return JobRun.objects.create(
                job=name, state=JobRun.State.SKIPPED, started_at=now, ended_at=now
            )
        # This run holds the lease: the others were killed.
        JobRun.objects.filter(job=name, state=JobRun.State.RUNNING).update(
            state=JobRun.State.FAILED, ended_at=now, error="killed"
        )
        run = JobRun.objects.create(
            job=name, state=JobRun.State.RUNNING, started_at=now
        )
        try:
            run.count = job(now)
        except Exception as error:
            # The message may contain members' data.
            _finish_run(run, JobRun.State.FAILED, type(error).__name__)
            raise
        _finish_run(run, JobRun.State.DONE)
        return run


def purge_old_records(now: datetime) -> None:
    purge_expired_leases()
    JobRun.objects.filter(started_at__lt=now - RUN_RETENTION).delete()


def list_last_runs() -> list[JobRun]:
    runs = JobRun.objects.exclude(state=JobRun.State.SKIPPED)
    return list(runs.order_by("job", "-started_at", "-id").distinct("job"))


def _finish_run(run: JobRun, state: str, error: str = "") -> None:
    run.state, run.error = state, error
    run.ended_at = timezone.now()
    run.save(update_fields=["state", "error", "ended_at", "count"])
    log_end_of_run(run)


def log_end_of_run(run: JobRun) -> None:
    fields = {"job": run.job, "state": run.state, "count": run.count}
    logger.info("job ended", extra={"fields": fields})
