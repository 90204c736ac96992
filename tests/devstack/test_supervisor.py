"""The supervised processes: started again with a growing pause, stopped for good."""

import os
import signal
import socket
import time
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from devstack import supervisor
from devstack.environment import StartupError
from devstack.stores.data_dir import LOOPBACK
from devstack.supervisor import ManagedProcess
from tests.support.stores import find_closed_port

IGNORE_TERM = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('ready', flush=True); time.sleep(60)"
)


def make_child(folder: Path, script: str) -> ManagedProcess:
    path = folder / "child.py"
    path.write_text(script)
    return ManagedProcess("child", (str(path),))


def is_running(child: ManagedProcess) -> bool:
    return child.process is not None


def tend_until_it_ends(child: ManagedProcess) -> None:
    assert child.process
    child.process.join()
    child.restart_if_due()


def test_process_that_ends_is_started_again_after_a_growing_pause(
    tmp_path: Path,
) -> None:
    child = make_child(tmp_path, "raise SystemExit(3)")
    pauses = []
    for _ in range(7):
        child.start()
        pauses.append(child.backoff_seconds)
        tend_until_it_ends(child)
        assert not is_running(child)
        assert child.next_start_at > time.monotonic()
    assert pauses == [1, 2, 4, 8, 16, 30, 30]


def test_steady_run_resets_the_pause(tmp_path: Path) -> None:
    child = make_child(tmp_path, "pass")
    child.backoff_seconds = 30
    child.start()
    child.started_at -= supervisor.STABLE_AFTER_SECONDS
    tend_until_it_ends(child)
    assert child.backoff_seconds == 2


def test_pause_is_waited_for(tmp_path: Path) -> None:
    child = make_child(tmp_path, "pass")
    child.next_start_at = time.monotonic() + 60
    child.restart_if_due()
    assert not is_running(child)
    child.next_start_at = 0
    child.restart_if_due()
    assert is_running(child)
    tend_until_it_ends(child)


def test_process_that_does_not_stop_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "SHUTDOWN_TIMEOUT_SECONDS", 0.2)
    child = make_child(tmp_path, IGNORE_TERM)
    child.start()
    time.sleep(0.3)
    supervisor.stop([child])
    assert child.process
    assert child.process.exitcode in {-signal.SIGKILL, -signal.SIGTERM}


def test_web_server_workers_and_beat_are_run() -> None:
    # The worker runs processes: a pool of threads misses the return of the queue.
    web, worker, long_worker, beat = supervisor.build_processes(8000)
    assert "config.server" in web.arguments
    assert " ".join(worker.arguments).endswith("server-8000@%h")
    assert " ".join(long_worker.arguments).endswith("server-8000-long@%h")
    for process, queue in ((worker, "celery"), (long_worker, "long")):
        text = " ".join(process.arguments)
        assert "worker --pool prefork" in text
        assert f"--queues {queue} " in text
    assert "beat" in beat.arguments


def test_taken_port_is_said_before_anything_starts() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            StartupError, match=f"port {port} is already in use; set PORT"
        ):
            supervisor.check_settings({}, port)


@pytest.mark.parametrize("name", ["WEB_CONCURRENCY", "WEB_THREADS"])
def test_number_of_processes_and_threads_is_a_number(name: str) -> None:
    with pytest.raises(StartupError, match=f"{name} must be a number"):
        supervisor.check_settings({name: "many"}, find_closed_port())


def test_of_several_databases_one_that_accepts_writes_is_enough() -> None:
    url = urlsplit(os.environ["DATABASE_URL"])
    user, _, host = url.netloc.rpartition("@")
    closed = f"127.0.0.1:{find_closed_port()}"
    for hosts, is_enough in ((f"{closed},{host}", True), (f"{closed},{closed}", False)):
        address = url._replace(netloc=f"{user}@{hosts}").geturl()
        with nullcontext() if is_enough else pytest.raises(StartupError):
            supervisor.check_settings({"DATABASE_URL": address}, find_closed_port())


def test_database_that_does_not_answer_is_said_in_one_line() -> None:
    address = f"postgresql://ledger:swordfish@127.0.0.1:{find_closed_port()}/x"
    with pytest.raises(StartupError) as refusal:
        supervisor.check_settings({"DATABASE_URL": address}, find_closed_port())
    text = str(refusal.value)
    assert text.startswith("the database of DATABASE_URL: ")
    assert len(text.splitlines()) == 1
    assert "swordfish" not in text
