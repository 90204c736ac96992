"""Runs of periodic jobs: one at a time for each job, and a stored record of each.

A job is idempotent by itself; the lock only saves work, and the record tells operators
what ran. The lock is an advisory one of the session, so that it ends with a process
that is killed.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.utils import timezone

from core.db.locks import AdvisoryLock, hash_object_id, session_advisory_lock
from core.jobs.models import JobRun

RUN_RETENTION = timedelta(days=90)
"""How long runs are kept."""

logger = logging.getLogger(__name__)
Job = Callable[[datetime], int]


def run_job(name: str, job: Job) -> JobRun:
    """Run the job unless another run of it is under way; what it raised is raised.

    `job` takes the present moment and says how many rows it dealt with. The record
    names only the kind of an error: its text may hold members' data.
    """
    with session_advisory_lock(AdvisoryLock.JOB, hash_object_id(name)) as is_free:
        now = timezone.now()
        JobRun.objects.filter(started_at__lt=now - RUN_RETENTION).delete()
        if not is_free:
            return JobRun.objects.create(
                job=name, state=JobRun.State.SKIPPED, started_at=now, ended_at=now
            )
        _mark_killed_runs_failed(name, now)
        run = JobRun.objects.create(
            job=name, state=JobRun.State.RUNNING, started_at=now
        )
        try:
            run.count = job(now)
        except Exception as error:
            _finish_run(run, JobRun.State.FAILED, type(error).__name__)
            raise
        _finish_run(run, JobRun.State.DONE)
        return run


def list_last_runs() -> list[JobRun]:
    """The newest run of each job that was not skipped, by name."""
    runs = JobRun.objects.exclude(state=JobRun.State.SKIPPED)
    return list(runs.order_by("job", "-started_at", "-id").distinct("job"))


def _finish_run(run: JobRun, state: str, error: str = "") -> None:
    run.state, run.error = state, error
    run.ended_at = timezone.now()
    run.save(update_fields=["state", "error", "ended_at", "count"])
    fields = {"job": run.job, "state": state, "count": run.count}
    logger.info("job ended", extra={"fields": fields})


def _mark_killed_runs_failed(name: str, now: datetime) -> None:
    """Whoever holds the lock is alone: what still seems to run was killed."""
    runs = JobRun.objects.filter(job=name, state=JobRun.State.RUNNING)
    runs.update(state=JobRun.State.FAILED, ended_at=now, error="killed")
