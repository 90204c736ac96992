"""Supervise the processes of `script/server`: web server, workers and Beat.

A process that ends is restarted with exponential backoff. On Linux the kernel
terminates the children of a killed supervisor, which forks its processes: they share
the memory of the service.
"""

import gc
import http.client
import multiprocessing
import os
import runpy
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.process import BaseProcess

import psycopg
from psycopg.conninfo import conninfo_to_dict

from devstack.environment import (
    ROOT,
    Settings,
    StartupError,
    prepare_environment,
    read_port,
    read_positive_int,
    read_settings,
)
from devstack.stores.data_dir import LOOPBACK, is_port_free
from devstack.stores.store_supervisor import end_with_parent

POLL_INTERVAL_SECONDS = 0.1
MIN_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 1.0, 30.0
# After this time the shortest backoff applies again.
STABLE_AFTER_SECONDS = 60
STARTUP_TIMEOUT_SECONDS = 60
# Longer than the stop timeout of the web server (10 s).
SHUTDOWN_TIMEOUT_SECONDS = 12
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Other systems forbid some libraries after a fork.
CAN_FORK = sys.platform.startswith("linux")
PROCESSES = (
    multiprocessing.get_context("fork")
    if CAN_FORK
    else multiprocessing.get_context("spawn")
)
PRELOADED_MODULES = ("config.rsgi", "granian.server.mp", "celery.bin.celery")
CELERY = ("-m", "celery", "--app", "config", "--quiet")
MIGRATE_ARGUMENTS = ("manage.py", "migrate", "--noinput")

stop_requested = threading.Event()


@dataclass
class ManagedProcess:
    name: str
    arguments: tuple[str, ...]
    process: BaseProcess | None = None
    started_at: float = 0
    next_start_at: float = 0
    backoff_seconds: float = field(default=MIN_BACKOFF_SECONDS)

    def start(self) -> None:
        self.started_at = time.monotonic()
        self.process = start_python(self.arguments)

    def has_ended(self) -> bool:
        return self.process is not None and not self.process.is_alive()

    def restart_if_due(self) -> None:
        if self.process and self.has_ended():
            self._schedule_restart(self.process.exitcode)
        elif not self.process and time.monotonic() >= self.next_start_at:
            self.start()

    def _schedule_restart(self, code: int | None) -> None:
        if time.monotonic() - self.started_at >= STABLE_AFTER_SECONDS:
            self.backoff_seconds = MIN_BACKOFF_SECONDS
        log(f"the {self.name} ended ({code}); restart in {self.backoff_seconds:.0f} s")
        self.process = None
        self.next_start_at = time.monotonic() + self.backoff_seconds
        self.backoff_seconds = min(self.backoff_seconds * 2, MAX_BACKOFF_SECONDS)

    def terminate(self) -> None:
        if self.process:
            self.process.terminate()

    def wait(self, end: float) -> None:
        """Wait until `end` (monotonic seconds), then kill the process group."""
        if self.process:
            self.process.join(max(0, end - time.monotonic()))
            if self.process.pid and self.process.is_alive():
                with suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)
            self.process.join()


def start_python(arguments: tuple[str, ...]) -> BaseProcess:
    """Start Python with `arguments`: a file or `-m` and a module, and their own.

    The process inherits the locks of the stores, which stop after it.
    """
    process = PROCESSES.Process(target=run_python, args=(os.getpid(), arguments))
    process.start()
    return process


def run_python(parent_pid: int, arguments: tuple[str, ...]) -> None:
    # Ctrl-C must reach only the supervisor.
    os.setsid()
    end_with_parent(parent_pid, signal.SIGTERM)
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    os.chdir(ROOT)
    if arguments[0] == "-m":
        sys.argv = list(arguments[1:])
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(arguments)
        runpy.run_path(arguments[0], run_name="__main__")


def preload(settings: Settings) -> None:
    os.environ.clear()
    os.environ.update(settings)
    # Counters create their files, which belong to the web server only.
    if CAN_FORK and not settings.get("METRICS_TOKEN"):
        sys.path.insert(0, str(ROOT))
        for name in PRELOADED_MODULES:
            import_module(name)
        # A garbage collection would write to, and so copy, the shared memory.
        gc.collect()
        gc.freeze()


def build_processes(port: int) -> list[ManagedProcess]:
    programs = {
        "web server": ("-m", "config.server"),
        "worker": _build_worker("celery", f"server-{port}"),
        "worker of long jobs": _build_worker("long", f"server-{port}-long"),
        "scheduler": (*CELERY, "beat", "--loglevel", "INFO", "--pidfile", ""),
    }
    return [ManagedProcess(name, arguments) for name, arguments in programs.items()]


def _build_worker(queue: str, name: str) -> tuple[str, ...]:
    return (
        *CELERY,
        *("worker", "--pool", "prefork", "--concurrency", "1", "--queues", queue),
        *("--loglevel", "INFO", "--without-gossip", "--without-mingle"),
        *("--hostname", f"{name}@%h"),
    )


def migrate() -> None:
    """Raise StartupError, which the output of migrate explains."""
    process = start_python(MIGRATE_ARGUMENTS)
    while process.is_alive() and not stop_requested.is_set():
        process.join(POLL_INTERVAL_SECONDS)
    if process.is_alive():
        process.terminate()
        process.join()
    elif process.exitcode:
        raise StartupError("")


def supervise(children: list[ManagedProcess], port: int) -> None:
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
    """Return True and print the URLs once the web server responds.

    Raise StartupError if it ended or does not respond in time.
    """
    if web.has_ended():
        raise StartupError("the web server failed to start; see its output above")
    if web.process and time.monotonic() > web.started_at + STARTUP_TIMEOUT_SECONDS:
        raise StartupError("the web server does not respond; see its output above")
    if not is_responding(port):
        return False
    url = f"http://{LOOPBACK}:{port}"
    print(
        f"The service is running at {url}/",
        f"  API documentation  {url}/api/docs",
        f"  administration     {url}/admin/",
        f"  health             {url}/api/health",
        "Ctrl-C stops it.",
        sep="\n",
        flush=True,
    )
    return True


def is_responding(port: int) -> bool:
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


def log(text: str) -> None:
    sys.stderr.write(f"script/server: {text}\n")
    sys.stderr.flush()


def check_settings(settings: Settings, port: int) -> None:
    for name in ("WEB_CONCURRENCY", "WEB_THREADS"):
        read_positive_int(settings, name, 1)
    if not is_port_free(port):
        raise StartupError(f"port {port} is already in use; set PORT to another one")
    if url := settings.get("DATABASE_URL"):
        try:
            password = conninfo_to_dict(url).get("password")
            psycopg.connect(
                url,
                password=password or settings.get("DATABASE_PASSWORD"),
                connect_timeout=5,
                # Only the primary of several hosts can be migrated.
                target_session_attrs="read-write",
            ).close()
        except psycopg.OperationalError as error:
            reason = " ".join(str(error).split())
            raise StartupError(f"the database of DATABASE_URL: {reason}") from None
        except psycopg.ProgrammingError:
            pass  # migrate reports a malformed URL


def serve(settings: Settings) -> None:
    port = read_port(settings)
    check_settings(settings, port)
    environment = prepare_environment(settings)
    try:
        preload(environment.settings)
        migrate()
        if not stop_requested.is_set():
            supervise(build_processes(port), port)
    finally:
        environment.stores.release()


def main() -> int:
    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: stop_requested.set())
    try:
        serve(read_settings())
    except StartupError as error:
        if str(error):
            log(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
