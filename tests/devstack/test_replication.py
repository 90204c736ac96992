"""A standby of development: what it has, what it lacks, and how roles change."""

import threading
from collections.abc import Iterator

import pytest

from devstack.stores.replication import RunningPostgres, ServerPair
from tests.support.replication import (
    connect_standby,
    disconnect_standby,
    read_numbers,
    run_on,
    run_pair,
)

WAIT_SECONDS = 0.5
TIMEOUT_SECONDS = 20


@pytest.fixture(scope="module")
def pair() -> Iterator[ServerPair]:
    with run_pair(is_synchronous=True) as (_, pair):
        run_on(pair.primary, "CREATE TABLE written (number int)")
        yield pair


@pytest.fixture(autouse=True)
def _empty_table(pair: ServerPair) -> None:
    run_on(pair.primary, "TRUNCATE written")


def write(server: RunningPostgres, number: int) -> None:
    run_on(server, f"INSERT INTO written VALUES ({number})")


def test_commit_waits_for_the_synchronous_standby(pair: ServerPair) -> None:
    conninfo = disconnect_standby(pair)
    writer = threading.Thread(target=write, args=(pair.primary, 1))
    writer.start()
    writer.join(WAIT_SECONDS)
    assert writer.is_alive()
    assert read_numbers(pair.primary) == set()
    connect_standby(pair, conninfo)
    writer.join(TIMEOUT_SECONDS)
    assert not writer.is_alive()
    assert read_numbers(pair.primary) == {1}


def test_asynchronous_standby_lacks_what_it_had_not_received(pair: ServerPair) -> None:
    run_on(
        pair.primary,
        "ALTER SYSTEM SET synchronous_standby_names = ''",
        "SELECT pg_reload_conf()",
    )
    disconnect_standby(pair)
    write(pair.primary, 1)
    pair.primary.kill()
    pair.promote_standby()
    assert read_numbers(pair.primary) == set()
    write(pair.primary, 2)
    # The former primary gives up what only it has.
    pair.rebuild_standby()
    write(pair.primary, 3)
    assert read_numbers(pair.standby) == {2, 3}


def test_roles_change_and_change_back_without_loss(pair: ServerPair) -> None:
    first = pair.primary
    write(pair.primary, 1)
    for number in (2, 3):
        pair.primary.kill()
        pair.promote_standby()
        pair.rebuild_standby()
        write(pair.primary, number)
    assert pair.primary is first
    assert read_numbers(pair.primary) == {1, 2, 3}
    assert read_numbers(pair.standby) == {1, 2, 3}
