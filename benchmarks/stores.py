"""PostgreSQL and Valkey of one run, as durable as in production.

They run without the supervisors of devstack, which would restart what the fault tests
kill.
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
    """One server; after a restart it has the same URL."""

    def __init__(self, store: store_supervisor.Store, store_dir: StoreDir) -> None:
        self.store, self.store_dir = store, store_dir
        self.process: store_supervisor.Process | None = None

    @property
    def url(self) -> str:
        return self.store_dir.url_file.read_text().strip()

    def start(self) -> None:
        """Start the server and wait until it is ready."""
        with redirect_output(self.store_dir.log):
            self.process = store_supervisor.start(self.store, self.store_dir)

    def send_signal(self, number: signal.Signals) -> None:
        if self.process:
            self.process.send_signal(number)

    def stop_with_signal(self, number: signal.Signals) -> None:
        """Send the signal and wait until the server has exited."""
        self.send_signal(number)
        if self.process:
            self.process.wait(60)

    def remove(self) -> None:
        if self.process:
            self.send_signal(signal.SIGCONT)  # it may be suspended by a fault test
            store_supervisor.stop(self.store, self.process)
        self.store.remove()


@contextmanager
def redirect_output(log: Path) -> Iterator[None]:
    """Append the output of programs that are started in the block to the log."""
    outputs = (1, 2)  # standard output and standard error
    saved = [os.dup(output) for output in outputs]
    try:
        with log.open("ab") as file:
            for output in outputs:
                os.dup2(file.fileno(), output)
        yield
    finally:
        for output, descriptor in zip(outputs, saved, strict=True):
            os.dup2(descriptor, output)
            os.close(descriptor)


@contextmanager
def run_stores(
    directory: Path,
) -> Iterator[tuple[UnsupervisedStore, UnsupervisedStore]]:
    """Run PostgreSQL (with fsync) and Valkey below `directory` during the block."""
    postgres_dir = StoreDir(directory / "postgres")
    valkey_dir = StoreDir(directory / "valkey")
    for store_dir in (postgres_dir, valkey_dir):
        store_dir.path.mkdir(parents=True)
    with redirect_output(postgres_dir.log):
        database = UnsupervisedStore(Postgres.prepare(postgres_dir), postgres_dir)
    valkey = UnsupervisedStore(Valkey(valkey_dir), valkey_dir)
    try:
        database.start()
        valkey.start()
        yield database, valkey
    finally:
        valkey.remove()
        database.remove()
        shutil.rmtree(directory, ignore_errors=True)
