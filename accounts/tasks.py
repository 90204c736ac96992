"""Celery tasks of accounts."""

from celery import shared_task

from accounts.rate_limits import purge_rate_limits
from accounts.sessions import purge_expired_sessions
from core.jobs.runner import run_job


@shared_task  # type: ignore[untyped-decorator]
def purge_sessions() -> None:
    """Delete expired sessions and rate limits whose windows have passed; daily."""
    run_job(
        "purge_sessions",
        lambda now: purge_expired_sessions(now) + purge_rate_limits(now),
    )
