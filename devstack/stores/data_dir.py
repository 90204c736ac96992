"""Locks, port, password and URL of a store."""

import fcntl
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

LOOPBACK = "127.0.0.1"


class StoreError(Exception):
    """The message is one line for the terminal."""


@dataclass(frozen=True)
class StoreDir:
    """The directory of one store.

    Clients hold `clients.lock` shared; a supervisor that stops the store holds it
    exclusively. The running supervisor holds `supervisor.lock`; a client that looks for
    a supervisor or starts it holds `start.lock`.
    """

    path: Path
    is_ephemeral: bool = False

    @property
    def clients_lock(self) -> Path:
        return self.path / "clients.lock"

    @property
    def supervisor_lock(self) -> Path:
        return self.path / "supervisor.lock"

    @property
    def start_lock(self) -> Path:
        return self.path / "start.lock"

    @property
    def url_file(self) -> Path:
        """The file exists while the store is ready."""
        return self.path / "url"

    @property
    def log(self) -> Path:
        return self.path / "log"

    def get_or_create_password(self) -> str:
        return get_or_create_secret(self.path / "password", secrets.token_hex(24))

    def choose_port(self) -> int:
        """Return the port of the last run, or a new port if that is taken."""
        port = self._saved_port()
        if port is None or not is_port_free(port):
            port = find_free_port()
            write_private_file(self.path / "port", str(port))
        return port

    def _saved_port(self) -> int | None:
        try:
            return int((self.path / "port").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def last_log_error(self) -> str:
        try:
            lines = self.log.read_text(errors="replace").strip().splitlines()
        except FileNotFoundError:
            return "it left no log"
        fatal = [line for line in lines if "FATAL" in line or "PANIC" in line]
        return (fatal or lines or ["it left an empty log"])[-1]


def get_or_create_secret(path: Path, fresh: str) -> str:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(fresh + "\n")
    return fresh


def write_private_file(path: Path, text: str) -> None:
    """Replace `path` atomically by a file that only this OS user can read."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    get_or_create_secret(new, text)
    new.replace(path)


def open_lock_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def try_lock(descriptor: int, operation: int) -> bool:
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    descriptor = open_lock_file(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            return not try_lock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)
    return False


def is_port_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
