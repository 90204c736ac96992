"""Logins of five kinds beside each other, and T beside 64 logins of one address.

The server trusts the forwarded address, so that each request has one of its own.
"""

import selectors
import socket
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count

import psycopg

from benchmarks.client import NO_RESPONSE, Client, Target, percentile
from benchmarks.dataset import DatasetSpec
from benchmarks.environment import (
    SERVICE_COMMAND,
    TRIVIAL_PATH,
    BenchmarkEnvironment,
    bearer,
)
from benchmarks.report import Row, bounded, log_progress
from devstack.stores.data_dir import LOOPBACK

NAME = "logins"
KINDS = ("unknown", "wrong", "identity only", "second factor", "suspended")
LOGINS, MAX_SPREAD = 300, 1.1
# A login takes 50 failures an hour.
MEMBERS_PER_KIND = 8
PASSWORD, WRONG_PASSWORD = "correct-horse-9", "wrong-battery-8"
BURST_LOGINS, BURSTS, MAX_IN_T = 64, 20, 1.2
# The server asks refused clients to wait as long.
SECONDS_BETWEEN_BURSTS = 1.0
CHUNK_BYTES = 2**16
SERVICE_UNAVAILABLE = 503

# The members of a kind follow each other.
PREPARE = """
    UPDATE member SET password = %(hash)s WHERE id = ANY(%(with_password)s);
    UPDATE member SET status = 'SUSPENDED' WHERE id = ANY(%(suspended)s);
    UPDATE member SET idp_id = 'google-' || id, provider = 'IDP'
    WHERE id = ANY(%(identity_only)s);
    UPDATE member SET has_second_factor = true WHERE id = ANY(%(second_factor)s);
"""


