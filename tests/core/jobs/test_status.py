"""The command that monitors if jobs run when they should."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from config.celery import app
from core.jobs.models import JobRun
from core.jobs.status import get_job_intervals, list_job_statuses

pytestmark = pytest.mark.django_db
EXPIRY = "expire_plans"


def add_run(
    job: Any = EXPIRY, state: str = "DONE", hours: float = 0.0, **fields: Any
) -> None:
    started = timezone.now() - timedelta(hours=hours)
    JobRun.objects.create(job=job, state=state, started_at=started, **fields)


def check() -> Any:
    output = io.StringIO()
    call_command("check_jobs", stdout=output)
    return output.getvalue()


@pytest.fixture
def all_well() -> None:
    for job in get_job_intervals():
        add_run(job, count=3, hours=0.5)


@pytest.mark.usefixtures("all_well")
def test_jobs_that_ran_in_time_are_well() -> None:
    assert f"{EXPIRY}: DONE 30 min ago, 3 rows" in check()


def test_jobs_that_never_ran_are_late_unless_they_wait_for_something() -> None:
    with pytest.raises(CommandError) as refusal:
        check()
    assert EXPIRY in str(refusal.value)
    assert not any(job in str(refusal.value) for job in settings.ON_DEMAND_JOBS)


@pytest.mark.usefixtures("all_well")
def test_job_that_failed_last_is_told() -> None:
    add_run(state="FAILED", error="OperationalError")
    with pytest.raises(CommandError, match=f"Failed or overdue: {EXPIRY}."):
        check()


@pytest.mark.parametrize(("hours", "late"), [(1.9, False), (2.1, True)])
def test_job_is_late_after_twice_its_interval(hours: float, late: bool) -> None:
    add_run(hours=hours)
    add_run(state="SKIPPED")
    (state,) = [state for state in list_job_statuses() if state.name == EXPIRY]
    assert state.is_overdue(timezone.now()) == late


@pytest.mark.django_db(transaction=True)
def test_every_job_records_its_run_under_its_name_in_the_schedule() -> None:
    app.loader.import_default_modules()
    for name, job in app.conf.beat_schedule.items():
        if name not in settings.ON_DEMAND_JOBS:
            app.tasks[job["task"]]()
            assert JobRun.objects.get(job=name).state == "DONE"
