"""The processes of `script/server`: stores, web server, worker and Beat, supervised.

A process that ends is started again after a pause that grows with every failure. A
process that outlives this one by accident does not: the kernel ends it (on Linux).
"""

import http.client
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType

import psycopg

from devstack.environment import (
    ROOT,
    Environment,
    Settings,
    StartupError,
    prepare_environment,
    read_port,
    read_positive_int,
    read_settings,
)
from devstack.stores.data_dir import LOOPBACK, is_port_free
from devstack.stores.store_supervisor import set_parent_death_signal

POLL_INTERVAL_SECONDS = 0.1
MIN_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 1.0, 30.0
STABLE_AFTER_SECONDS = 60
"""After a run of this length a failure counts as the first one again."""
STARTUP_TIMEOUT_SECONDS = 60
SHUTDOWN_TIMEOUT_SECONDS = 12
"""How long the processes have to finish what they are at; gunicorn takes up to 10."""
PYTHON = (sys.executable, "-m")
MIGRATE_COMMAND = (sys.executable, "manage.py", "migrate", "--noinput")

stop_requested = threading.Event()


@dataclass
class ManagedProcess:
    """One supervised process: running, or waiting for its next start."""

    name: str
    command: tuple[str, ...]
    environment: Environment
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0
    next_start_at: float = 0
    backoff_seconds: float = field(default=MIN_BACKOFF_SECONDS)

    def start(self) -> None:
        self.started_at = time.monotonic()
        self.process = spawn(self.command, self.environment)

    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def restart_if_due(self) -> None:
        """Notice its end, and start it when its pause is over."""
        if self.process and self.has_ended():
            self._schedule_restart(self.process.returncode)
        elif not self.process and time.monotonic() >= self.next_start_at:
            self.start()

    def _schedule_restart(self, code: int) -> None:
        if time.monotonic() - self.started_at >= STABLE_AFTER_SECONDS:
            self.backoff_seconds = MIN_BACKOFF_SECONDS
        log(
            f"the {self.name} ended ({code}); it starts again in {self.backoff_seconds:.0f} s"
        )
        self.process = None
        self.next_start_at = time.monotonic() + self.backoff_seconds
        self.backoff_seconds = min(self.backoff_seconds * 2, MAX_BACKOFF_SECONDS)

    def signal_group(self, number: signal.Signals) -> None:
        if self.process and self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    def terminate(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()

    def wait(self, end: float) -> None:
        """Wait until the moment `end`, then use force."""
        if self.process:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(max(0, end - time.monotonic()))
            self.signal_group(signal.SIGKILL)
            self.process.wait()


def spawn(
    command: tuple[str, ...], surroundings: Environment
) -> subprocess.Popen[bytes]:
    """A process in a session of its own, so that only we pass on Ctrl-C.

    It holds the locks of the stores too: they stop after it, whatever becomes of us.
    """
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=surroundings.settings,
        stdin=subprocess.DEVNULL,
        pass_fds=surroundings.stores.lock_fds,
        start_new_session=True,
        preexec_fn=set_parent_death_signal(signal.SIGTERM),
    )


def build_processes(surroundings: Environment, port: int) -> list[ManagedProcess]:
    celery = (*PYTHON, "celery", "--app", "config", "--quiet")
    commands = {
        "web server": (*PYTHON, "gunicorn", "--config", "gunicorn.conf.py"),
        "worker": (
            *celery,
            *("worker", "--pool", "prefork", "--concurrency", "1"),
            *("--loglevel", "INFO", "--without-gossip", "--without-mingle"),
            *("--hostname", f"server-{port}@%h"),
        ),
        "scheduler": (*celery, "beat", "--loglevel", "INFO", "--pidfile", ""),
    }
    return [
        ManagedProcess(name, command, surroundings)
        for name, command in commands.items()
    ]


def migrate(surroundings: Environment) -> None:
    """Bring the database up to date, or end the start; migrate says why itself."""
    process = spawn(MIGRATE_COMMAND, surroundings)
    while process.poll() is None and not stop_requested.wait(POLL_INTERVAL_SECONDS):
        pass
    if process.poll() is None:
        process.terminate()
        process.wait()
    elif process.returncode:
        raise StartupError("")


def supervise(children: list[ManagedProcess], port: int) -> None:
    """Tend the children until we are told to stop; then stop them all."""
    web = children[0]
    answered = False
    try:
        while not stop_requested.is_set():
            answered = answered or check_startup(web, port)
            for child in children:
                child.restart_if_due()
            stop_requested.wait(POLL_INTERVAL_SECONDS)
    finally:
        stop(children)


def check_startup(web: ManagedProcess, port: int) -> bool:
    """Print the addresses once the web server answers; without it there is no start."""
    if web.has_ended():
        raise StartupError("the web server did not start; its words are above")
    if web.process and time.monotonic() > web.started_at + STARTUP_TIMEOUT_SECONDS:
        raise StartupError("the web server does not answer; its words are above")
    if not is_responding(port):
        return False
    print_urls(port)
    return True


def is_responding(port: int) -> bool:
    """Whether the service is there: any answer will do that is no server error."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=2)
    try:
        connection.request("GET", "/api/health")
        return connection.getresponse().status < http.client.INTERNAL_SERVER_ERROR
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def stop(children: list[ManagedProcess]) -> None:
    end = time.monotonic() + SHUTDOWN_TIMEOUT_SECONDS
    for child in children:
        child.terminate()
    for child in children:
        child.wait(end)


def print_urls(port: int) -> None:
    address = f"http://{LOOPBACK}:{port}"
    print(
        f"The service answers at {address}/",
        f"  API documentation  {address}/api/docs",
        f"  administration     {address}/admin/",
        f"  health             {address}/api/health",
        "Ctrl-C stops it.",
        sep="\n",
        flush=True,
    )


def log(text: str) -> None:
    sys.stderr.write(f"script/server: {text}\n")
    sys.stderr.flush()


def request_stop(_number: int, _frame: FrameType | None) -> None:
    stop_requested.set()


def check_settings(settings: Settings, port: int) -> None:
    """What would fail later, and with many words."""
    for name in ("WEB_CONCURRENCY", "WEB_THREADS"):
        read_positive_int(settings, name, 1)
    if not is_port_free(port):
        raise StartupError(f"port {port} is taken; PORT sets another one")
    if address := settings.get("DATABASE_URL"):
        check_database(address)


def check_database(address: str) -> None:
    """Whether PostgreSQL answers; what is wrong with the address, migrate tells."""
    try:
        psycopg.connect(address, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        reason = " ".join(str(error).split())
        raise StartupError(f"the database of DATABASE_URL: {reason}") from None
    except psycopg.ProgrammingError:
        pass


def serve(settings: Settings) -> None:
    """Everything from the stores to the last process, and back."""
    port = read_port(settings)
    check_settings(settings, port)
    surroundings = prepare_environment(settings)
    try:
        migrate(surroundings)
        if not stop_requested.is_set():
            supervise(build_processes(surroundings, port), port)
    finally:
        surroundings.stores.release()


def main() -> int:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, request_stop)
    try:
        serve(read_settings())
    except StartupError as error:
        if str(error):
            log(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
