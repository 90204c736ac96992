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
    """Some purchases got no response."""


@shared_task  # type: ignore[untyped-decorator]
def expire_plans() -> None:
    run_job("expire_plans", run_expire_plans)


@shared_task  # type: ignore[untyped-decorator]
def process_store_notifications() -> None:
    """Process notifications; every minute."""
    if has_pending_notifications(timezone.now()):
        run_job("process_store_notifications", run_process_store_notifications)


def run_expire_plans(now: datetime) -> int:
    result = run_expiry(now)
    if result.failed:
        raise StoreUnavailableError(f"{result.failed} purchases without a response.")
    return result.expired


def run_process_store_notifications(now: datetime) -> int:
    result = process_pending_notifications(now)
    if result.failed:
        raise StoreUnavailableError(f"{result.failed} purchases without a response.")
    return result.processed
