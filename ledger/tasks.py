"""Celery tasks."""

import logging
from datetime import datetime

from celery import shared_task
from django.conf import settings
from kombu.exceptions import OperationalError

from accounts.models import Member
from core.jobs.ranges import help_run, run_job_in_ranges
from ledger.cards.automatic_payments import pay_due_bills
from ledger.recurring.occurrences import process_due_rules

# The run leaves nothing to do for a later helper.
HELPER_EXPIRY_SECONDS = 30 * 60

logger = logging.getLogger(__name__)


class RecurringRulesFailedError(RuntimeError):
    """The log names the rules and cards."""


@shared_task  # type: ignore[untyped-decorator]
def run_recurring() -> None:
    """Post the recurring transactions and pay the bills that are due by today."""
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
    """Process the due rules and cards of a range of members.

    Returns the number of entries. Raises `RecurringRulesFailedError` after the others
    are done.
    """
    members = (first_member, last_member)
    result = process_due_rules(now, members=members)
    paid = pay_due_bills(now, members=members)
    if result.failed or paid.failed:
        raise RecurringRulesFailedError(
            f"{result.failed} rules and {paid.failed} cards failed."
        )
    return result.booked + paid.booked


def _send_helpers() -> None:
    try:
        for _ in range(settings.JOB_WORKERS - 1):
            help_run_recurring.apply_async(retry=False, expires=HELPER_EXPIRY_SECONDS)
    except OperationalError:
        # This worker does all of it without the queue.
        logger.warning("the other workers could not be called")
