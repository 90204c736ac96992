"""PostgreSQL and Valkey for development and tests, from their wheels.

A supervisor process runs each store in a separate session, so that Ctrl-C does not
reach it. Clients hold a shared lock on a file. When the last client has released it or
ended, the supervisor stops the store and exits.
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


@dataclass(frozen=True)
class StoreLeases:
    leases: tuple[StoreLease, ...]

    @property
    def settings(self) -> dict[str, str]:
        return {SETTING_BY_STORE[lease.name]: lease.url for lease in self.leases}

    @property
    def lock_fds(self) -> tuple[int, ...]:
        """Return descriptors for a child to inherit: the stores run until it ends."""
        return tuple(lease.lock_fd for lease in self.leases)

    def release(self) -> None:
        """Wait until stores without other clients have stopped."""
        with ThreadPoolExecutor(len(SETTING_BY_STORE)) as threads:
            list(threads.map(StoreLease.release, self.leases))


def acquire_stores(names: Iterable[str], data_dir: Path | None) -> StoreLeases:
    """Start the named stores under `data_dir`, or join running stores.

    Without `data_dir` the stores are ephemeral: fast, not crash-safe, in a temporary
    directory that their supervisors remove.
    """
    names = tuple(names)
    if data_dir or not names:
        store_dirs = {name: StoreDir(Path(data_dir or ".") / name) for name in names}
    else:
        temporary = Path(tempfile.mkdtemp(prefix="household-ledger-"))
        temporary.chmod(0o711)  # PostgreSQL may run as another OS user
        store_dirs = {
            name: StoreDir(temporary / name, is_ephemeral=True) for name in names
        }
    with ThreadPoolExecutor(len(SETTING_BY_STORE)) as threads:
        leases = list(threads.map(acquire_store, store_dirs, store_dirs.values()))
    return StoreLeases(tuple(leases))
