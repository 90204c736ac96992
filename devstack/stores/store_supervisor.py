"""The supervisor process of one store."""

import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import ClassVar, Protocol

from devstack.stores.data_dir import (
    StoreDir,
    StoreError,
    exclusive_lock,
    is_port_free,
    open_lock_file,
    try_lock,
    write_private_file,
)

POLL_INTERVAL_SECONDS = 0.1
RESTART_DELAY_SECONDS = 1
START_TIMEOUT_SECONDS = 50
MAX_START_ATTEMPTS = 3
STOP_TIMEOUT_SECONDS = 10
# Loaded before any fork.
PRCTL = ctypes.CDLL(None).prctl if sys.platform.startswith("linux") else None
PR_SET_PDEATHSIG = 1

Process = subprocess.Popen[bytes]


class Store(Protocol):
    stop_signal: ClassVar[signal.Signals]
    quick_stop_signal: ClassVar[signal.Signals]

    def launch(self, port: int) -> Process: ...

    def is_ready(self, process: Process, port: int) -> bool: ...

    def connection_url(self, port: int) -> str: ...

    def remove(self) -> None: ...


def supervise_store(store: Store, store_dir: StoreDir) -> None:
    """Run the store until its last client is gone; call under `supervisor.lock`."""
    clients = open_lock_file(store_dir.clients_lock)
    process = start(store, store_dir)
    try:
        while not try_lock(clients, fcntl.LOCK_EX):
            time.sleep(POLL_INTERVAL_SECONDS)
            if process.poll() is not None:
                time.sleep(RESTART_DELAY_SECONDS)
                process = start(store, store_dir)
    finally:
        store_dir.url_file.unlink(missing_ok=True)
        stop(store, process)
        if store_dir.is_ephemeral:
            store.remove()
            shutil.rmtree(store_dir.path, ignore_errors=True)
            # Fails while another ephemeral store is left.
            with suppress(OSError):
                store_dir.path.parent.rmdir()


def start(store: Store, store_dir: StoreDir) -> Process:
    for _ in range(MAX_START_ATTEMPTS):
        port = store_dir.choose_port()
        process = store.launch(port)
        if wait_until_ready(store, process, port):
            write_private_file(store_dir.url_file, store.connection_url(port))
            return process
        stop(store, process)
        if is_port_free(port):  # the failure had another reason than the port
            break
    raise StoreError(store_dir.last_log_error())


def wait_until_ready(store: Store, process: Process, port: int) -> bool:
    end = time.monotonic() + START_TIMEOUT_SECONDS
    while process.poll() is None and time.monotonic() < end:
        if store.is_ready(process, port):
            return True
        time.sleep(0.01)
    return False


def stop(store: Store, process: Process) -> None:
    """Send the normal signal, then the quick signal, then SIGKILL."""
    for way in (store.stop_signal, store.quick_stop_signal, signal.SIGKILL):
        if process.poll() is not None:
            return
        process.send_signal(way)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_SECONDS if way is store.stop_signal else 2)


def set_parent_death_signal(death_signal: signal.Signals) -> Callable[[], None]:
    """Kill the child when its parent dies (Linux only)."""
    return partial(end_with_parent, os.getpid(), death_signal)


def end_with_parent(parent_pid: int, death_signal: signal.Signals) -> None:
    if PRCTL is None:
        return
    PRCTL(PR_SET_PDEATHSIG, int(death_signal))
    if os.getppid() != parent_pid:  # the parent died before prctl took effect
        os.kill(os.getpid(), death_signal)


def main(build: Callable[[StoreDir], Store], store_dir: StoreDir) -> int:
    signal.signal(signal.SIGTERM, handle_sigterm)
    try:
        with exclusive_lock(store_dir.supervisor_lock):
            supervise_store(build(store_dir), store_dir)
    except (StoreError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def handle_sigterm(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)
