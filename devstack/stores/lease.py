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
    Folder,
    StoreError,
    hold_lock,
    is_locked,
    open_lock,
    try_lock,
)

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 60
"""A store that needs longer has a damaged disk, or must recover from a crash."""
STOP_SECONDS = 15
PAUSE_SECONDS = 0.02

Keeper = subprocess.Popen[bytes]

_keepers: dict[Path, Keeper] = {}
"""Our children by their folder; the last of our users there waits for their end."""


@dataclass(frozen=True)
class Use:
    """One process's use of one store; `lock` keeps it while any process has it open."""

    name: str
    folder: Folder
    address: str
    lock: int

    def leave(self) -> None:
        """Give the store up; the last user waits until the store has stopped."""
        is_last = try_lock(self.lock, fcntl.LOCK_EX)
        os.close(self.lock)
        if is_last:
            self._wait_for_keeper()

    def _wait_for_keeper(self) -> None:
        end = time.monotonic() + STOP_SECONDS
        while is_locked(self.folder.keeper_lock) and time.monotonic() < end:
            time.sleep(PAUSE_SECONDS)
        if keeper := _keepers.pop(self.folder.path, None):
            with suppress(subprocess.TimeoutExpired):
                keeper.wait(1)


def use_store(name: str, folder: Folder) -> Use:
    """Join the store of `folder`, started if nobody uses it yet."""
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        lock = open_lock(folder.users_lock)
    except OSError as error:
        raise StoreError(f"{folder.path} cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)  # waits for a store that is just stopping
        return _join_keeper(name, folder, lock)
    except BaseException:
        os.close(lock)
        raise


def _join_keeper(name: str, folder: Folder, lock: int) -> Use:
    with hold_lock(folder.start_lock):
        keeper = None
        if not is_locked(folder.keeper_lock):
            keeper = _start_keeper(name, folder)
        return Use(name, folder, _wait_for_address(name, folder, keeper), lock)


def _start_keeper(name: str, folder: Folder) -> Keeper:
    folder.address.unlink(missing_ok=True)  # of a keeper that was killed
    command = [sys.executable, "-m", "devstack.stores", name, str(folder.path)]
    if folder.throw_away:
        command.append("--throw-away")
    with folder.log.open("wb") as log:
        keeper = subprocess.Popen(  # noqa: S603
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _keepers[folder.path] = keeper
    return keeper


def _wait_for_address(name: str, folder: Folder, keeper: Keeper | None) -> str:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if folder.address.exists():
            return folder.address.read_text().strip()
        if not _is_alive(folder, keeper):
            break
        time.sleep(PAUSE_SECONDS)
    reason = folder.explain_failure()
    raise StoreError(f"{name} did not start: {reason} (log: {folder.log})")


def _is_alive(folder: Folder, keeper: Keeper | None) -> bool:
    if keeper:
        return keeper.poll() is None
    return is_locked(folder.keeper_lock)
