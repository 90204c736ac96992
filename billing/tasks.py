"""The jobs of billing; each calls one function."""

from datetime import datetime

from celery import shared_task
from django.utils import timezone

from billing.plan_expiry import run_expiry
from billing.store_notifications import handle_waiting, is_anything_waiting
from core.jobs.runner import run_job


class StoreDidNotAnswer(RuntimeError):
    """Some purchases could not be asked about; all else was done."""


@shared_task  # type: ignore[untyped-decorator]
def expire_plans() -> None:
    """Hourly: plans that have passed (service.md, Limits, Expiry job)."""
    run_job("expire plans", expire)


@shared_task  # type: ignore[untyped-decorator]
def handle_notifications() -> None:
    """Every minute: what the store has announced since; no run without any."""
    if is_anything_waiting(timezone.now()):
        run_job("follow store notifications", follow)


def expire(now: datetime) -> int:
    """Plans ended; raises `StoreDidNotAnswer` where the store had to be asked."""
    run = run_expiry(now)
    if run.failed:
        raise StoreDidNotAnswer(f"{run.failed} purchases without an answer.")
    return run.expired


def follow(now: datetime) -> int:
    """Notifications dealt with; raises `StoreDidNotAnswer` where some were not."""
    handling = handle_waiting(now)
    if handling.failed:
        raise StoreDidNotAnswer(f"{handling.failed} purchases without an answer.")
    return handling.handled
