"""The client side of a store."""

import fcntl
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from devstack.stores.data_dir import (
    StoreDir,
    StoreError,
    exclusive_lock,
    is_locked,
    open_lock_file,
    try_lock,
)

ROOT = Path(__file__).resolve().parent.parent.parent
# Includes crash recovery of a large database.
START_TIMEOUT_SECONDS = 60
STOP_TIMEOUT_SECONDS = 15
POLL_INTERVAL_SECONDS = 0.02

SupervisorProcess = subprocess.Popen[bytes]

# The last client waits for the supervisors that this process started.
_supervisors: dict[Path, SupervisorProcess] = {}


@dataclass(frozen=True)
class StoreLease:
    """The store runs while any process holds `lock_fd` open."""

    name: str
    store_dir: StoreDir
    url: str
    lock_fd: int

    def release(self) -> None:
        is_last = try_lock(self.lock_fd, fcntl.LOCK_EX)
        os.close(self.lock_fd)
        if not is_last:
            return
        end = time.monotonic() + STOP_TIMEOUT_SECONDS
        while is_locked(self.store_dir.supervisor_lock) and time.monotonic() < end:
            time.sleep(POLL_INTERVAL_SECONDS)
        if not is_locked(self.store_dir.supervisor_lock):
            _forget_supervisor(self.store_dir)


def acquire_store(name: str, store_dir: StoreDir) -> StoreLease:
    try:
        store_dir.path.mkdir(parents=True, exist_ok=True)
        lock = open_lock_file(store_dir.clients_lock)
    except OSError as error:
        raise StoreError(f"{store_dir.path} cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)  # waits while a supervisor stops the store
        with exclusive_lock(store_dir.start_lock):
            supervisor = None
            if not is_locked(store_dir.supervisor_lock):
                supervisor = _spawn_supervisor(name, store_dir)
            url = _wait_for_url(name, store_dir, supervisor)
        return StoreLease(name, store_dir, url, lock)
    except BaseException:
        os.close(lock)
        raise


def _forget_supervisor(store_dir: StoreDir) -> None:
    """Wait for a supervisor of this process that gave up its lock."""
    if supervisor := _supervisors.get(store_dir.path):
        with suppress(subprocess.TimeoutExpired):
            supervisor.wait(STOP_TIMEOUT_SECONDS)
            del _supervisors[store_dir.path]


def _spawn_supervisor(name: str, store_dir: StoreDir) -> SupervisorProcess:
    _forget_supervisor(store_dir)
    store_dir.url_file.unlink(missing_ok=True)  # left by a killed supervisor
    command = [sys.executable, "-m", "devstack.stores", name, str(store_dir.path)]
    if store_dir.is_ephemeral:
        command.append("--ephemeral")
    with store_dir.log.open("wb") as log:
        supervisor = subprocess.Popen(  # noqa: S603
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _supervisors[store_dir.path] = supervisor
    return supervisor


def _wait_for_url(
    name: str, store_dir: StoreDir, supervisor: SupervisorProcess | None
) -> str:
    end = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < end:
        if store_dir.url_file.exists():
            return store_dir.url_file.read_text().strip()
        if supervisor:
            is_alive = supervisor.poll() is None
        else:
            is_alive = is_locked(store_dir.supervisor_lock)
        if not is_alive:
            break
        time.sleep(POLL_INTERVAL_SECONDS)
    reason = store_dir.last_log_error()
    raise StoreError(f"{name} did not start: {reason} (log: {store_dir.log})")
