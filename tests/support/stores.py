"""Stores that a test may kill, hang, fill or lose: real ones, of its own."""

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from django.db import connections
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from config.celery import app
from core import redis_client
from core.db.postgresql import base as database
from devstack.stores.valkey import find_server_binary
from tests.support.waiting import wait_until


def find_closed_port() -> int:
    """Return a loopback port that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


class ValkeyServer:
    """A Valkey server without persistence that belongs to one test."""

    def __init__(self) -> None:
        self.port = find_closed_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        """Start it, empty."""
        options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(
            [find_server_binary(), "--port", str(self.port), *options],
            stdout=subprocess.DEVNULL,
        )
        self._wait()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def hang(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def heal(self) -> None:
        self._process.send_signal(signal.SIGCONT)
        self._wait()

    def fill(self) -> None:
        """Fill the server, so that it refuses to write from now on."""
        self.run("CONFIG", "SET", "maxmemory", "1mb")

    def run(self, *command: Any) -> Any:
        with make_redis_client(self.url, seconds=2) as client:
            return client.execute_command(*command)

    def dump(self) -> bytes:
        """Return all keys and values, to look for what must not be there."""
        with make_redis_client(self.url, seconds=2) as client:
            keys = list(client.scan_iter())
            return b"\n".join([*keys, *(client.get(key) or b"" for key in keys)])

    def _wait(self) -> None:
        def answers() -> bool:
            with suppress(RedisError):
                return bool(self.run("PING"))
            return False

        wait_until(answers)


def make_redis_client(url: str, seconds: float = 0.15) -> Redis:
    """Return a client as the service makes it: short time limits, no retries."""
    return Redis.from_url(
        url,
        socket_timeout=seconds,
        socket_connect_timeout=seconds,
        retry=Retry(NoBackoff(), 0),
    )


@contextmanager
def redis_at(url: str, seconds: float = 0.15) -> Iterator[None]:
    """Let the service speak to another fast store, with no failures seen."""
    with (
        pytest.MonkeyPatch.context() as patch,
        make_redis_client(url, seconds) as client,
    ):
        patch.setattr(redis_client, "get_client", lambda: client)
        redis_client.circuit_breaker.reset()
        try:
            yield
        finally:
            redis_client.circuit_breaker.reset()


@contextmanager
def run_valkey() -> Iterator[ValkeyServer]:
    """Run a server that the service uses until the end of the block."""
    server = ValkeyServer()
    try:
        with redis_at(server.url):
            yield server
    finally:
        server.kill()


def send_task(server: ValkeyServer, name: str) -> None:
    """Send a task to the server, as Beat does."""
    with app.connection_for_write(url=server.url) as connection:
        app.send_task(name, connection=connection, retry=False)


@contextmanager
def disconnect_database() -> Iterator[None]:
    """Let the service look for PostgreSQL where nobody answers, in this thread."""
    present = connections["default"]
    settings = present.settings_dict | {"HOST": "127.0.0.1"}
    settings |= {"PORT": find_closed_port(), "OPTIONS": {"connect_timeout": 1}}
    absent: Any = database.DatabaseWrapper(settings, "default")
    database.circuit_breaker.reset()
    connections["default"] = absent
    try:
        yield
    finally:
        absent.close()
        connections["default"] = present
        database.circuit_breaker.reset()
