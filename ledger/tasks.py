"""The jobs of the ledger; each calls one function."""

from datetime import datetime

from celery import shared_task

from core.jobs.runner import run_job
from ledger.occurrences import process_due_rules


class RecurringRulesFailedError(RuntimeError):
    """Some rules failed; the log says which, and the others were booked."""


@shared_task  # type: ignore[untyped-decorator]
def run_recurring() -> None:
    """Every hour: everything that is due by today, also after days of downtime."""
    run_job("run_recurring", process_recurring_rules)


def process_recurring_rules(now: datetime) -> int:
    """Entries booked; raises `RecurringRulesFailedError` where some rules could not be."""
    run = process_due_rules(now)
    if run.failed:
        raise RecurringRulesFailedError(f"{run.failed} rules could not be booked.")
    return run.booked
