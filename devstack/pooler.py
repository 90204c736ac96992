"""PgBouncer in transaction mode, for tests."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from devstack.stores.data_dir import LOOPBACK, StoreError, find_free_port
from devstack.stores.os_user import choose_os_user
from devstack.stores.store_supervisor import set_parent_death_signal

# Debian installs it in a directory for root's programs.
PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
POOL_SIZE = 5
START_TIMEOUT_SECONDS = 10
# Behind the pooler the limits cannot come with the connection.
LIMITS = {
    "statement_timeout": "10s",
    "lock_timeout": f"{os.environ.get('DATABASE_LOCK_SECONDS', '3')}s",
    "idle_in_transaction_session_timeout": "30s",
}
CONFIG_TEMPLATE = """\
[databases]
* = host={host} port={server_port}

[pgbouncer]
listen_addr = {loopback}
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
pool_mode = transaction
default_pool_size = {pool_size}
max_client_conn = 500
# Nobody waits longer for a connection than for a lock.
query_wait_timeout = 15
log_connections = 0
log_disconnections = 0
"""


@contextmanager
def run_pooler(
    database_url: str,
    *,
    port: int | None = None,
    pool_size: int = POOL_SIZE,
    template: str = CONFIG_TEMPLATE,
) -> Iterator[str]:
    """Yield the URL of the database behind the pooler."""
    if PROGRAM is None:
        raise StoreError("pgbouncer is not installed (Debian: apt-get install)")
    set_role_limits(database_url)
    url = urlsplit(database_url)
    port = port or find_free_port()
    folder = Path(tempfile.mkdtemp(prefix="household-ledger-pooler-"))
    os_user = choose_os_user(folder / "pgbouncer.ini")
    users = folder / "users.txt"
    users.touch(0o600)
    users.write_text(f'"{url.username}" "{url.password}"\n')
    (folder / "pgbouncer.ini").write_text(
        template.format(
            host=url.hostname,
            server_port=url.port,
            loopback=LOOPBACK,
            port=port,
            users=users,
            pool_size=pool_size,
        )
    )
    os_user.chown_recursive(folder)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603
            [PROGRAM, str(folder / "pgbouncer.ini")],
            stdout=log,
            stderr=log,
            user=os_user.uid,
            group=os_user.gid,
            extra_groups=None if os_user.uid is None else [],
            preexec_fn=set_parent_death_signal(signal.SIGTERM),
        )
    try:
        wait_until_listening(process, port, folder / "log")
        credentials = f"{url.username}:{url.password}"
        yield url._replace(netloc=f"{credentials}@{LOOPBACK}:{port}").geturl()
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def set_role_limits(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        for name, value in LIMITS.items():
            connection.execute(f"ALTER ROLE CURRENT_USER SET {name} = '{value}'")


def wait_until_listening(
    process: subprocess.Popen[bytes], port: int, log: Path
) -> None:
    end = time.monotonic() + START_TIMEOUT_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            socket.create_connection((LOOPBACK, port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise StoreError(f"pgbouncer did not start: {log.read_text()}")
