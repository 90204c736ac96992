"""Celery tasks of administration."""

from celery import shared_task

from administration.daily_metrics import save_daily_metrics
from administration.imports import purge_old_imports
from administration.operations import purge_old_operations
from administration.request_keys import find_last_member, purge_keys
from administration.tombstones import purge_old_tombstones
from administration.unsure_texts import purge_old_texts
from core.jobs.ranges import run_job_in_ranges
from core.jobs.runner import run_job


@shared_task  # type: ignore[untyped-decorator]
def snapshot_daily_metrics() -> None:
    """Store the metrics of the dashboard; daily."""
    run_job("snapshot_daily_metrics", save_daily_metrics)


@shared_task  # type: ignore[untyped-decorator]
def purge_request_keys() -> None:
    """Delete the keys of requests that are older than a week; daily."""
    run_job_in_ranges("purge_request_keys", purge_keys, find_last_member())


@shared_task  # type: ignore[untyped-decorator]
def purge_imports() -> None:
    """Delete what is kept of imported files for a week; daily."""
    run_job_in_ranges("purge_imports", purge_old_imports, find_last_member())


@shared_task  # type: ignore[untyped-decorator]
def purge_tombstones() -> None:
    """Forget the rows that were deleted more than half a year ago; daily."""
    run_job_in_ranges("purge_tombstones", purge_old_tombstones, find_last_member())


@shared_task  # type: ignore[untyped-decorator]
def purge_unsure_texts() -> None:
    """Delete the texts that nobody has booked for a month; daily."""
    run_job_in_ranges("purge_unsure_texts", purge_old_texts, find_last_member())


@shared_task  # type: ignore[untyped-decorator]
def purge_operations() -> None:
    """Forget what undoes operations of more than a month ago; daily."""
    run_job_in_ranges("purge_operations", purge_old_operations, find_last_member())
