"""PostgreSQL and Valkey for development and tests, from their wheels, no root and
no Docker.

Each store lives in a folder of its own and is run by a *keeper*, a process in a
session of its own (so that Ctrl-C does not reach it). Whoever uses the store holds
a shared lock on a file of that folder; when the last holder is gone, however it
went, the keeper stops the store and ends.
"""

import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from devstack.stores.data_dir import StoreDir, StoreError
from devstack.stores.lease import StoreLease, acquire_store

__all__ = [
    "SETTING_BY_STORE",
    "StoreDir",
    "StoreError",
    "StoreLeases",
    "acquire_stores",
]

SETTING_BY_STORE = {"postgres": "DATABASE_URL", "valkey": "REDIS_URL"}
"""The setting that each store answers; a store whose setting is given is not run."""


@dataclass(frozen=True)
class StoreLeases:
    """The stores that this process uses, until it leaves them or ends."""

    leases: tuple[StoreLease, ...]

    @property
    def settings(self) -> dict[str, str]:
        """DATABASE_URL and REDIS_URL, as far as they are ours to give."""
        return {SETTING_BY_STORE[use.name]: use.address for use in self.leases}

    @property
    def lock_fds(self) -> tuple[int, ...]:
        """Descriptors that a child may inherit, to keep the stores while it lives."""
        return tuple(use.lock_fd for use in self.leases)

    def release(self) -> None:
        """Give the stores up, and wait for their end where nobody else uses them."""
        with ThreadPoolExecutor(len(SETTING_BY_STORE)) as threads:
            list(threads.map(StoreLease.release, self.leases))


def acquire_stores(names: Iterable[str], data_dir: Path | None) -> StoreLeases:
    """Start the named stores under `data_dir`, or join those that run there.

    Without a folder the stores are throw-away ones: fast, not crash-safe, in a
    temporary folder that their keepers remove. StoreError says what went wrong.
    """
    folders = _resolve_store_dirs(tuple(names), data_dir)
    with ThreadPoolExecutor(len(SETTING_BY_STORE)) as threads:
        uses = list(threads.map(acquire_store, folders, folders.values()))
    return StoreLeases(tuple(uses))


def _resolve_store_dirs(
    names: tuple[str, ...], data_dir: Path | None
) -> dict[str, StoreDir]:
    if data_dir or not names:
        return {name: StoreDir(Path(data_dir or ".") / name) for name in names}
    temporary = Path(tempfile.mkdtemp(prefix="household-ledger-"))
    temporary.chmod(0o711)  # PostgreSQL may run under another account
    return {name: StoreDir(temporary / name, is_ephemeral=True) for name in names}
