"""Runs that are split into ranges of ids, which several workers process at once.

Each range is processed under a lease. A worker without a free range waits, to take over
from a killed worker. If all were killed, the next task continues the run.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Max, Sum
from django.utils import timezone

from core.db.transactions import retry_on_conflict
from core.jobs.models import JobRange, JobRun
from core.jobs.runner import log_end_of_run, purge_old_records
from core.leases.holding import HeldLease, LeaseLostError, acquire_lease

RANGE_SIZE = 1_000
POLL_INTERVAL_SECONDS = 0.5

_FREE_RANGES = """
SELECT * FROM job_range
WHERE run_id = %s AND ended_at IS NULL AND NOT EXISTS (
    SELECT FROM lease
    WHERE name = 'job range ' || job_range.id AND expires_at > clock_timestamp()
)
ORDER BY id LIMIT 1
"""

logger = logging.getLogger(__name__)
# Takes the time and the first and last id; returns the number of rows.
RangeJob = Callable[[datetime, int, int], int]


class RangeFailedError(RuntimeError):
    """The log has the reason."""


def run_job_in_ranges(
    name: str,
    job: RangeJob,
    last_id: int,
    *,
    call_helpers: Callable[[], object] = lambda: None,
) -> JobRun:
    """Run `job` for all ids up to `last_id`, or help a run in progress.

    Raise `RangeFailedError` after the last range if any failed. `call_helpers` starts
    `help_run` in other workers.
    """
    run, is_new = _get_or_create_run(name, last_id)
    if is_new and run.ranges.count() > 1:
        call_helpers()
    return _work(run, job)


def help_run(name: str, job: RangeJob) -> None:
    if run := _find_run(name):
        _work(run, job)


def _find_run(name: str) -> JobRun | None:
    return JobRun.objects.filter(job=name, state=JobRun.State.RUNNING).first()


@retry_on_conflict
def _get_or_create_run(name: str, last_id: int) -> tuple[JobRun, bool]:
    purge_old_records(timezone.now())
    while True:
        if run := _find_run(name):
            return run, False
        try:
            with transaction.atomic():
                # Unique: of two concurrent calls, the second helps the first.
                run = JobRun.objects.create(
                    job=name, state=JobRun.State.RUNNING, started_at=timezone.now()
                )
                JobRange.objects.bulk_create(
                    JobRange(
                        run=run,
                        first_id=first,
                        last_id=min(first + RANGE_SIZE - 1, last_id),
                    )
                    for first in range(1, last_id + 1, RANGE_SIZE)
                )
            return run, True
        except IntegrityError:
            continue


def _work(run: JobRun, job: RangeJob) -> JobRun:
    while True:
        found = _acquire_range(run)
        if found is not None:
            _process(*found, job)
        elif run.ranges.filter(ended_at=None).exists():
            time.sleep(POLL_INTERVAL_SECONDS)
        else:
            break
    _close(run)
    run.refresh_from_db()
    if run.state == JobRun.State.FAILED:
        raise RangeFailedError(f"{run.job}: {run.error}")
    return run


def _acquire_range(run: JobRun) -> tuple[JobRange, HeldLease] | None:
    while free := list(JobRange.objects.raw(_FREE_RANGES, [run.pk])):
        held = acquire_lease(free[0].lease_name)
        if held is None:
            continue
        # Another worker may have ended it in the meantime.
        if range_ := run.ranges.filter(pk=free[0].pk, ended_at=None).first():
            return range_, held
        held.release()
    return None


def _process(range_: JobRange, held: HeldLease, job: RangeJob) -> None:
    count, error = None, ""
    try:
        try:
            count = job(timezone.now(), range_.first_id, range_.last_id)
        except Exception as failure:
            logger.exception("job range %s failed", range_)
            error = type(failure).__name__
        with transaction.atomic():
            held.ensure_held()
            JobRange.objects.filter(pk=range_.pk, ended_at=None).update(
                ended_at=timezone.now(), count=count, error=error
            )
    except LeaseLostError:
        logger.warning("job range %s was taken over", range_)
    finally:
        held.release()


@retry_on_conflict
def _close(run: JobRun) -> None:
    with transaction.atomic():
        rows = JobRun.objects.select_for_update().filter(pk=run.pk)
        open_run = rows.filter(state=JobRun.State.RUNNING).first()
        if open_run is None:
            return
        result = open_run.ranges.aggregate(count=Sum("count"), error=Max("error"))
        open_run.error = result["error"] or ""
        open_run.state = JobRun.State.FAILED if open_run.error else JobRun.State.DONE
        open_run.count = None if open_run.error else result["count"] or 0
        open_run.ended_at = timezone.now()
        open_run.save(update_fields=["state", "error", "ended_at", "count"])
        open_run.ranges.all().delete()
    log_end_of_run(open_run)
