"""The schedule of Beat."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone
from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler

from config.celery import app

PURGE = "purge_sessions"


def make_scheduler() -> DatabaseScheduler:
    """Return a Beat that has just started, on the stored schedule."""
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


@pytest.mark.parametrize("name", sorted(app.conf.beat_schedule))
def test_job_is_an_interval_whose_missed_runs_do_not_pile_up(name: str) -> None:
    job = app.conf.beat_schedule[name]
    assert isinstance(job["schedule"], timedelta), "no crontab row"
    assert 0 < job["options"]["expire_seconds"] < job["schedule"].total_seconds()
    assert job["start_time"] < timezone.now(), "due at the first start"


def test_jobs_of_the_service_run_as_often_as_it_says() -> None:
    every = {name: job["schedule"] for name, job in app.conf.beat_schedule.items()}
    assert every["expire_plans"] == timedelta(hours=1)
    assert every["purge_sessions"] == timedelta(days=1)
    assert every["purge_images"] == timedelta(days=1)
    assert every["run_recurring"] <= timedelta(days=1)


def test_queue_keeps_no_results_and_the_home_time_zone() -> None:
    # Beat goes silent when the connection of a result backend dies.
    assert app.conf.result_backend is None
    assert app.conf.task_ignore_result is True
    assert app.conf.timezone == settings.TIME_ZONE


def test_job_of_a_killed_worker_goes_to_another() -> None:
    assert app.conf.task_acks_late is True
    assert app.conf.task_reject_on_worker_lost is True
    assert app.conf.broker_transport_options["visibility_timeout"] <= 10 * 60
