"""PostgreSQL and Valkey of one run: durable, its own, and open to ill treatment.

They are run without keepers, which would start again what a measurement kills.
"""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devstack.stores import store_supervisor
from devstack.stores.data_dir import StoreDir
from devstack.stores.postgres import Postgres
from devstack.stores.valkey import Valkey


class UnsupervisedStore:
    """One server; it always comes back at the same address."""

    def __init__(self, store: store_supervisor.Store, folder: StoreDir) -> None:
        self.store, self.folder = store, folder
        self.process: store_supervisor.Process | None = None

    @property
    def address(self) -> str:
        return self.folder.url_file.read_text().strip()

    def start(self) -> None:
        """Returns once the server answers."""
        with redirect_output(self.folder.log):
            self.process = store_supervisor.start(self.store, self.folder)

    def send_signal(self, number: signal.Signals) -> None:
        if self.process:
            self.process.send_signal(number)

    def stop_with_signal(self, number: signal.Signals) -> None:
        """Send the signal and wait until the server has gone."""
        self.send_signal(number)
        if self.process:
            self.process.wait(60)

    def remove(self) -> None:
        if self.process:
            self.send_signal(signal.SIGCONT)
            store_supervisor.stop(self.store, self.process)
        self.store.remove()


@contextmanager
def redirect_output(log: Path) -> Iterator[None]:
    """Programs that are started in the block say what they say into the log."""
    outputs = (1, 2)
    kept = [os.dup(output) for output in outputs]
    try:
        with log.open("ab") as file:
            for output in outputs:
                os.dup2(file.fileno(), output)
        yield
    finally:
        for output, descriptor in zip(outputs, kept, strict=True):
            os.dup2(descriptor, output)
            os.close(descriptor)


@contextmanager
def run_stores(folder: Path) -> Iterator[tuple[UnsupervisedStore, UnsupervisedStore]]:
    """PostgreSQL (with fsync) and Valkey below `folder`, until the block ends."""
    homes = [StoreDir(folder / name) for name in ("postgres", "valkey")]
    for home in homes:
        home.path.mkdir(parents=True)
    with redirect_output(homes[0].log):
        database = UnsupervisedStore(Postgres.prepare(homes[0]), homes[0])
    fast_store = UnsupervisedStore(Valkey(homes[1]), homes[1])
    try:
        database.start()
        fast_store.start()
        yield database, fast_store
    finally:
        fast_store.remove()
        database.remove()
        shutil.rmtree(folder, ignore_errors=True)
