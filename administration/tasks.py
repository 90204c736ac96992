"""The jobs of the administrators' area; each calls one function."""

from celery import shared_task

from administration.daily_metrics import save_daily_metrics
from core.jobs.runner import run_job


@shared_task  # type: ignore[untyped-decorator]
def snapshot_daily_metrics() -> None:
    """Daily: the figures of the dashboard's courses."""
    run_job("snapshot_daily_metrics", save_daily_metrics)
