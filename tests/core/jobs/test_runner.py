"""Runs of jobs: one at a time, each with its record."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from config.celery import app
from core.jobs.models import JobRun
from core.jobs.runner import list_last_runs, run_job
from core.leases import holding
from tests.support.races import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def short_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the lease, since a run beside another waits until that renews it."""
    monkeypatch.setattr(holding, "LEASE_TTL_SECONDS", 1.0)


def test_run_is_recorded_with_what_it_did() -> None:
    run = run_job("purge", lambda now: 7)
    run.refresh_from_db()
    assert (run.state, run.count, run.error) == ("DONE", 7, "")
    assert run.ended_at is not None
    assert run.started_at <= run.ended_at


def test_failure_is_recorded_by_its_kind_alone_and_raised() -> None:
    def fail(now: Any) -> int:
        raise ValueError("a member's secret")

    with pytest.raises(ValueError, match="secret"):
        run_job("purge", fail)
    run = JobRun.objects.get()
    assert (run.state, run.count, run.error) == ("FAILED", None, "ValueError")
    assert run_job("purge", lambda now: 1).state == "DONE"


def test_two_runs_of_one_job_at_once_are_one_and_one_skipped() -> None:
    def run_inside(now: Any) -> int:
        (inner,) = run_concurrently([lambda: run_job("purge", lambda now: 1)])
        assert inner.state == "SKIPPED"
        (other,) = run_concurrently([lambda: run_job("other", lambda now: 1)])
        assert other.state == "DONE"
        return 2

    assert run_job("purge", run_inside).count == 2


def test_run_that_was_killed_is_closed_by_the_next() -> None:
    killed = JobRun.objects.create(
        job="purge", state="RUNNING", started_at=timezone.now()
    )
    run_job("purge", lambda now: 1)
    killed.refresh_from_db()
    assert (killed.state, killed.error) == ("FAILED", "killed")
    assert killed.ended_at is not None


def test_last_run_of_each_job_is_told_and_old_ones_go() -> None:
    for days in (100, 2, 1):
        started = timezone.now() - timedelta(days=days)
        JobRun.objects.create(job="old", state="DONE", started_at=started, count=days)
    run_job("new", lambda now: 5)
    JobRun.objects.create(job="new", state="SKIPPED", started_at=timezone.now())
    assert [(run.job, run.count) for run in list_last_runs()] == [
        ("new", 5),
        ("old", 1),
    ]
    assert JobRun.objects.count() == 4


# These are shared by those that start at the same time.
SHARED = {
    *(
        "purge_imports",
        "purge_operations",
        "purge_request_keys",
        "purge_tombstones",
        "purge_unsure_texts",
        "run_recurring",
    ),
}


def test_no_scheduled_job_runs_beside_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each takes the lease of the name that it is scheduled and recorded under.
    app.loader.import_default_modules()
    monkeypatch.setattr("billing.tasks.has_pending_notifications", lambda now: True)
    monkeypatch.setattr("accounts.tasks.has_due_mails", lambda now: True)
    monkeypatch.setattr("board.tasks.has_due_objects", lambda now: True)
    for name, job in app.conf.beat_schedule.items():
        task = app.tasks[job["task"]]

        def run_inside(now: Any, task: Any = task) -> int:
            run_concurrently([task])
            return 1

        run_job(name, run_inside)
        runs = JobRun.objects.filter(job=name).order_by("id")
        others = [] if name in SHARED else ["SKIPPED"]
        assert [run.state for run in runs] == ["DONE", *others], name
