"""The service behind PgBouncer in transaction mode, with fewer sessions than clients."""

import re
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.utils import timezone

from devstack.environment import ROOT
from devstack.pooler import PROGRAM, run_pooler
from tests.support.fault_injection import (
    MEMBERS,
    PASSWORD,
    PostgresServer,
    RunningService,
)
from tests.support.stores import ValkeyServer

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="pgbouncer is not installed")

POOL_SIZE = 3
RULES, ENTRIES, RESTORED = 4, 10, 200
RESTORING = MEMBERS - 1
# Members who may have recurring rules and restores, without a break in their plan.
ADMINISTRATORS = "UPDATE member SET role = 'ADMIN'"
SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with tempfile.TemporaryDirectory(prefix="household-ledger-pooler-") as name:
        Path(name).chmod(0o711)
        database = PostgresServer(Path(name, "postgres"), is_migrated=True)
        yield database
        database.remove()


@pytest.fixture(scope="module")
def direct(server: PostgresServer) -> Iterator[psycopg.Connection[Any]]:
    """Yield a session of the server itself."""
    url = server.folder.url_file.read_text().strip()
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def service(
    server: PostgresServer, direct: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    folder, fast_store = tmp_path_factory.mktemp("pooler"), ValkeyServer()
    direct_url = server.folder.url_file.read_text().strip()
    try:
        with run_pooler(direct_url, pool_size=POOL_SIZE) as url:
            settings = {"DATABASE_URL": url, "DATABASE_TRANSACTION_POOLING": "true"}
            settings["DATA_DIR"] = str(folder)
            running = RunningService(
                server, fast_store, folder / "server.log", settings=settings
            )
            running.start()
            direct.execute(ADMINISTRATORS)
            yield running
            running.stop()
    finally:
        fast_store.kill()


def read_documented_template() -> str:
    """Return the configuration of docs/operations.md, with places to be filled."""
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    block = re.search(
        r"^    \[databases\]\n(?:    .*\n|\n(?=    ))+", text, re.MULTILINE
    )
    assert block
    config = textwrap.dedent(block[0])
    for written, place in {
        "host=10.0.0.5 port=5432": "host={host} port={server_port}",
        "listen_addr = 10.0.0.6": "listen_addr = {loopback}",
        "listen_port = 6432": "listen_port = {port}",
        "/etc/pgbouncer/userlist.txt": "{users}",
    }.items():
        assert written in config
        config = config.replace(written, place)
    return config


def test_documented_configuration_lets_the_role_in_and_nobody_else(
    server: PostgresServer,
) -> None:
    url = server.folder.url_file.read_text().strip()
    assert urlsplit(url).path == "/ledger"
    with run_pooler(url, template=read_documented_template()) as pooled:
        with psycopg.connect(pooled) as connection:
            row = connection.execute("SELECT current_database()").fetchone()
        assert row == ("ledger",)
        password = str(urlsplit(pooled).password)
        with pytest.raises(psycopg.OperationalError, match=r"password|SASL"):
            psycopg.connect(pooled.replace(password, "another")).close()


@contextmanager
def most_sessions(direct: psycopg.Connection[Any]) -> Iterator[list[int]]:
    """Count the server's sessions, but this one, again and again during the block."""
    counts: list[int] = []
    over = threading.Event()

    def count() -> None:
        while not over.wait(0.02):
            row = direct.execute(SESSIONS).fetchone()
            assert row
            counts.append(row[0] - 1)

    with ThreadPoolExecutor(1) as thread:
        counting = thread.submit(count)
        yield counts
        over.set()
    counting.result()


def test_service_works_behind_a_transaction_pooler(
    service: RunningService, direct: psycopg.Connection[Any]
) -> None:
    def log_in(number: int) -> str:
        body = {"loginId": f"outage{number}", "password": PASSWORD}
        # One address has two passwords compared at once.
        for _ in range(20):
            status, _, answer = service.ask("/api/auth/login", body=body)
            if status != 429:
                break
            time.sleep(0.1)
        assert status == 200, answer
        return str(answer).split('"token":"')[1].split('"')[0]

    tokens = [log_in(number) for number in range(MEMBERS)]
    today = timezone.localdate().isoformat()
    rule = {"name": "Rent", "type": "expense", "amount": 7, "frequency": "DAILY"}
    entry = {"date": today, "type": "expense", "amount": 1}
    for token in tokens[:RESTORING]:
        for _ in range(RULES):
            body = rule | {"anchorDate": today}
            status, _, answer = service.ask("/api/account/recurring", token, body)
            assert status == 201, answer
    before = direct.execute("SELECT count(*) FROM account_entry").fetchone()
    assert before == (MEMBERS,)

    def restore() -> int:
        body = {"entries": [entry | {"memo": "restored"}] * RESTORED}
        return service.ask("/api/account/restore", tokens[RESTORING], body)[0]

    def write(token: str) -> int:
        return service.ask("/api/account/entries", token, entry)[0]

    def book() -> int:
        return service.run_python(["manage.py", "run_recurring"]).wait(60)

    with most_sessions(direct) as sessions, ThreadPoolExecutor(24) as threads:
        booked = [threads.submit(book) for _ in range(2)]
        restored = [threads.submit(restore) for _ in range(2)]
        logged_in = [threads.submit(log_in, n) for n in range(MEMBERS)] * 2
        written = [
            threads.submit(write, token)
            for token in tokens[:RESTORING]
            for _ in range(ENTRIES)
        ]
    assert [each.result() for each in booked] == [0, 0]
    assert sorted(each.result() for each in restored) in ([200, 200], [200, 409])
    assert all(each.result() for each in logged_in)
    assert {each.result() for each in written} == {201}
    assert 0 < max(sessions) <= POOL_SIZE
    rows = direct.execute(
        "SELECT amount, count(*) FROM account_entry GROUP BY 1 ORDER BY 1"
    )
    assert rows.fetchall() == [
        (1, RESTORING * ENTRIES + RESTORED),
        (7, RESTORING * RULES),
        (1_000, RESTORING),
    ]
    assert service.run_python(["manage.py", "check_totals"]).wait(60) == 0
    assert direct.execute("SELECT count(*) FROM lease").fetchone() == (0,)
