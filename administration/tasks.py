"""The jobs of the administrators' area; each calls one function."""

from celery import shared_task

from administration.daily_metrics import take_snapshot
from core.jobs.runner import run_job


@shared_task  # type: ignore[untyped-decorator]
def note_figures() -> None:
    """Daily: the figures of the dashboard's courses."""
    run_job("note figures", take_snapshot)
