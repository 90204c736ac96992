"""Celery tasks of administration."""

from celery import shared_task

from administration.daily_metrics import save_daily_metrics
from core.jobs.runner import run_job


@shared_task  # type: ignore[untyped-decorator]
def snapshot_daily_metrics() -> None:
    """Store the metrics of the dashboard; daily."""
    run_job("snapshot_daily_metrics", save_daily_metrics)
