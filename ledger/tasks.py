"""The jobs of the ledger; each calls one function."""

import logging
from dataclasses import asdict

from celery import shared_task
from django.utils import timezone

from ledger.occurrences import run_due

logger = logging.getLogger(__name__)


@shared_task  # type: ignore[untyped-decorator]
def run_recurring() -> None:
    """Daily: everything that is due by today, also after days of downtime."""
    run = run_due(timezone.now())
    logger.info("recurring transactions booked", extra={"fields": asdict(run)})
