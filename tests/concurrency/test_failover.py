"""The service during failovers between a primary and its standby."""

import http.client
import itertools
import json
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from devstack.stores.replication import RunningPostgres, ServerPair
from tests.support.fault_injection import RunningService
from tests.support.replication import (
    connect_standby,
    disconnect_standby,
    run_on,
    run_pair,
)
from tests.support.stores import ValkeyServer
from tests.support.waiting import wait_until

WRITERS = 4
PATH = "/api/account/entries"


@dataclass
class Writes:
    """Responses to the writers, by the memos of their entries."""

    acknowledged: set[str] = field(default_factory=set)
    rejected: set[str] = field(default_factory=set)
    # Statuses other than 201 and 503, and 503 without Retry-After.
    wrong: list[int] = field(default_factory=list)

    def wait_for_more(self) -> None:
        """Wait until a write that begins after the call was acknowledged."""
        wanted = len(self.acknowledged) + WRITERS + 1
        wait_until(lambda: len(self.acknowledged) >= wanted)


@dataclass
class ReplicatedService:
    pair: ServerPair
    web: RunningService
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @contextmanager
    def under_writers(self) -> Iterator[Writes]:
        writes, over = Writes(), threading.Event()

        def keep_writing(token: str) -> None:
            while not over.wait(0.005):
                memo = f"failover {next(self.numbers)}"
                entry = {"date": "2026-11-02", "type": "expense", "amount": 1_000}
                status, headers, _ = self.web.ask(PATH, token, entry | {"memo": memo})
                if status == http.client.CREATED:
                    writes.acknowledged.add(memo)
                elif status == 503 and headers.get("Retry-After"):
                    writes.rejected.add(memo)
                else:
                    writes.wrong.append(status)

        tokens = itertools.islice(itertools.cycle(self.web.tokens), WRITERS)
        threads = [
            threading.Thread(target=keep_writing, args=(token,)) for token in tokens
        ]
        for thread in threads:
            thread.start()
        try:
            writes.wait_for_more()
            yield writes
            writes.wait_for_more()
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def read_memos(self) -> list[str]:
        with psycopg.connect(self.pair.primary.url) as connection:
            query = "SELECT memo FROM account_entry WHERE memo LIKE 'failover %'"
            return [memo for (memo,) in connection.execute(query)]


@pytest.fixture(scope="module")
def service() -> Iterator[ReplicatedService]:
    with (
        run_pair(is_synchronous=True, is_migrated=True) as (first, pair),
        tempfile.TemporaryDirectory(prefix="household-ledger-failover-") as folder,
    ):
        fast_store = ValkeyServer()
        settings = {"DATABASE_URL": pair.url, "DATA_DIR": folder}
        web = RunningService(
            first, fast_store, Path(folder, "server.log"), settings=settings
        )
        try:
            web.start()
            yield ReplicatedService(pair, web)
            web.stop()
        finally:
            fast_store.kill()


def is_writing(primary: RunningPostgres) -> bool:
    """Return True while a transaction that writes is not committed on the standby."""
    query = "SELECT FROM pg_stat_activity WHERE backend_xid IS NOT NULL"
    with psycopg.connect(primary.url, autocommit=True) as connection:
        return connection.execute(query).fetchone() is not None


def assert_nothing_was_lost(service: ReplicatedService, writes: Writes) -> None:
    stored = service.read_memos()
    assert writes.wrong == []
    assert len(stored) == len(set(stored))
    assert writes.acknowledged <= set(stored)


def read_health(service: ReplicatedService) -> tuple[int, Any]:
    status, _, body = service.web.ask("/api/health", "")
    return status, json.loads(body)


def test_health_says_that_writes_wait_for_a_lost_standby(
    service: ReplicatedService,
) -> None:
    ok = {"status": "ok", "database": "up", "fastStore": "up"}
    assert read_health(service) == (200, ok)
    conninfo = disconnect_standby(service.pair)
    entry = {"date": "2026-11-02", "type": "expense", "amount": 1_000}
    answers: list[int] = []

    def write() -> None:
        status, _, _ = service.web.ask(PATH, service.web.tokens[0], entry)
        answers.append(status)

    writer = threading.Thread(target=write)
    writer.start()
    degraded = ok | {"status": "degraded", "writes": "waiting"}
    wait_until(lambda: read_health(service) == (200, degraded))
    connect_standby(service.pair, conninfo)
    writer.join()
    assert answers == [201]
    wait_until(lambda: read_health(service) == (200, ok))


def test_no_acknowledged_write_is_lost_when_the_primary_dies(
    service: ReplicatedService,
) -> None:
    with service.under_writers() as writes:
        service.pair.primary.kill()
        service.pair.promote_standby()
    assert_nothing_was_lost(service, writes)
    service.pair.rebuild_standby()


def test_writes_move_on_when_the_primary_is_made_read_only(
    service: ReplicatedService,
) -> None:
    # A planned change: the former primary goes on answering reads.
    with service.under_writers() as writes:
        run_on(
            service.pair.primary,
            "ALTER SYSTEM SET default_transaction_read_only = on",
            "SELECT pg_reload_conf()",
        )
        # A commit that waits for a standby that is promoted meanwhile waits for ever.
        wait_until(lambda: writes.rejected and not is_writing(service.pair.primary))
        service.pair.promote_standby()
    assert writes.rejected
    assert_nothing_was_lost(service, writes)
    service.pair.rebuild_standby()
