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
    Settings,
    StartError,
    Surroundings,
    prepare,
    read_port,
    read_settings,
    read_whole_number,
)
from devstack.stores.data_dir import LOOPBACK, is_port_free
from devstack.stores.store_supervisor import die_with_parent

WATCH_SECONDS = 0.1
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0
STEADY_SECONDS = 60
"""After a run of this length a failure counts as the first one again."""
FIRST_ANSWER_SECONDS = 60
GRACE_SECONDS = 12
"""How long the processes have to finish what they are at; gunicorn takes up to 10."""
PYTHON = (sys.executable, "-m")
MIGRATE = (sys.executable, "manage.py", "migrate", "--noinput")

stopping = threading.Event()


@dataclass
class Child:
    """One supervised process: running, or waiting for its next start."""

    name: str
    command: tuple[str, ...]
    surroundings: Surroundings
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0
    start_at: float = 0
    pause: float = field(default=FIRST_PAUSE_SECONDS)

    def start(self) -> None:
        self.started_at = time.monotonic()
        self.process = spawn(self.command, self.surroundings)

    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def tend(self) -> None:
        """Notice its end, and start it when its pause is over."""
        if self.process and self.has_ended():
            self._plan_restart(self.process.returncode)
        elif not self.process and time.monotonic() >= self.start_at:
            self.start()

    def _plan_restart(self, code: int) -> None:
        if time.monotonic() - self.started_at >= STEADY_SECONDS:
            self.pause = FIRST_PAUSE_SECONDS
        say(f"the {self.name} ended ({code}); it starts again in {self.pause:.0f} s")
        self.process = None
        self.start_at = time.monotonic() + self.pause
        self.pause = min(self.pause * 2, LONGEST_PAUSE_SECONDS)

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
    command: tuple[str, ...], surroundings: Surroundings
) -> subprocess.Popen[bytes]:
    """A process in a session of its own, so that only we pass on Ctrl-C.

    It holds the locks of the stores too: they stop after it, whatever becomes of us.
    """
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=surroundings.settings,
        stdin=subprocess.DEVNULL,
        pass_fds=surroundings.stores.locks,
        start_new_session=True,
        preexec_fn=die_with_parent(signal.SIGTERM),
    )


def list_children(surroundings: Surroundings, port: int) -> list[Child]:
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
    return [Child(name, command, surroundings) for name, command in commands.items()]


def migrate(surroundings: Surroundings) -> None:
    """Bring the database up to date, or end the start; migrate says why itself."""
    process = spawn(MIGRATE, surroundings)
    while process.poll() is None and not stopping.wait(WATCH_SECONDS):
        pass
    if process.poll() is None:
        process.terminate()
        process.wait()
    elif process.returncode:
        raise StartError("")


def supervise(children: list[Child], port: int) -> None:
    """Tend the children until we are told to stop; then stop them all."""
    web = children[0]
    answered = False
    try:
        while not stopping.is_set():
            answered = answered or check_first_answer(web, port)
            for child in children:
                child.tend()
            stopping.wait(WATCH_SECONDS)
    finally:
        stop(children)


def check_first_answer(web: Child, port: int) -> bool:
    """Print the addresses once the web server answers; without it there is no start."""
    if web.has_ended():
        raise StartError("the web server did not start; its words are above")
    if web.process and time.monotonic() > web.started_at + FIRST_ANSWER_SECONDS:
        raise StartError("the web server does not answer; its words are above")
    if not answers(port):
        return False
    print_addresses(port)
    return True


def answers(port: int) -> bool:
    """Whether the service is there: any answer will do that is no server error."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=2)
    try:
        connection.request("GET", "/api/health")
        return connection.getresponse().status < http.client.INTERNAL_SERVER_ERROR
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def stop(children: list[Child]) -> None:
    end = time.monotonic() + GRACE_SECONDS
    for child in children:
        child.terminate()
    for child in children:
        child.wait(end)


def print_addresses(port: int) -> None:
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


def say(text: str) -> None:
    sys.stderr.write(f"script/server: {text}\n")
    sys.stderr.flush()


def request_stop(_number: int, _frame: FrameType | None) -> None:
    stopping.set()


def check_settings(settings: Settings, port: int) -> None:
    """What would fail later, and with many words."""
    for name in ("WEB_CONCURRENCY", "WEB_THREADS"):
        read_whole_number(settings, name, 1)
    if not is_port_free(port):
        raise StartError(f"port {port} is taken; PORT sets another one")
    if address := settings.get("DATABASE_URL"):
        check_database(address)


def check_database(address: str) -> None:
    """Whether PostgreSQL answers; what is wrong with the address, migrate tells."""
    try:
        psycopg.connect(address, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        reason = " ".join(str(error).split())
        raise StartError(f"the database of DATABASE_URL: {reason}") from None
    except psycopg.ProgrammingError:
        pass


def serve(settings: Settings) -> None:
    """Everything from the stores to the last process, and back."""
    port = read_port(settings)
    check_settings(settings, port)
    surroundings = prepare(settings)
    try:
        migrate(surroundings)
        if not stopping.is_set():
            supervise(list_children(surroundings, port), port)
    finally:
        surroundings.stores.leave()


def main() -> int:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, request_stop)
    try:
        serve(read_settings())
    except StartError as error:
        if str(error):
            say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
