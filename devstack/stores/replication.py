"""A streaming standby, for drills and tests.

`docs/operations.md` has the steps for operators.
"""

import os
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from devstack.stores import store_supervisor
from devstack.stores.data_dir import StoreDir, StoreError, write_private_file
from devstack.stores.postgres import Postgres, remove_stale_pid
from devstack.stores.store_supervisor import Process

# A standby that was away needs it.
WAL_KEEP_SIZE = "512MB"
STREAMING_TIMEOUT_SECONDS = 60
POLL_INTERVAL_SECONDS = 0.05


@dataclass
class RunningPostgres:
    """A supervisor would start the server again after a kill."""

    store: Postgres
    store_dir: StoreDir
    process: Process

    @classmethod
    def start(cls, store: Postgres, store_dir: StoreDir) -> "RunningPostgres":
        return cls(store, store_dir, store_supervisor.start(store, store_dir))

    @property
    def url(self) -> str:
        return self.store_dir.url_file.read_text().strip()

    def restart(self) -> None:
        url = self.url
        self.process = store_supervisor.start(self.store, self.store_dir)
        if self.url != url:
            raise StoreError(f"the port of {url} was taken meanwhile")

    def stop(self) -> None:
        store_supervisor.stop(self.store, self.process)

    def kill(self) -> None:
        """Kill all processes, as if the machine had lost power."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        # The postmaster would start the others again.
        self.process.kill()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        self.process.wait()

    def remove(self) -> None:
        self.stop()
        self.store.remove()


class ServerPair:
    """A primary, and a standby that may take its place."""

    def __init__(
        self, primary: RunningPostgres, standby_dir: StoreDir, *, is_synchronous: bool
    ) -> None:
        self.primary, self.is_synchronous = primary, is_synchronous
        standby_dir.path.mkdir()
        store = create_standby(standby_dir, primary.url)
        self.standby = RunningPostgres.start(store, standby_dir)
        wait_for_standby(primary.url, is_synchronous=is_synchronous)
        first, second = urlsplit(primary.url), urlsplit(self.standby.url)
        hosts = f"{first.netloc},{second.hostname}:{second.port}"
        # The URL is the same for either primary.
        self.url = first._replace(netloc=hosts).geturl()

    def promote_standby(self) -> None:
        """Swap the roles; the old primary does not follow yet."""
        promote(self.standby.url)
        self.primary, self.standby = self.standby, self.primary

    def rebuild_standby(self) -> None:
        """Make the old primary, killed or still running, follow the new primary."""
        self.standby.stop()
        follow(self.standby.store, self.primary.url)
        self.standby.restart()
        wait_for_standby(self.primary.url, is_synchronous=self.is_synchronous)

    def remove(self) -> None:
        self.standby.remove()
        self.primary.remove()


def create_standby(store_dir: StoreDir, primary_url: str) -> Postgres:
    """Copy the running primary into a new cluster."""
    with psycopg.connect(primary_url, autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET wal_keep_size = '{WAL_KEEP_SIZE}'")
        connection.execute("SELECT pg_reload_conf()")
    # The copy includes the roles with their passwords.
    password = str(conninfo_to_dict(primary_url)["password"])
    write_private_file(store_dir.path / "password", password)
    standby = Postgres.open(store_dir)
    new = standby.base_dir / "cluster.new"
    shutil.rmtree(new, ignore_errors=True)
    standby.run_program(
        "pg_basebackup",
        *(f"--pgdata={new}", f"--dbname={primary_url}"),
        *("--write-recovery-conf", "--checkpoint=fast"),
    )
    new.rename(standby.cluster)
    _reset_settings_of_primary(standby)
    return standby


def promote(standby_url: str) -> None:
    with psycopg.connect(standby_url, autocommit=True) as connection:
        row = connection.execute("SELECT pg_promote()").fetchone()
    if row != (True,):
        raise StoreError("the standby was not promoted in time")


def follow(former_primary: Postgres, primary_url: str) -> None:
    """Make a former, stopped primary a standby of the new primary.

    Writes that it has not sent are undone.
    """
    remove_stale_pid(former_primary.cluster)
    with psycopg.connect(primary_url, autocommit=True) as connection:
        # pg_rewind finds the new timeline in the last checkpoint.
        connection.execute("CHECKPOINT")
    former_primary.run_program(
        "pg_rewind",
        *(f"--target-pgdata={former_primary.cluster}",),
        *(f"--source-server={primary_url}", "--write-recovery-conf"),
    )
    _reset_settings_of_primary(former_primary)


def wait_for_standby(primary_url: str, *, is_synchronous: bool) -> None:
    """Wait until a standby streams; let commits wait for it if `is_synchronous`."""
    names = "*" if is_synchronous else ""
    state = "sync" if is_synchronous else "async"
    end = time.monotonic() + STREAMING_TIMEOUT_SECONDS
    with psycopg.connect(primary_url, autocommit=True) as connection:
        is_enabled = False
        while time.monotonic() < end:
            rows = connection.execute(
                "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'"
            ).fetchall()
            # Earlier, all commits would wait for the standby.
            if rows and not is_enabled:
                connection.execute(
                    f"ALTER SYSTEM SET synchronous_standby_names = '{names}'"
                )
                connection.execute("SELECT pg_reload_conf()")
                is_enabled = True
            elif rows == [(state,)]:
                return
            time.sleep(POLL_INTERVAL_SECONDS)
    raise StoreError("the standby does not follow its primary")


def _reset_settings_of_primary(standby: Postgres) -> None:
    """Override settings that came with the primary's files.

    A new primary has no standby at first: commits would wait for it.
    """
    with (standby.cluster / "postgresql.auto.conf").open("a") as file:
        file.write("synchronous_standby_names = ''\n")
        file.write("default_transaction_read_only = off\n")