def make_dataset(scale: float) -> DatasetSpec:
    return DatasetSpec(1, 10, (10, 10, 10), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    first = 100 * environment.spec.all_members[-1]
    members = list(range(first, first + len(KINDS) * MEMBERS_PER_KIND))
    environment.add_members(members)
    prepare_members(environment, members)
    port = environment.serve(NAME, SERVICE_COMMAND, TRUSTED_PROXY_COUNT="1")
    addresses = make_addresses()
    rows = [
        *measure_kinds(environment, port, members, addresses),
        measure_bursts(environment, port, members, addresses),
    ]
    environment.stop_server(NAME)
    return rows


def prepare_members(environment: BenchmarkEnvironment, members: list[int]) -> None:
    hashed = environment.run(
        "-c",
        "import django; django.setup();"
        "from django.contrib.auth.hashers import make_password;"
        f"print(make_password({PASSWORD!r}))",
    ).strip()
    by_kind = {kind: list_members(members, kind) for kind in KINDS}
    with psycopg.connect(
        environment.database_url, autocommit=True, cursor_factory=psycopg.ClientCursor
    ) as connection:
        connection.execute(
            PREPARE,
            {
                "hash": hashed,
                "with_password": [
                    member
                    for kind in ("wrong", "second factor", "suspended")
                    for member in by_kind[kind]
                ],
                "suspended": by_kind["suspended"],
                "identity_only": by_kind["identity only"],
                "second_factor": by_kind["second factor"],
            },
        )


def list_members(members: list[int], kind: str) -> list[int]:
    first = KINDS.index(kind) * MEMBERS_PER_KIND
    return members[first : first + MEMBERS_PER_KIND]


def make_addresses() -> Iterator[str]:
    return (
        f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        for number in count(1)
    )


def make_login(port: int, login_id: str, password: str, address: str) -> Target:
    target = Target(port, "/api/auth/login", {"X-Forwarded-For": address})
    return target.sending({"loginId": login_id, "password": password})


def measure_kinds(
    environment: BenchmarkEnvironment,
    port: int,
    members: list[int],
    addresses: Iterator[str],
) -> list[Row]:
    log_progress("logins of five kinds")
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    client = Client(Target(port, TRIVIAL_PATH, {}))
    for turn in range(max(1, int(LOGINS * environment.spec.scale))):
        for kind in KINDS:
            member = list_members(members, kind)[turn % MEMBERS_PER_KIND]
            is_unknown = kind == "unknown"
            target = make_login(
                port,
                f"nobody{member}" if is_unknown else f"member{member}",
                WRONG_PASSWORD if kind in {"unknown", "wrong"} else PASSWORD,
                next(addresses),
            )
            started = time.perf_counter()
            status = client.exchange(target).status
            times[kind].append(time.perf_counter() - started)
            if status not in {401, 403}:
                raise AssertionError(f"{kind}: {status}")
    medians = {kind: statistics.median(values) for kind, values in times.items()}
    level = ", ".join(f"{kind} {at * 1e3:.1f}" for kind, at in medians.items())
    spread = max(medians.values()) / min(medians.values())
    text = "medians of five kinds of login, slowest : fastest"
    return [bounded(NAME, text, f"{level} ms", spread, MAX_SPREAD)]


def measure_bursts(
    environment: BenchmarkEnvironment,
    port: int,
    members: list[int],
    addresses: Iterator[str],
) -> Row:
    """Send from the thread that measures T, so that the client takes no time."""
    log_progress(f"{BURST_LOGINS} logins of one address at once")
    observer = bearer(environment.get_token(members[0]))
    call = Client(Target(port, TRIVIAL_PATH, observer))
    login_ids = [f"member{member}" for member in list_members(members, "wrong")]
    statuses: Counter[int] = Counter()
    quiet: list[float] = []
    beside: list[float] = []
    for _ in range(max(1, int(BURSTS * environment.spec.scale))):
        address, end = next(addresses), time.monotonic() + SECONDS_BETWEEN_BURSTS
        targets = [
            make_login(port, login_ids[n % MEMBERS_PER_KIND], PASSWORD, address)
            for n in range(BURST_LOGINS)
        ]
        while time.monotonic() < end:
            quiet.append(time_call(call))
        with Burst(targets) as burst:
            while burst.read_answers():
                beside.append(time_call(call))
            statuses.update(burst.statuses)
    ratio = statistics.median(beside) / statistics.median(quiet)
    level = (
        f"T {statistics.median(quiet) * 1e3:.2f}, beside "
        f"{statistics.median(beside) * 1e3:.2f}, p95 "
        f"{percentile(beside, 0.95) * 1e3:.1f} ms of {len(beside)}; "
        f"logins {dict(statuses)}"
    )
    text = f"T beside {BURST_LOGINS} logins of one address : T; no 503"
    is_met = ratio <= MAX_IN_T and not statuses[SERVICE_UNAVAILABLE]
    return Row(NAME, text, level, ratio, f"≤ {MAX_IN_T:g}", is_met)


def time_call(call: Client) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


class Burst:
    """Requests that are sent at once; answers are only counted."""

    def __init__(self, targets: list[Target]) -> None:
        self.statuses: Counter[int] = Counter()
        self._selector = selectors.DefaultSelector()
        sockets = [socket.create_connection((LOOPBACK, t.port)) for t in targets]
        self._unanswered = {each.fileno(): each for each in sockets}
        for connection in sockets:
            self._selector.register(connection, selectors.EVENT_READ)
        for connection, target in zip(sockets, targets, strict=True):
            connection.sendall(encode(target))

    def __enter__(self) -> "Burst":
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._unanswered.values():
            connection.close()
        self._selector.close()

    def read_answers(self) -> bool:
        """Count the answers that have come; return True while others are missing."""
        for key, _ in self._selector.select(timeout=0):
            self._selector.unregister(key.fd)
            with self._unanswered.pop(key.fd) as connection:
                head = connection.recv(CHUNK_BYTES)
            self.statuses[int(head.split(b" ", 2)[1]) if head else NO_RESPONSE] += 1
        return bool(self._unanswered)


def encode(target: Target) -> bytes:
    body = target.body.encode() if isinstance(target.body, str) else target.body
    headers = {"Host": LOOPBACK, "Content-Length": str(len(body)), **target.headers}
    lines = [f"{target.method} {target.path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body
