"""The jobs of the accounts app; each calls one function."""

import logging

from celery import shared_task
from django.utils import timezone

from accounts.sessions import purge_expired
from accounts.throttles import purge_limits

logger = logging.getLogger(__name__)


@shared_task  # type: ignore[untyped-decorator]
def purge_sessions() -> None:
    """Daily: expired sessions and limits whose windows have passed."""
    now = timezone.now()
    fields = {"sessions": purge_expired(now), "limits": purge_limits(now)}
    logger.info("sessions purged", extra={"fields": fields})
