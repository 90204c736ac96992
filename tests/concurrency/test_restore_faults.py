"""A restore whose statements fail: an answer that says so, and the ledger as before."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, connections

from accounts.account_deletion import delete_account
from accounts.models import Member
from ledger.backup import ledger_writer
from ledger.base import bulk_rows
from ledger.rollups import time_limit
from tests.support.clients import JSONClient
from tests.support.factories import (
    count_rows_of,
    dump_rows_of,
    make_entry,
    make_member,
    make_wallet,
)
from tests.support.problems import assert_problem
from tests.support.races import call_before
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled
from tests.support.workbooks import ENTRY, RESTORE, WHOLE

pytestmark = pytest.mark.django_db(transaction=True)

# In how many of the statements the connection is lost.
KILLS = scaled(8, 50)
# The statements before and after the transaction that writes the ledger.
LOCK, RELEASE = "pg_advisory_xact_lock", 'DELETE FROM "lease"'
BOOK = WHOLE | {"entries": [*WHOLE["entries"], *([ENTRY] * 300)]}


@pytest.fixture
def member() -> Member:
    member = make_member(role="ADMIN")
    make_entry(member, wallet=make_wallet(member), tags=("old",))
    return member


@pytest.fixture
def client(member: Member) -> JSONClient:
    client = JSONClient(member)
    client.get_json("/api/account/entries")  # which notes the session's last use
    return client


def kill_connection() -> None:
    """End this thread's connection as an administrator or a crash does."""
    pid = connection.connection.info.backend_pid
    other = connections["default"].copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    other.close()


@contextmanager
def kill_at(number: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Kill the connection in the statement of this number; yield the statements.

    They are those of the transaction that writes. A COPY is cut off among its rows.
    """
    statements: list[str] = []
    is_writing = False

    def note(statement: str) -> None:
        nonlocal is_writing
        is_writing |= LOCK in statement
        is_writing &= RELEASE not in statement
        if is_writing:
            statements.append(statement)
            if len(statements) == number:
                kill_connection()

    def execute(call: Any, sql: Any, *arguments: Any) -> Any:
        note(str(sql))
        return call(sql, *arguments)

    write = bulk_rows.copy_rows

    def copy(table: str, columns: list[str], rows: Iterable[Sequence[Any]]) -> None:
        def cut_off() -> Iterator[Sequence[Any]]:
            rest = list(rows)
            yield from rest[: len(rest) // 2]
            note(f"COPY {table}")
            yield from rest[len(rest) // 2 :]

        write(table, columns, cut_off())

    with monkeypatch.context() as patch, connection.execute_wrapper(execute):
        patch.setattr(ledger_writer, "copy_rows", copy)
        yield statements


def test_connection_lost_in_any_statement_is_503_and_changes_nothing(
    client: JSONClient, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump_rows_of(member)
    other = make_member(role="ADMIN")
    with kill_at(0, monkeypatch) as statements:
        assert JSONClient(other).send("POST", RESTORE, BOOK).status_code == 200
    numbers = range(1, len(statements) + 1)
    step = max(1, len(numbers) // KILLS)
    copies = {
        number
        for number, sql in enumerate(statements, 1)
        if sql in ("COPY account_entry", "COPY account_entry_tag")
    }
    assert len(copies) == 2
    for number in sorted({*numbers[::step], *copies}):
        with kill_at(number, monkeypatch) as killed:
            response = client.send("POST", RESTORE, BOOK)
        assert len(killed) >= number
        assert_problem(response, 503, "SERVICE_UNAVAILABLE")
        assert int(response.headers["Retry-After"]) > 0
        connection.close()  # as at the end of a request
        assert dump_rows_of(member) == before, statements[number - 1]
    assert client.send("POST", RESTORE, BOOK).status_code == 200
    assert_rollups_are_right()


@contextmanager
def failing_inserts(table: str, body: str) -> Iterator[None]:
    """Run PL/pgSQL before each row that is inserted."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE SEQUENCE attempts")
        cursor.execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN {body} RETURN NEW; END $$"
        )
        cursor.execute(
            f"CREATE TRIGGER fail BEFORE INSERT ON {table}"
            " FOR EACH ROW EXECUTE FUNCTION fail()"
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION fail CASCADE")
            cursor.execute("DROP SEQUENCE attempts")


DEADLOCK = "RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01';"


@pytest.mark.parametrize("table", ["account_entry", "account_entry_tag"])
def test_deadlock_inside_copy_is_retried(
    client: JSONClient, member: Member, table: str
) -> None:
    with failing_inserts(table, f"IF nextval('attempts') = 1 THEN {DEADLOCK} END IF;"):
        response = client.send("POST", RESTORE, BOOK)
    assert response.status_code == 200, response.content
    assert_rollups_are_right()


def test_deadlock_in_each_attempt_is_503_and_changes_nothing(
    client: JSONClient, member: Member
) -> None:
    before = dump_rows_of(member)
    with failing_inserts("account_entry", DEADLOCK):
        response = client.send("POST", RESTORE, BOOK)
    assert_problem(response, 503, "SERVICE_UNAVAILABLE")
    assert response.headers["Retry-After"] == "1"
    assert dump_rows_of(member) == before


@pytest.mark.parametrize("table", ["account_entry", "account_tag_total"])
def test_time_limit_of_a_statement_is_named_and_nothing_changes(
    client: JSONClient, member: Member, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    before = dump_rows_of(member)
    monkeypatch.setattr(time_limit, "STATEMENT_TIMEOUT_SECONDS", 1)
    with failing_inserts(table, "PERFORM pg_sleep(3);"):
        response = client.send("POST", RESTORE, BOOK)
    assert_problem(response, 503, "SERVICE_UNAVAILABLE")
    assert "limit of 60 seconds" in response.json()["detail"]
    assert response.headers["Retry-After"] == "60"
    assert dump_rows_of(member) == before


def test_restore_beside_the_deletion_of_its_account_is_401(
    client: JSONClient, member: Member
) -> None:
    with call_before(LOCK, lambda: delete_account(member)) as deletion:
        response = client.send("POST", RESTORE, BOOK)
    assert_problem(response, 401, "AUTHENTICATION_REQUIRED")
    deletion.result()
    assert not any(count_rows_of(member).values())
