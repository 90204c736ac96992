"""Beat and the worker while they are killed, doubled, or without their stores.

Real processes on a schedule of seconds. `python -m tests.concurrency.test_beats` does
the same for two minutes, with a death every ten seconds.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from devstack.supervisor import build_processes
from tests.support.fault_injection import PostgresServer, RunningService
from tests.support.scale import scaled
from tests.support.stores import ValkeyServer
from tests.support.waiting import wait_until

# As in `tests.support.short_schedule`, which only its own processes may import.
INTERVAL_SECONDS = 1
ROUNDS, ROUND_SECONDS = scaled(1, 2), scaled(2, 6)
MAX_FURTHER_ROUNDS = 20
SKIPPED = "SELECT count(*) > 0 FROM job_run WHERE state = 'SKIPPED'"
# Two of them expire each second.
MEMBERS = scaled(8, 80)
# Of the supervisor's commands: another application, and two jobs at a time.
REPLACED_ARGUMENTS = {"config": "tests.support.short_schedule:app", "1": "2"}
SEED = f"""
from datetime import timedelta
from django.utils import timezone
from accounts.models import Member
now = timezone.now()
Member.objects.bulk_create(Member(
    login_id=f"plan{{n}}", display_name="Member", email=f"plan{{n}}@example.com",
    plan="PREMIUM", plan_expires_at=now + timedelta(seconds=n / 2),
) for n in range({MEMBERS}))
"""
AUDIT = """
CREATE TABLE demotion (member_id bigint, at timestamptz DEFAULT clock_timestamp());
CREATE FUNCTION note_demotion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO demotion (member_id) VALUES (NEW.id); RETURN NULL; END $$;
CREATE TRIGGER audit AFTER UPDATE OF plan ON member
FOR EACH ROW EXECUTE FUNCTION note_demotion();
"""


class Crew:
    """Two Beats and both workers, started again when they end."""

    def __init__(self, service: RunningService) -> None:
        self.service, self.over = service, threading.Event()
        # The commands of `script/server`.
        _, worker, long_worker, beat = build_processes(service.port)
        self.commands = [
            [REPLACED_ARGUMENTS.get(word, word) for word in child.arguments]
            for child in (worker, long_worker, beat, beat)
        ]
        self.processes = [self.start(command) for command in self.commands]

    def start(self, command: list[str]) -> subprocess.Popen[bytes]:
        return self.service.run_python(command, start_new_session=True)

    def tend(self) -> None:
        while not self.over.wait(1.0):
            for number, process in enumerate(self.processes):
                if process.poll() is not None:
                    self.processes[number] = self.start(self.commands[number])

    def kill(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def stop(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(15)
        self.kill()
        for process in self.processes:
            process.wait()

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        address = self.service.environment["DATABASE_URL"]
        with psycopg.connect(address, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def count_done(self, job: str = "expire_plans") -> int:
        ((count,),) = self.ask(
            f"SELECT count(*) FROM job_run WHERE job = '{job}' AND state = 'DONE'"
        )
        return int(count)

    def wait_for_a_run(self) -> None:
        """Wait for the next successful run of the expiry job."""
        before = self.count_done()
        wait_until(lambda: self.count_done() > before)


@contextmanager
def run_crew(folder: Path) -> Iterator[Crew]:
    folder.chmod(0o711)
    database = PostgresServer(folder / "postgres", is_migrated=True)
    fast_store = ValkeyServer()
    service = RunningService(database, fast_store, folder / "log")
    crew = Crew(service)
    crew.ask(AUDIT)
    tending = threading.Thread(target=crew.tend)
    try:
        tending.start()
        crew.wait_for_a_run()
        yield crew
    finally:
        crew.over.set()
        tending.join()
        crew.stop()
        fast_store.kill()
        database.remove()


@pytest.fixture(scope="module")
def crew() -> Iterator[Crew]:
    with (
        tempfile.TemporaryDirectory(prefix="household-ledger-beats-") as folder,
        run_crew(Path(folder)) as running,
    ):
        yield running


def seed(crew: Crew) -> None:
    command = ["manage.py", "shell", "-v", "0", "-c", SEED]
    assert crew.service.run_python(command).wait(60) == 0


def die_every(crew: Crew, seconds: float, rounds: int) -> None:
    """Go on until a death has hit a run, which the next ones were skipped for."""
    for number in range(rounds + MAX_FURTHER_ROUNDS):
        if number >= rounds and crew.ask(SKIPPED) == [(True,)]:
            return
        time.sleep(seconds)
        crew.kill()


def assert_effects(crew: Crew) -> None:
    """Check that each was demoted once, no runs of a job overlapped, some were skipped."""
    left = "SELECT count(*) FROM member WHERE plan = 'PREMIUM'"
    wait_until(lambda: crew.ask(left) == [(0,)], timeout_seconds=MEMBERS / 2 + 60)
    assert crew.ask("SELECT count(*), count(DISTINCT member_id) FROM demotion") == [
        (MEMBERS, MEMBERS)
    ]
    together = (
        "SELECT a.job FROM job_run a JOIN job_run b ON a.job = b.job AND a.id < b.id"
        " WHERE a.state = 'DONE' AND b.state = 'DONE'"
        " AND a.started_at < b.ended_at AND b.started_at < a.ended_at"
    )
    assert crew.ask(together) == []
    assert crew.ask(SKIPPED) == [(True,)]


def test_two_beats_and_deaths_of_all_lose_no_run_and_do_nothing_twice(
    crew: Crew,
) -> None:
    seed(crew)
    die_every(crew, ROUND_SECONDS, ROUNDS)
    assert_effects(crew)


def test_jobs_run_again_after_an_outage_of_each_store(crew: Crew) -> None:
    crew.wait_for_a_run()
    crew.service.database.stop(signal.SIGQUIT)
    time.sleep(2 * INTERVAL_SECONDS)  # across reloads, which end Beat
    crew.service.database.start()
    crew.wait_for_a_run()
    crew.service.fast_store.kill()
    time.sleep(INTERVAL_SECONDS)
    crew.service.fast_store.start()
    before = crew.count_done()
    crew.wait_for_a_run()
    assert crew.count_done() > before


def measure() -> None:
    """Run the long form: two minutes, a kill of everything every ten seconds."""
    with (
        tempfile.TemporaryDirectory(prefix="household-ledger-beats-") as folder,
        run_crew(Path(folder)) as crew,
    ):
        seed(crew)
        die_every(crew, 10.0, 12)
        assert_effects(crew)
        states = "SELECT job, state, count(*) FROM job_run GROUP BY 1, 2 ORDER BY 1, 2"
        sys.stdout.write(f"{MEMBERS} demoted once each; runs: {crew.ask(states)}\n")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    measure()
