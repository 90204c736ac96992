"""The jobs of billing; each calls one function."""

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
    """Some purchases could not be asked about; all else was done."""


@shared_task  # type: ignore[untyped-decorator]
def expire_plans() -> None:
    """Hourly: plans that have passed (spec 6.8)."""
    run_job("expire_plans", run_expire_plans)


@shared_task  # type: ignore[untyped-decorator]
def process_store_notifications() -> None:
    """Every minute: what the store has announced since; no run without any."""
    if has_pending_notifications(timezone.now()):
        run_job("process_store_notifications", run_process_store_notifications)


def run_expire_plans(now: datetime) -> int:
    """Plans ended; raises `StoreUnavailableError` where the store had to be asked."""
    run = run_expiry(now)
    if run.failed:
        raise StoreUnavailableError(f"{run.failed} purchases without an answer.")
    return run.expired


def run_process_store_notifications(now: datetime) -> int:
    """Notifications dealt with; raises `StoreUnavailableError` where some were not."""
    handling = process_pending_notifications(now)
    if handling.failed:
        raise StoreUnavailableError(f"{handling.failed} purchases without an answer.")
    return handling.processed
