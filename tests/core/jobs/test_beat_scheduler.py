"""Beat's schedule while the database or the job queue does not take part."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.utils import timezone
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from config.celery import app
from core.jobs.beat_scheduler import ResilientDatabaseScheduler
from tests.support.stores import disconnect_database

pytestmark = pytest.mark.django_db(transaction=True)
JOB = "purge_sessions"


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> ResilientDatabaseScheduler:
    """A Beat that has just started, with every reload due."""
    monkeypatch.setattr("django_celery_beat.schedulers.SCHEDULE_SYNC_MAX_INTERVAL", 0)
    monkeypatch.setattr("core.jobs.beat_scheduler.RETRY_INTERVAL_SECONDS", 0)
    return ResilientDatabaseScheduler(app=app)


def send(scheduler: ResilientDatabaseScheduler) -> Any:
    """What Beat does with a job that is due."""
    entry = scheduler.schedule[JOB]
    scheduler.reserve(entry)
    return scheduler.apply_entry(entry)


def stored() -> PeriodicTask:
    return PeriodicTask.objects.get(name=JOB)


def test_settings_name_this_scheduler() -> None:
    assert (
        app.conf.beat_scheduler == "core.jobs.beat_scheduler:ResilientDatabaseScheduler"
    )


def test_schedule_in_memory_goes_on_while_the_database_is_away(
    scheduler: ResilientDatabaseScheduler,
) -> None:
    jobs = set(scheduler.schedule)
    with disconnect_database():
        assert set(scheduler.schedule) == jobs
    assert set(scheduler.schedule) == jobs


def test_start_without_the_database_fails() -> None:
    with disconnect_database(), pytest.raises(DatabaseError):
        ResilientDatabaseScheduler(app=app)


def test_time_of_a_run_is_stored_as_soon_as_it_was_sent(
    scheduler: ResilientDatabaseScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResilientDatabaseScheduler, "send_task", lambda *_, **__: None)
    monkeypatch.setattr("celery.app.task.Task.apply_async", lambda *_, **__: None)
    send(scheduler)
    assert timezone.now() - stored().last_run_at < timedelta(seconds=10)
    assert not scheduler.schedule[JOB].is_due().is_due


def test_run_that_could_not_be_stored_is_stored_later_and_not_sent_again(
    scheduler: ResilientDatabaseScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResilientDatabaseScheduler, "send_task", lambda *_, **__: None)
    monkeypatch.setattr("celery.app.task.Task.apply_async", lambda *_, **__: None)
    assert scheduler.schedule[JOB].is_due().is_due
    with disconnect_database():
        send(scheduler)
    assert stored().last_run_at is None
    assert not scheduler.schedule[JOB].is_due().is_due
    assert stored().last_run_at is not None


def test_run_that_the_job_queue_did_not_take_is_due_again(
    scheduler: ResilientDatabaseScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(ResilientDatabaseScheduler, "send_task", refuse)
    monkeypatch.setattr("celery.app.task.Task.apply_async", refuse)
    send(scheduler)
    assert stored().last_run_at is None
    assert scheduler.schedule[JOB].is_due().is_due


def test_job_that_was_deleted_meanwhile_stops_nothing(
    scheduler: ResilientDatabaseScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("celery.app.task.Task.apply_async", lambda *_, **__: None)
    monkeypatch.setattr(ResilientDatabaseScheduler, "send_task", lambda *_, **__: None)
    entry = scheduler.schedule[JOB]
    PeriodicTask.objects.filter(name=JOB).delete()
    scheduler.reserve(entry)
    scheduler.apply_entry(entry)
    assert JOB not in scheduler.schedule


def test_crontab_rows_of_every_hour_are_in_the_schedule(
    scheduler: ResilientDatabaseScheduler,
) -> None:
    for hour in range(24):
        PeriodicTask.objects.create(
            name=f"at {hour}",
            task="accounts.tasks.purge_sessions",
            crontab=CrontabSchedule.objects.create(hour=str(hour), minute="0"),
        )
    assert {f"at {hour}" for hour in range(24)} <= set(scheduler.schedule)
