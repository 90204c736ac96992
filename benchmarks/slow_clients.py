"""Clients that send or read slowly, or not at all, 2,000 of each kind at once.

Each of their connections has to be cut, and other clients answered meanwhile.
"""

import asyncio
import functools
import os
import resource
import socket
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import openloop
from benchmarks.client import Target, percentile
from benchmarks.environment import TRIVIAL_PATH
from benchmarks.openloop import LoadPlan, TimedResponse
from benchmarks.report import Row, log_progress
from devstack.stores.data_dir import LOOPBACK

CONNECTIONS = 2_000
# Open files of this process that are not connections of an attack.
OTHER_FILES = 200
OPENED_PER_SECOND = 1_000
STEADY_PER_SECOND = 100
DRIP_SECONDS = 1.0
POLL_SECONDS = 0.25
# After the last was opened.
WATCH_SECONDS = 20.0
OBSERVER_RATE = 20
MAX_OBSERVER_SECONDS = 0.25
MAX_CONNECTION_SECONDS = 12.0
ESTABLISHED = "01"
RECEIVE_BUFFER_BYTES = 4_096
PIPELINED_REQUESTS = 4


@dataclass(frozen=True)
class SlowKind:
    """The bytes that each connection sends at first, and then once a second."""

    name: str
    start: bytes = b""
    drip: bytes = b""
    reads: bool = True
    per_second: int = OPENED_PER_SECOND


@dataclass
class SlowClients:
    """Connections of one kind, and how long the server has kept each of them."""

    port: int
    kind: SlowKind
    sockets: list[socket.socket] = field(default_factory=list)
    # By local port: when it was opened and when the server last had it (monotonic).
    opened_at: dict[int, float] = field(default_factory=dict)
    seen_at: dict[int, float] = field(default_factory=dict)
    most_established: int = 0
    refused: int = 0

    async def run(self, count: int) -> None:
        """Open the connections and watch them until the server has none of them."""
        dripping = asyncio.create_task(self.drip())
        watching = asyncio.create_task(self.watch())
        started_at = time.monotonic()
        loop = asyncio.get_running_loop()
        for number in range(count):
            pause = started_at + number / self.kind.per_second - time.monotonic()
            await asyncio.sleep(max(0.0, pause))
            await self.open(loop)
        await asyncio.wait({watching}, timeout=WATCH_SECONDS)
        dripping.cancel()
        watching.cancel()
        for connection in self.sockets:
            connection.close()

    async def open(self, loop: asyncio.AbstractEventLoop) -> None:
        connection = socket.socket()
        connection.setblocking(False)
        if not self.kind.reads:
            connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES
            )
        try:
            async with asyncio.timeout(5):
                await loop.sock_connect(connection, (LOOPBACK, self.port))
            local_port = connection.getsockname()[1]
            connection.send(self.kind.start)
        except (OSError, TimeoutError):
            self.refused += 1
            connection.close()
            return
        self.opened_at[local_port] = time.monotonic()
        self.sockets.append(connection)

    async def drip(self) -> None:
        """Send a little on each connection once a second, and read what has come."""
        while True:
            started_at = time.monotonic()
            for number, connection in enumerate(self.sockets):
                with suppress(OSError):
                    if self.kind.drip:
                        connection.send(self.kind.drip)
                with suppress(OSError):
                    if self.kind.reads:
                        connection.recv(65_536)
                if number % 100 == 99:
                    await asyncio.sleep(0)
            await asyncio.sleep(started_at + DRIP_SECONDS - time.monotonic())

    async def watch(self) -> None:
        """Note which connections the server has, until all are gone."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            established = list_peer_ports(self.port) & self.opened_at.keys()
            now = time.monotonic()
            self.seen_at.update(dict.fromkeys(established, now))
            self.most_established = max(self.most_established, len(established))
            last_opened = max(self.opened_at.values(), default=now)
            if not established and now > last_opened + 2 * POLL_SECONDS:
                return

    @property
    def longest(self) -> float:
        """Return the longest time that the server kept a connection, in seconds."""
        return max(
            (seen - self.opened_at[port] for port, seen in self.seen_at.items()),
            default=0.0,
        )


def measure(target: Target, observer_token: str) -> list[Row]:
    """Run the kinds one after the other; `target` is T as the attacker."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    count = min(CONNECTIONS, hard_limit - OTHER_FILES)
    rows = []
    for kind in list_kinds(target.headers["Authorization"]):
        log_progress(f"slow clients: {kind.name}")
        clients = SlowClients(target.port, kind)
        responses = observe(
            target.port,
            [TRIVIAL_PATH],
            observer_token,
            OBSERVER_RATE,
            functools.partial(clients.run, count),
        )
        rows += [observer_row(kind.name, responses), cut_row(kind.name, clients)]
        for row in rows[-2:]:
            log_progress(f"  {row.measured}")
    return rows


