"""Celery tasks."""

import logging
from datetime import datetime

from celery import shared_task
from django.conf import settings
from kombu.exceptions import OperationalError

from core.jobs.ranges import help_run, run_job_in_ranges
from ledger.base.request_key_purge import find_last_member, purge_keys
from ledger.recurring.occurrences import process_due_rules

# The run leaves nothing to do for a later helper.
HELPER_EXPIRY_SECONDS = 30 * 60

logger = logging.getLogger(__name__)


class RecurringRulesFailedError(RuntimeError):
    """The log names the rules."""


@shared_task  # type: ignore[untyped-decorator]
def run_recurring() -> None:
    """Post the recurring transactions that are due by today, every hour."""
    run_job_in_ranges(
        "run_recurring",
        process_recurring_rules,
        find_last_member(),
        call_helpers=_send_helpers,
    )


@shared_task  # type: ignore[untyped-decorator]
def help_run_recurring() -> None:
    """Take part in the run of `run_recurring` that is in progress."""
    help_run("run_recurring", process_recurring_rules)


@shared_task  # type: ignore[untyped-decorator]
def purge_request_keys() -> None:
    """Delete the keys of requests that are older than a week; daily."""
    run_job_in_ranges("purge_request_keys", purge_keys, find_last_member())


def process_recurring_rules(now: datetime, first_member: int, last_member: int) -> int:
    """Process the due rules of a range of members; return the number of entries.

    Raises `RecurringRulesFailedError` after the other rules are done.
    """
    result = process_due_rules(now, members=(first_member, last_member))
    if result.failed:
        raise RecurringRulesFailedError(f"{result.failed} rules failed.")
    return result.booked


def _send_helpers() -> None:
    try:
        for _ in range(settings.JOB_WORKERS - 1):
            help_run_recurring.apply_async(retry=False, expires=HELPER_EXPIRY_SECONDS)
    except OperationalError:
        # This worker does all of it without the queue.
        logger.warning("the other workers could not be called")
