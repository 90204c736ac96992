"""What Beat runs when."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler

from config.celery import app

PURGE = "purge sessions"


def make_scheduler() -> DatabaseScheduler:
    """A Beat that has just started, on the stored schedule."""
    return DatabaseScheduler(app=app, lazy=False)


@pytest.mark.django_db(transaction=True)
def test_every_job_names_a_task_that_exists() -> None:
    app.loader.import_default_modules()
    assert {job["task"] for job in app.conf.beat_schedule.values()} <= set(app.tasks)


@pytest.mark.django_db(transaction=True)
def test_sessions_are_purged_daily_by_the_stored_schedule() -> None:
    make_scheduler()
    stored = PeriodicTask.objects.get(name=PURGE)
    assert stored.interval.schedule.run_every == timedelta(days=1)
    assert stored.expire_seconds < 24 * 60 * 60


@pytest.mark.django_db(transaction=True)
def test_job_that_never_ran_is_due_however_often_beat_restarts() -> None:
    for _ in range(3):
        assert make_scheduler().schedule[PURGE].is_due().is_due


@pytest.mark.django_db(transaction=True)
def test_job_that_ran_is_due_again_after_its_interval_over_restarts() -> None:
    make_scheduler()
    jobs = PeriodicTask.objects.filter(name=PURGE)
    jobs.update(last_run_at=timezone.now() - timedelta(hours=23))
    assert not make_scheduler().schedule[PURGE].is_due().is_due
    jobs.update(last_run_at=timezone.now() - timedelta(hours=25))
    assert make_scheduler().schedule[PURGE].is_due().is_due
