"""The jobs of the ledger; each calls one function."""

from datetime import datetime

from celery import shared_task

from core.jobs.runner import run_job
from ledger.occurrences import run_due


class RulesNotBooked(RuntimeError):
    """Some rules failed; the log says which, and the others were booked."""


@shared_task  # type: ignore[untyped-decorator]
def run_recurring() -> None:
    """Every hour: everything that is due by today, also after days of downtime."""
    run_job("book recurring transactions", book)


def book(now: datetime) -> int:
    """Entries booked; raises `RulesNotBooked` where some rules could not be."""
    run = run_due(now)
    if run.failed:
        raise RulesNotBooked(f"{run.failed} rules could not be booked.")
    return run.booked
