"""Celery tasks of billing."""

from datetime import datetime

from celery import shared_task
from django.utils import timezone

from billing.plan_expiry import run_expiry
from billing.store_notifications import (
    has_pending_notifications,
    process_pending_notifications,
)
from core.jobs.runner import run_job


class StoreUnavailableError(RuntimeError):
    """The store did not respond for some purchases; everything else was done."""


@shared_task  # type: ignore[untyped-decorator]
def expire_plans() -> None:
    """Expire plans; hourly (spec 6.8)."""
    run_job("expire_plans", run_expire_plans)


@shared_task  # type: ignore[untyped-decorator]
def process_store_notifications() -> None:
    """Process the store's notifications; every minute, no run without any."""
    if has_pending_notifications(timezone.now()):
        run_job("process_store_notifications", run_process_store_notifications)


def run_expire_plans(now: datetime) -> int:
    """Return the number of expired plans.

    Raises `StoreUnavailableError` at the end if the store did not respond.
    """
    result = run_expiry(now)
    if result.failed:
        raise StoreUnavailableError(f"{result.failed} purchases without a response.")
    return result.expired


def run_process_store_notifications(now: datetime) -> int:
    """Return the number of processed notifications.

    Raises `StoreUnavailableError` at the end if the store did not respond.
    """
    result = process_pending_notifications(now)
    if result.failed:
        raise StoreUnavailableError(f"{result.failed} purchases without a response.")
    return result.processed
