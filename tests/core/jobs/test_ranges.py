"""Runs in ranges: several workers, each range once, killed ones taken over."""

import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from queue import Queue
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from core.jobs import ranges
from core.jobs.models import JobRange, JobRun
from core.jobs.ranges import RangeFailedError, help_run, run_job_in_ranges
from core.leases import holding
from core.leases.holding import HeldLease
from core.leases.models import Lease
from devstack.environment import ROOT
from tests.support.races import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)

TTL_SECONDS = 0.6
SIZE, RANGES = 10, 12
LAST_ID = SIZE * RANGES - 3


@pytest.fixture(autouse=True)
def short_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "RANGE_SIZE", SIZE)
    monkeypatch.setattr(ranges, "POLL_INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(holding, "LEASE_TTL_SECONDS", TTL_SECONDS)


class Recorder:
    """A job that notes the ids it was given."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds, self.ids = seconds, list[int]()
        self.threads = set[int]()

    def __call__(self, now: Any, first_id: int, last_id: int) -> int:
        time.sleep(self.seconds)
        self.ids += range(first_id, last_id + 1)
        self.threads.add(threading.get_ident())
        return last_id - first_id + 1


def test_run_is_one_record_with_the_sum_of_its_ranges() -> None:
    job = Recorder()
    run = run_job_in_ranges("book", job, LAST_ID)
    assert (run.state, run.count, run.error) == ("DONE", LAST_ID, "")
    assert run.ended_at is not None
    assert job.ids == list(range(1, LAST_ID + 1))
    assert JobRun.objects.count() == 1
    assert not JobRange.objects.exists()
    assert not Lease.objects.exists()


def test_run_without_ids_is_done() -> None:
    assert run_job_in_ranges("book", Recorder(), 0).count == 0


def test_workers_at_once_share_a_run_and_process_each_range_once() -> None:
    job = Recorder(seconds=0.02)
    runs = run_concurrently([lambda: run_job_in_ranges("book", job, LAST_ID)] * 4)
    assert {run.pk for run in runs} == {JobRun.objects.get().pk}
    assert {run.count for run in runs} == {LAST_ID}
    assert sorted(job.ids) == list(range(1, LAST_ID + 1))
    assert len(job.threads) > 1


def test_without_leases_they_would_process_ranges_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The race that the leases end is real.
    class NoLease:
        def __init__(self, name: str) -> None: ...
        def ensure_held(self) -> None: ...
        def release(self) -> None: ...

    monkeypatch.setattr(ranges, "acquire_lease", NoLease)
    job = Recorder(seconds=0.02)
    run_concurrently([lambda: run_job_in_ranges("book", job, LAST_ID)] * 4)
    assert len(job.ids) > LAST_ID


def test_helpers_are_called_once_and_help_only_a_run_in_progress() -> None:
    job, calls = Recorder(), list[str]()

    def start() -> JobRun:
        return run_job_in_ranges(
            "book", job, LAST_ID, call_helpers=lambda: calls.append("called")
        )

    run_concurrently([start] * 3)
    assert len(calls) == JobRun.objects.count()
    done = len(job.ids)
    help_run("book", job)
    assert len(job.ids) == done


def test_helper_takes_part() -> None:
    job, helpers = Recorder(seconds=0.05), list[threading.Thread]()

    def call() -> None:
        def help_out() -> None:
            help_run("book", job)
            connection.close()

        helpers.append(threading.Thread(target=help_out))
        helpers[0].start()

    run_job_in_ranges("book", job, LAST_ID, call_helpers=call)
    helpers[0].join()
    assert sorted(job.ids) == list(range(1, LAST_ID + 1))
    assert len(job.threads) == 2


def test_range_that_fails_is_recorded_and_the_others_are_processed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    job = Recorder()

    def fail_once(now: Any, first_id: int, last_id: int) -> int:
        if first_id == SIZE + 1:
            raise ValueError("a member's secret")
        return job(now, first_id, last_id)

    with pytest.raises(RangeFailedError, match="book: ValueError"):
        run_job_in_ranges("book", fail_once, LAST_ID)
    run = JobRun.objects.get()
    assert (run.state, run.count, run.error) == ("FAILED", None, "ValueError")
    assert len(job.ids) == LAST_ID - SIZE
    assert "11 to 20" in caplog.text
    assert run_job_in_ranges("book", job, LAST_ID).state == "DONE"


KILLED_WORKER = f"""
import django, sys, time
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
django.setup()
from core.jobs import ranges
from core.leases import holding
holding.LEASE_TTL_SECONDS, ranges.RANGE_SIZE = {TTL_SECONDS}, {SIZE}
def job(now, first_id, last_id):
    if first_id > {SIZE}:
        print("second range", flush=True)
        time.sleep(60)
    return {SIZE}
ranges.run_job_in_ranges("book", job, {LAST_ID})
"""


def start_worker_and_kill_it() -> float:
    """Start a worker, kill it in its second range, and return when that was."""
    name = str(connection.settings_dict["NAME"])
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED_WORKER, name], cwd=ROOT, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout
        assert process.stdout.readline() == b"second range\n"
        process.send_signal(signal.SIGKILL)
        return time.monotonic()


def test_range_of_a_killed_worker_is_taken_over_and_no_other_again() -> None:
    killed_at = start_worker_and_kill_it()
    job = Recorder()
    run = run_job_in_ranges("book", job, LAST_ID)
    assert time.monotonic() - killed_at < 10 * TTL_SECONDS
    assert (run.state, run.count) == ("DONE", LAST_ID)
    assert sorted(job.ids) == list(range(SIZE + 1, LAST_ID + 1))
    assert JobRun.objects.count() == 1


def test_run_whose_workers_were_all_killed_is_continued_by_the_next_task() -> None:
    start_worker_and_kill_it()
    Lease.objects.update(expires_at=Now() - timedelta(seconds=1))
    job = Recorder()
    help_run("book", job)
    assert JobRun.objects.get().state == "DONE"
    assert sorted(job.ids) == list(range(SIZE + 1, LAST_ID + 1))


def test_worker_that_lost_its_range_does_not_record_its_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # A process that was stopped for long wakes up after another took over.
    other = Queue[HeldLease | None]()

    def lose(now: Any, first_id: int, last_id: int) -> int:
        if first_id == 1 and not other.unfinished_tasks:
            Lease.objects.update(expires_at=timezone.now())
            other.put(holding.acquire_lease(JobRange.objects.all()[0].lease_name))
            return 1_000_000
        return last_id - first_id + 1

    def end_other() -> None:
        held = other.get()
        assert held
        time.sleep(1)
        held.release()

    run, _ = run_concurrently(
        [lambda: run_job_in_ranges("book", lose, LAST_ID), end_other]
    )
    assert run.count == LAST_ID
    assert "was taken over" in caplog.text
