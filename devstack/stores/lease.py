"""The side of those who use a store: join it, start its keeper if need be, leave it."""

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
START_TIMEOUT_SECONDS = 60
"""A store that needs longer has a damaged disk, or must recover from a crash."""
STOP_TIMEOUT_SECONDS = 15
POLL_INTERVAL_SECONDS = 0.02

SupervisorProcess = subprocess.Popen[bytes]

_supervisors: dict[Path, SupervisorProcess] = {}
"""Our children by their folder; the last of our users there waits for their end."""


@dataclass(frozen=True)
class StoreLease:
    """One process's use of one store; `lock` keeps it while any process has it open."""

    name: str
    folder: StoreDir
    address: str
    lock_fd: int

    def release(self) -> None:
        """Give the store up; the last user waits until the store has stopped."""
        is_last = try_lock(self.lock_fd, fcntl.LOCK_EX)
        os.close(self.lock_fd)
        if is_last:
            self._wait_for_supervisor()

    def _wait_for_supervisor(self) -> None:
        end = time.monotonic() + STOP_TIMEOUT_SECONDS
        while is_locked(self.folder.supervisor_lock) and time.monotonic() < end:
            time.sleep(POLL_INTERVAL_SECONDS)
        if keeper := _supervisors.pop(self.folder.path, None):
            with suppress(subprocess.TimeoutExpired):
                keeper.wait(1)


def acquire_store(name: str, folder: StoreDir) -> StoreLease:
    """Join the store of `folder`, started if nobody uses it yet."""
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        lock = open_lock_file(folder.clients_lock)
    except OSError as error:
        raise StoreError(f"{folder.path} cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)  # waits for a store that is just stopping
        return _attach(name, folder, lock)
    except BaseException:
        os.close(lock)
        raise


def _attach(name: str, folder: StoreDir, lock: int) -> StoreLease:
    with exclusive_lock(folder.start_lock):
        keeper = None
        if not is_locked(folder.supervisor_lock):
            keeper = _spawn_supervisor(name, folder)
        return StoreLease(name, folder, _wait_for_url(name, folder, keeper), lock)


def _spawn_supervisor(name: str, folder: StoreDir) -> SupervisorProcess:
    folder.address.unlink(missing_ok=True)  # of a keeper that was killed
    command = [sys.executable, "-m", "devstack.stores", name, str(folder.path)]
    if folder.is_ephemeral:
        command.append("--ephemeral")
    with folder.log.open("wb") as log:
        keeper = subprocess.Popen(  # noqa: S603
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _supervisors[folder.path] = keeper
    return keeper


def _wait_for_url(name: str, folder: StoreDir, keeper: SupervisorProcess | None) -> str:
    end = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < end:
        if folder.address.exists():
            return folder.address.read_text().strip()
        if not _is_supervisor_alive(folder, keeper):
            break
        time.sleep(POLL_INTERVAL_SECONDS)
    reason = folder.last_log_error()
    raise StoreError(f"{name} did not start: {reason} (log: {folder.log})")


def _is_supervisor_alive(folder: StoreDir, keeper: SupervisorProcess | None) -> bool:
    if keeper:
        return keeper.poll() is None
    return is_locked(folder.supervisor_lock)
