"""What one store keeps on disk beside its data: locks, port, password and address."""

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
    """A store cannot be had; the text is one line for the person at the terminal."""


@dataclass(frozen=True)
class StoreDir:
    """The folder of one store.

    `users.lock` is held shared by every user and exclusively by a keeper that
    stops the store; `keeper.lock` is held by the keeper as long as it lives;
    `start.lock` by the one user that looks for a keeper and starts one.
    """

    path: Path
    is_ephemeral: bool = False

    @property
    def clients_lock(self) -> Path:
        return self.path / "users.lock"

    @property
    def supervisor_lock(self) -> Path:
        return self.path / "keeper.lock"

    @property
    def start_lock(self) -> Path:
        return self.path / "start.lock"

    @property
    def address(self) -> Path:
        """There while the store answers, and what it answers at."""
        return self.path / "address"

    @property
    def log(self) -> Path:
        return self.path / "log"

    def get_or_create_password(self) -> str:
        """The password of the store, made at the first call."""
        return get_or_create_secret(self.path / "password", secrets.token_hex(24))

    def choose_port(self) -> int:
        """The port of the last time, or a new one where that is taken."""
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
        """The last complaint in the log, else its last line."""
        try:
            lines = self.log.read_text(errors="replace").strip().splitlines()
        except FileNotFoundError:
            return "it left no log"
        fatal = [line for line in lines if "FATAL" in line or "PANIC" in line]
        return (fatal or lines or ["it left an empty log"])[-1]


def get_or_create_secret(path: Path, fresh: str) -> str:
    """The secret in `path`, or `fresh`, written there for the next time."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(fresh + "\n")
    return fresh


def write_private_file(path: Path, text: str) -> None:
    """Write `path` at once and for this account only."""
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
    """Hold `path` exclusively; waits for it."""
    descriptor = open_lock_file(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether a process holds `path` exclusively; a missing file is not held."""
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
