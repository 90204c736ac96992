"""Run callables at once, each in a thread with a database connection of its own."""

import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from unittest import mock

from django.db import connection, connections
from django.db.models import QuerySet

from tests.support.clients import JSONClient

START_TIMEOUT_SECONDS = 20
# How long a statement waits for what is done before it; that may wait for its end.
PAUSE_SECONDS = 3
POLL_SECONDS = 0.01
# True if another session waits for this one's transaction.
WAITING = """
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))
)
"""

# Yields the calls of a round and gets their answers.
Turn = Generator[Sequence[Callable[[], Any]], list[Any], None]


def run_concurrently(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return what the calls return, in their order; all start behind one barrier.

    An exception in a thread is raised here. Connections are given back, so that
    none outlives its thread.
    """
    barrier = threading.Barrier(len(calls), timeout=START_TIMEOUT_SECONDS)

    def run(call: Callable[[], Any]) -> Any:
        try:
            barrier.wait()
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=len(calls)) as pool:
        futures = [pool.submit(run, call) for call in calls]
    return [future.result() for future in futures]


@contextmanager
def lock_timeout(limit: str) -> Iterator[None]:
    """Let this thread's connection wait for locks as long as this, such as '50ms'.

    The pool gives the connection to others afterwards, so the limit ends here.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [limit])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")


def race(
    turn: Callable[[int], Turn],
    *,
    rounds: int,
    allowed: Collection[tuple[int, ...]] = (),
    in_any_order: tuple[int, ...] = (),
) -> None:
    """Run the calls of each round at once, and check the statuses of their answers.

    `turn(number)` prepares a round, yields its calls, and goes on with their answers.
    The statuses are one of `allowed`, in the order of the calls, or `in_any_order`.
    Every other round starts the last call first.
    """
    for number in range(rounds):
        prepared = turn(number)
        calls = next(prepared)
        step = -1 if number % 2 else 1
        answers = run_concurrently(calls[::step])[::step]
        statuses = tuple(answer.status_code for answer in answers)
        assert statuses in allowed or tuple(sorted(statuses)) == in_any_order, (
            statuses,
            [answer.content for answer in answers],
        )
        with suppress(StopIteration):
            prepared.send(answers)
            raise AssertionError("a turn yields once")


def caller(
    client: JSONClient, method: str, path: str, body: Any = None
) -> Callable[[], Any]:
    """Return a call that sends the request and returns its answer."""
    return lambda: client.send(method, path, body)


def sorted_statuses(responses: Sequence[Any]) -> list[int]:
    """Return the status codes, sorted; in an assertion they tell what won."""
    return sorted(response.status_code for response in responses)


@contextmanager
def call_before(fragment: str, call: Callable[[], Any]) -> Iterator[Future[Any]]:
    """Let another connection make the call before a statement of the block.

    It is the first statement of this thread that contains the fragment. It goes on when
    the call has ended, or waits for this thread's transaction, or after a moment. The
    block gets the future of the call, which ends with the block.
    """
    result: Future[Any] = Future()

    def run() -> None:
        try:
            result.set_result(call())
        except Exception as error:
            result.set_exception(error)
        finally:
            connections.close_all()

    other = threading.Thread(target=run)

    def pause(execute: Any, sql: Any, *arguments: Any) -> Any:
        if fragment in str(sql) and other.ident is None:
            other.start()
            end = time.monotonic() + PAUSE_SECONDS
            while time.monotonic() < end and other.is_alive():
                other.join(POLL_SECONDS)
                if connection.connection.execute(WAITING).fetchone()[0]:
                    break
        return execute(sql, *arguments)

    with connection.execute_wrapper(pause):
        yield result
    assert other.ident is not None, f"no statement contains {fragment}"
    other.join(START_TIMEOUT_SECONDS)


@contextmanager
def without_locks() -> Iterator[None]:
    """Let statements read rows that they would lock."""

    def read(rows: QuerySet[Any], **_: object) -> QuerySet[Any]:
        return rows

    with mock.patch.object(QuerySet, "select_for_update", read):
        yield
