"""Restores that race with each other and with writes, or are killed halfway."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from accounts.models import Member
from core.leases.models import Lease
from devstack.stores import store_supervisor
from devstack.stores.data_dir import LOOPBACK
from ledger.backup import restore
from ledger.backup.validation import validate_tables
from ledger.models import Entry, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import dump_rows_of, make_entry, make_member, make_wallet
from tests.support.races import run_concurrently, sorted_statuses
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled
from tests.support.stores import find_closed_port
from tests.support.waiting import wait_until
from tests.support.workbooks import ENTRY, RESTORE

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).resolve().parent.parent.parent
ROUNDS = scaled(4, 20)
ENTRIES = "/api/account/entries"
# The advisory lock that blocks a restore before its last sheet.
HOLD = 4711


def book_of(name: str, rows: int = 300) -> dict[str, Any]:
    entry = ENTRY | {"wallet": name, "memo": name}
    return {"wallets": [{"name": name, "kind": "CASH"}], "entries": [entry] * rows}


@pytest.fixture
def member() -> Member:
    return make_member(role="ADMIN")


def restore_of(client: JSONClient, name: str) -> Any:
    return lambda: client.send("POST", RESTORE, book_of(name))


def test_one_of_two_concurrent_restores_is_rejected(
    client: JSONClient,
) -> None:
    names = ("first", "second")
    for _ in range(ROUNDS):
        responses = run_concurrently([restore_of(client, name) for name in names])
        assert sorted_statuses(responses) == [200, 409]
        winner = names[0 if responses[0].status_code == 200 else 1]
        loser = next(r for r in responses if r.status_code == 409)
        assert loser.data["code"] == "IN_USE"
        assert list(Wallet.objects.values_list("name", flat=True)) == [winner]
        assert set(Entry.objects.values_list("memo", flat=True)) == {winner}
        assert Entry.objects.count() == 300
    assert_rollups_are_right()


def test_restores_of_two_members_at_once_are_both_applied(client: JSONClient) -> None:
    clients = {"first": client, "second": JSONClient(make_member(role="ADMIN"))}
    for _ in range(ROUNDS // 4):
        responses = run_concurrently(
            [restore_of(c, name) for name, c in clients.items()]
        )
        assert sorted_statuses(responses) == [200, 200]
    assert Entry.objects.count() == 600
    assert_rollups_are_right()


def test_restores_of_six_members_at_once_wait_for_each_other(
    client: JSONClient,
) -> None:
    clients = [client, *(JSONClient(make_member(role="ADMIN")) for _ in range(5))]
    for _ in range(ROUNDS // 4):
        responses = run_concurrently([restore_of(c, "tiny") for c in clients])
        assert sorted_statuses(responses) == [200] * 6
    assert_rollups_are_right()


def test_concurrent_writes_come_before_or_after_a_restore(
    client: JSONClient, member: Member
) -> None:
    for number in range(ROUNDS):
        name = f"restored {number}"
        wallet = Wallet.objects.first() or make_wallet(member)
        body = ENTRY | {"walletId": wallet.pk, "memo": "raced"}
        body |= {"tags": [f"tag {number}"], "category": f"category {number}"}
        write = [lambda body=body: client.send("POST", ENTRIES, body)]
        restore, *writes = run_concurrently([restore_of(client, name), *write * 3])
        assert restore.status_code == 200, restore.content
        assert set(sorted_statuses(writes)) <= {201, 400, 503}
        assert list(Wallet.objects.values_list("name", flat=True)) == [name]
        assert Entry.objects.filter(memo=name).count() == 300
        raced = Entry.objects.filter(memo="raced")
        assert raced.count() == 0, "they referred to a deleted wallet"
    assert_rollups_are_right()


def test_restore_that_lost_its_lease_while_it_read_changes_nothing(
    client: JSONClient, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process that was stopped for long wakes up after another restore.
    def validate_late(*args: Any) -> Any:
        backup = validate_tables(*args)
        monkeypatch.undo()
        Lease.objects.update(expires_at=timezone.now())
        assert restore_of(client, "second")().status_code == 200
        return backup

    monkeypatch.setattr(restore, "validate_tables", validate_late)
    response = restore_of(client, "first")()
    assert (response.status_code, response.data["code"]) == (409, "IN_USE")
    assert list(Wallet.objects.values_list("name", flat=True)) == ["second"]
    assert not Lease.objects.exists()


# Leases of a killed process expire after 3 seconds instead of 15.
START = """
import django
django.setup()
from core.leases import holding
holding.LEASE_TTL_SECONDS = 3.0
from config import server
server.main()
"""


@dataclass
class WebServer:
    """The web server with one worker on the database of the tests."""

    process: subprocess.Popen[bytes]
    port: int
    token: str

    def find_worker(self) -> int:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text().split()[0])

    def restore(self, name: str) -> int:
        """Return the status of the response; 0 without one."""
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
        }
        web = http.client.HTTPConnection(LOOPBACK, self.port, timeout=20)
        try:
            web.request("POST", RESTORE, json.dumps(book_of(name)), headers)
            return web.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            web.close()


@pytest.fixture
def web_server(client: JSONClient, tmp_path: Path) -> Iterator[WebServer]:
    address, _, query = os.environ["DATABASE_URL"].partition("?")
    name = connection.settings_dict["NAME"]
    port = find_closed_port()
    settings = {
        "DATABASE_URL": f"{address.rpartition('/')[0]}/{name}?{query}".rstrip("?"),
        "BIND": f"{LOOPBACK}:{port}",
        "WEB_CONCURRENCY": "1",
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", START],
            cwd=ROOT,
            env=os.environ | settings,
            stdout=log,
            stderr=log,
            preexec_fn=store_supervisor.set_parent_death_signal(signal.SIGTERM),
        )
    try:
        yield WebServer(process, port, client.token)
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(15)
        process.kill()
        process.wait()


@contextmanager
def held_restores() -> Iterator[None]:
    """Block restores at their last sheet until the block ends."""
    table = "account_quick_entry"
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" PERFORM pg_advisory_xact_lock({HOLD}); RETURN NULL; END $$"
        )
        cursor.execute(
            f"CREATE TRIGGER hold BEFORE INSERT ON {table} EXECUTE FUNCTION hold()"
        )
    holder = connections["default"].copy()
    try:
        with holder.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute(f"SELECT pg_advisory_xact_lock({HOLD})")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")
    finally:
        holder.close()
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION hold CASCADE")


def is_held() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
            f" AND objid = {HOLD} AND NOT granted"
        )
        return bool(cursor.fetchone()[0])


def test_killed_web_process_leaves_the_old_data(
    client: JSONClient, member: Member, web_server: WebServer
) -> None:
    make_entry(member, wallet=make_wallet(member), tags=("old",))
    assert client.get_json(ENTRIES)["count"] == 1  # which notes the session's last use
    wait_until(lambda: web_server.restore("before") == 200)
    before = dump_rows_of(member)
    answers = []
    with held_restores():
        sending = threading.Thread(
            target=lambda: answers.append(web_server.restore("new"))
        )
        sending.start()
        wait_until(is_held)
        os.kill(web_server.find_worker(), signal.SIGKILL)
        sending.join(20)
        assert dump_rows_of(member) == before
    assert answers == [0], "no answer came"
    wait_until(lambda: not is_held())
    assert dump_rows_of(member) == before
    # The lease of the killed process has to expire first.
    wait_until(lambda: web_server.restore("after") == 200)
    assert set(Wallet.objects.values_list("name", flat=True)) == {"after"}
    assert_rollups_are_right()