def list_kinds(authorization: str) -> list[SlowKind]:
    head = f"Host: {LOOPBACK}\r\nAuthorization: {authorization}\r\n".encode()
    post = b"POST /api/account/entries HTTP/1.1\r\nContent-Type: application/json\r\n"
    schema = b"GET /api/schema HTTP/1.1\r\n" + head + b"\r\n"
    entries = b"GET /api/account/entries?size=100 HTTP/1.1\r\n" + head + b"\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n1\r\n \r\n"
    return [
        SlowKind("silent"),
        SlowKind("dripping headers", b"GET / HTTP/1.1\r\n" + head, b"A: b\r\n"),
        SlowKind(
            "dripping a body of 60 KB",
            post + head + b"Content-Length: 60000\r\n\r\n",
            b" ",
        ),
        SlowKind(
            "dripping a body of 1 MB",
            post + head + b"Content-Length: 1000000\r\n\r\n",
            b" ",
        ),
        SlowKind("dripping a chunked body", post + head + chunked, b"1\r\n \r\n"),
        # As many as can be answered: what is measured is how they read.
        SlowKind(
            "not reading the OpenAPI document", schema, reads=False, per_second=200
        ),
        SlowKind(
            "not reading lists of 100 entries",
            entries * PIPELINED_REQUESTS,
            reads=False,
            per_second=25,
        ),
        SlowKind("100 new silent ones a second", per_second=STEADY_PER_SECOND),
    ]


def observe(
    port: int,
    paths: list[str],
    token: str,
    rate: int,
    attack: Callable[[], Coroutine[Any, Any, None]],
) -> list[TimedResponse]:
    """Return the responses to another member's requests during the attack."""
    process = openloop.start_load(LoadPlan(port, rate, paths, [token]))
    try:
        asyncio.run(attack())
        return openloop.stop_load(process)
    finally:
        process.kill()


def observed_seconds(responses: list[TimedResponse]) -> float:
    """Return the 95th percentile; a request that was refused counts as endless."""
    return percentile(
        [
            response.seconds if response.status == openloop.OK else float("inf")
            for response in responses
        ],
        0.95,
    )


def describe_observed(responses: list[TimedResponse]) -> str:
    failed = [r.status for r in responses if r.status != openloop.OK]
    counts = ", ".join(f"{failed.count(code)} × {code}" for code in sorted({*failed}))
    return (
        f"p95 {observed_seconds(responses) * 1e3:.0f} ms of {len(responses)}"
        + (f", failed {counts}" if failed else "")
        + f", load {os.getloadavg()[0]:.1f}"
    )


def observer_row(name: str, responses: list[TimedResponse]) -> Row:
    return Row(
        "attack",
        f"{name}: T of another client",
        describe_observed(responses),
        None,
        f"p95 ≤ {MAX_OBSERVER_SECONDS * 1e3:.0f} ms",
        observed_seconds(responses) <= MAX_OBSERVER_SECONDS,
    )


def cut_row(name: str, clients: SlowClients) -> Row:
    opened = len(clients.opened_at)
    level = f"{clients.longest:.1f} s, {opened} opened, {clients.refused} refused, "
    return Row(
        "attack",
        f"{name}: longest connection",
        level + f"{clients.most_established} at once",
        None,
        f"≤ {MAX_CONNECTION_SECONDS:g} s",
        clients.longest <= MAX_CONNECTION_SECONDS,
    )


def list_peer_ports(port: int) -> set[int]:
    """Return the clients' ports of a server's established connections (Linux)."""
    own = f":{port:04X}"
    ports = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, peer, state, *_ = line.split()
        if local.endswith(own) and state == ESTABLISHED:
            ports.add(int(peer.rpartition(":")[2], 16))
    return ports
