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

from devstack.stores.data_dir import Folder, StoreError
from devstack.stores.lease import Use, use_store

__all__ = ["VARIABLES", "Folder", "StoreError", "Stores", "use_stores"]

VARIABLES = {"postgres": "DATABASE_URL", "valkey": "REDIS_URL"}
"""The setting that each store answers; a store whose setting is given is not run."""


@dataclass(frozen=True)
class Stores:
    """The stores that this process uses, until it leaves them or ends."""

    uses: tuple[Use, ...]

    @property
    def settings(self) -> dict[str, str]:
        """DATABASE_URL and REDIS_URL, as far as they are ours to give."""
        return {VARIABLES[use.name]: use.address for use in self.uses}

    @property
    def locks(self) -> tuple[int, ...]:
        """Descriptors that a child may inherit, to keep the stores while it lives."""
        return tuple(use.lock for use in self.uses)

    def leave(self) -> None:
        """Give the stores up, and wait for their end where nobody else uses them."""
        with ThreadPoolExecutor(len(VARIABLES)) as threads:
            list(threads.map(Use.leave, self.uses))


def use_stores(names: Iterable[str], data_dir: Path | None) -> Stores:
    """Start the named stores under `data_dir`, or join those that run there.

    Without a folder the stores are throw-away ones: fast, not crash-safe, in a
    temporary folder that their keepers remove. StoreError says what went wrong.
    """
    folders = _choose_folders(tuple(names), data_dir)
    with ThreadPoolExecutor(len(VARIABLES)) as threads:
        uses = list(threads.map(use_store, folders, folders.values()))
    return Stores(tuple(uses))


def _choose_folders(names: tuple[str, ...], data_dir: Path | None) -> dict[str, Folder]:
    if data_dir or not names:
        return {name: Folder(Path(data_dir or ".") / name) for name in names}
    temporary = Path(tempfile.mkdtemp(prefix="household-ledger-"))
    temporary.chmod(0o711)  # PostgreSQL may run under another account
    return {name: Folder(temporary / name, throw_away=True) for name in names}
