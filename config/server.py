"""The web server: `python -m config.server` runs Granian."""

import copy
import ctypes
import gc
import logging
import multiprocessing
import os
import re
import resource
import shutil
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer, WorkerProcess

from config import env
from core import heartbeats

logger = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parent.parent
APPLICATION = "config.rsgi:application"
DEFAULT_WORKERS = 2
# The library also closes idle connections after this time, and loses a request that
# arrives at that moment.
HEADER_TIMEOUT_MILLISECONDS = 10_000
# A client that does not read its response loses its connection.
WRITE_TIMEOUT_MILLISECONDS = 10_000
MAX_HEADER_BYTES = 2**16
MAX_CONNECTIONS_PER_WORKER = 8_192
BACKLOG = 1_024
STOP_TIMEOUT_SECONDS = 10
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108
# A worker that has grown beyond this is replaced.
MAX_WORKER_MEBIBYTES = 512
RESPAWN_INTERVAL_SECONDS = 2.0
# malloc.h defines the number of the option.
MMAP_THRESHOLD_BYTES = 2**20
M_MMAP_THRESHOLD = -3


class Server(MPServer):
    """Granian with our own sockets, whose options connections inherit (Linux).

    Each worker's socket is open before it starts and after it ends, so that replacing a
    worker loses no connection.
    """

    def _init_shared_socket(self) -> None:
        super()._init_shared_socket()  # type: ignore[no-untyped-call]
        self._holders: list[SocketHolder] = []
        if self.bind_uds or not sys.platform.startswith("linux"):
            return
        family = socket.AF_INET6 if ":" in self.bind_addr else socket.AF_INET
        for _ in range(self.workers):
            listener = socket.create_server(
                (self.bind_addr, self.bind_port),
                family=family,
                backlog=BACKLOG,
                reuse_port=True,
            )
            listener.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, WRITE_TIMEOUT_MILLISECONDS
            )
            listener.setblocking(False)
            self._holders.append(
                SocketHolder(listener.detach(), False, BACKLOG)  # type: ignore[call-arg]
            )

    def _spawn_worker(self, idx: int, *args: Any, **kwargs: Any) -> WorkerProcess:
        if self._holders:
            self._ssp, self._shd = None, self._holders[idx]  # type: ignore[assignment]
        heartbeats.assign(self._heartbeats, idx)
        return super()._spawn_worker(idx, *args, **kwargs)

    def startup(self, *args: Any, **kwargs: Any) -> None:
        # Before the fork, to share its memory.
        self._heartbeats = heartbeats.Heartbeats(self.workers)
        super().startup(*args, **kwargs)  # type: ignore[no-untyped-call]
        # Other workers do not share the memory.
        if multiprocessing.get_start_method() == "fork":
            threading.Thread(target=self._watch_heartbeats, daemon=True).start()

    def _watch_heartbeats(self) -> None:
        """Kill silent workers; the library replaces those that have ended."""
        watch = heartbeats.Watch(self._heartbeats)
        while not self.interrupt_signal:
            time.sleep(heartbeats.INTERVAL_SECONDS)
            workers = {worker.idx: worker for worker in list(self.wrks)}
            for number in watch.list_silent(workers):
                logger.error("worker %d is silent and is replaced", number + 1)
                # Not by its own method, after which the library expects no other.
                if workers[number].is_alive():  # type: ignore[no-untyped-call]
                    with suppress(ProcessLookupError):
                        os.kill(workers[number].inner.pid, signal.SIGKILL)
                self._heartbeats.beat(number)


def main(application: str = APPLICATION) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    env.validate_settings_or_exit()
    from core.db.limits import check_database_limits_or_exit
    from core.releases.hashes import check_migrations_or_exit

    check_database_limits_or_exit()
    return_freed_memory()
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    try:
        server = build_server(application)
    except ImproperlyConfigured as error:
        sys.exit(f"configuration: {error}")
    # Workers are forked and share the memory of loaded modules.
    import_module(application.partition(":")[0])
    check_migrations_or_exit()
    gc.collect()
    gc.freeze()
    try:
        server.serve()
    finally:
        if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            shutil.rmtree(folder, ignore_errors=True)


def return_freed_memory() -> None:
    """Return large blocks of memory to the system when they are freed (glibc).

    Without a fixed threshold each thread keeps large blocks, such as 19 MiB of a
    password.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES)


def build_server(application: str) -> Server:
    port = env.read_int("PORT", env.DEFAULT_PORT, minimum=1, maximum=env.MAX_PORT)
    bind = env.read_text("BIND", f"127.0.0.1:{port}")
    path = bind.removeprefix("unix:") if bind.startswith("unix:") else ""
    host, _, bind_port = bind.rpartition(":")
    if not path and not (host and bind_port.isascii() and bind_port.isdigit()):
        raise ImproperlyConfigured("BIND must be an address and a port, or unix:PATH.")
    if env.read_text("METRICS_TOKEN"):
        default = find_metrics_folder(bind)
        folder = Path(os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(default)))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
    return Server(
        application,
        address=host.strip("[]") or "127.0.0.1",
        port=port if path else int(bind_port),
        uds=Path(path) if path else None,
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        websockets=False,
        workers=env.read_int("WEB_CONCURRENCY", DEFAULT_WORKERS, minimum=1),
        backlog=BACKLOG,
        backpressure=MAX_CONNECTIONS_PER_WORKER,
        http1_settings=HTTP1Settings(
            header_read_timeout=HEADER_TIMEOUT_MILLISECONDS,
            max_buffer_size=MAX_HEADER_BYTES,
        ),
        log_level=LogLevels(settings.LOG_LEVEL.lower()),
        log_dictconfig=copy.deepcopy(settings.LOGGING),
        respawn_failed_workers=True,
        respawn_interval=RESPAWN_INTERVAL_SECONDS,
        workers_max_rss=MAX_WORKER_MEBIBYTES,
        workers_kill_timeout=STOP_TIMEOUT_SECONDS,
    )


def find_metrics_folder(bind: str) -> Path:
    name = re.sub(r"\W+", "_", bind)
    # A process that writes to a mapped file on a full disk is killed.
    if os.access(SHARED_MEMORY, os.W_OK):
        return SHARED_MEMORY / f"household-ledger-metrics-{os.getuid()}-{name}"
    return ROOT / env.read_text("DATA_DIR", "var") / f"metrics-{name}"


if __name__ == "__main__":
    main(*sys.argv[1:])
