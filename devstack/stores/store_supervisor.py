"""The side of the store: a process that starts it, watches it and stops it."""

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
PR_SET_PDEATHSIG = 1

Process = subprocess.Popen[bytes]


class Store(Protocol):
    """A server program that keeps its data in a folder and answers at a port."""

    stop_signal: ClassVar[signal.Signals]
    quick_stop_signal: ClassVar[signal.Signals]

    def launch(self, port: int) -> Process: ...

    def is_ready(self, process: Process, port: int) -> bool: ...

    def connection_url(self, port: int) -> str: ...

    def remove(self) -> None: ...


def supervise_store(store: Store, folder: StoreDir) -> None:
    """Run the store until its last user has gone; called under `keeper.lock`."""
    users = open_lock_file(folder.clients_lock)
    process = start(store, folder)
    try:
        while not try_lock(users, fcntl.LOCK_EX):
            time.sleep(POLL_INTERVAL_SECONDS)
            if process.poll() is not None:
                process = restart(store, folder)
    finally:
        folder.address.unlink(missing_ok=True)
        stop(store, process)
        if folder.is_ephemeral:
            remove(store, folder)


def start(store: Store, folder: StoreDir) -> Process:
    """The running store, once it answers and its address is published."""
    for _ in range(MAX_START_ATTEMPTS):
        port = folder.choose_port()
        process = store.launch(port)
        if wait_until_ready(store, process, port):
            write_private_file(folder.address, store.connection_url(port))
            return process
        stop(store, process)
        if is_port_free(port):  # so it was not for the port that it failed
            break
    raise StoreError(folder.last_log_error())


def restart(store: Store, folder: StoreDir) -> Process:
    """A store that died comes back at the same address, if that is still free."""
    time.sleep(RESTART_DELAY_SECONDS)
    return start(store, folder)


def wait_until_ready(store: Store, process: Process, port: int) -> bool:
    end = time.monotonic() + START_TIMEOUT_SECONDS
    while process.poll() is None and time.monotonic() < end:
        if store.is_ready(process, port):
            return True
        time.sleep(0.01)
    return False


def stop(store: Store, process: Process) -> None:
    """Stop politely, then quickly, then by force."""
    for way in (store.stop_signal, store.quick_stop_signal, signal.SIGKILL):
        if process.poll() is not None:
            return
        process.send_signal(way)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_SECONDS if way is store.stop_signal else 2)


def remove(store: Store, folder: StoreDir) -> None:
    store.remove()
    shutil.rmtree(folder.path, ignore_errors=True)
    with suppress(OSError):
        folder.path.parent.rmdir()  # the last of the throw-away stores


def set_parent_death_signal(death_signal: signal.Signals) -> Callable[[], None]:
    """A function for a new child to call, so that it outlives nobody (on Linux)."""
    if not sys.platform.startswith("linux"):
        return lambda: None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def ask_the_kernel() -> None:
        prctl(PR_SET_PDEATHSIG, int(death_signal))
        if os.getppid() != parent:
            os.kill(os.getpid(), death_signal)

    return ask_the_kernel


def main(build: Callable[[StoreDir], Store], folder: StoreDir) -> int:
    """The keeper process; its last word in the log is what its starter reports."""
    signal.signal(signal.SIGTERM, handle_sigterm)
    try:
        with exclusive_lock(folder.supervisor_lock):
            supervise_store(build(folder), folder)
    except (StoreError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def handle_sigterm(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)
