"""Celery tasks of the ledger."""

import logging
from datetime import datetime

from celery import shared_task
from django.conf import settings
from kombu.exceptions import OperationalError

from accounts.models import Member
from core.jobs.ranges import help_run, run_job_in_ranges
from core.jobs.runner import run_job
from ledger.move_job import list_moves, run_moves
from ledger.occurrences import process_due_rules

# A helper that no worker has taken by then would find nothing left to do.
HELPER_EXPIRY_SECONDS = 30 * 60

logger = logging.getLogger(__name__)


class RecurringRulesFailedError(RuntimeError):
    """Some recurring rules could not be processed; the log names them."""


class MovesFailedError(RuntimeError):
    """The entries of some wallets or categories are not moved; the log names them."""


@shared_task  # type: ignore[untyped-decorator]
def move_entries() -> None:
    """Move the entries of deleted wallets and categories; every minute, if any move."""
    if list_moves():
        run_job("move_entries", run_move_entries)


def run_move_entries(now: datetime) -> int:
    """Return the number of entries that were moved.

    Raises `MovesFailedError` at the end if some moves failed.
    """
    result = run_moves()
    if result.failed:
        raise MovesFailedError(f"{result.failed} moves failed.")
    return result.entries


@shared_task  # type: ignore[untyped-decorator]
def run_recurring() -> None:
    """Post the recurring transactions that are due by today, every hour."""
    last_member = Member.objects.order_by("-pk").values_list("pk", flat=True).first()
    run_job_in_ranges(
        "run_recurring",
        process_recurring_rules,
        last_member or 0,
        call_helpers=_send_helpers,
    )


@shared_task  # type: ignore[untyped-decorator]
def help_run_recurring() -> None:
    """Take part in the run of `run_recurring` that is in progress."""
    help_run("run_recurring", process_recurring_rules)


def process_recurring_rules(now: datetime, first_member: int, last_member: int) -> int:
    """Process the due rules of a range of members; return the number of entries.

    Raises `RecurringRulesFailedError` if some rules failed; the others are done.
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
        # Without the queue this worker does all of it.
        logger.warning("the other workers could not be called")
