"""Celery tasks of the ledger."""

from datetime import datetime

from celery import shared_task

from core.jobs.runner import run_job
from ledger.occurrences import process_due_rules


class RecurringRulesFailedError(RuntimeError):
    """Some recurring rules could not be processed; the log names them."""


@shared_task  # type: ignore[untyped-decorator]
def run_recurring() -> None:
    """Post the recurring transactions that are due by today, every hour."""
    run_job("run_recurring", process_recurring_rules)


def process_recurring_rules(now: datetime) -> int:
    """Process all due rules and return the number of entries created.

    Raises `RecurringRulesFailedError` if some rules failed; the others are done.
    """
    result = process_due_rules(now)
    if result.failed:
        raise RecurringRulesFailedError(f"{result.failed} rules failed.")
    return result.booked
