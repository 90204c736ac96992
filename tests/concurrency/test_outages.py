"""The service under load while a store dies, hangs, fills up or restarts.

Real processes, a few seconds each.
"""

import http.client
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fault_injection import Answer, RunningService, run_service
from tests.support.waiting import wait_until

# More than a second of them.
NEW_ANSWERS = 50


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with (
        tempfile.TemporaryDirectory(prefix="household-ledger-outages-") as folder,
        run_service(Path(folder)) as running,
    ):
        yield running


def failures_of(answers: list[Answer]) -> list[Answer]:
    assert len(answers) > 20
    return [answer for answer in answers if answer.status != http.client.OK]


def wait_for_answers(answers: list[Answer], status: int | None = None) -> None:
    """Wait for as many new answers as tell something, or for the first of a status."""
    known = len(answers)
    if status is None:
        wait_until(lambda: len(answers) >= known + NEW_ANSWERS)
    else:
        wait_until(lambda: any(each.status == status for each in answers[known:]))


def wait_until_recovered(answers: list[Answer]) -> None:
    """Wait until each of the last requests was answered, by whatever process."""
    ok = http.client.OK
    wait_until(lambda: all(each.status == ok for each in answers[-NEW_ANSWERS:]))


@pytest.mark.parametrize("outage", ["dead", "hanging"])
def test_no_request_fails_without_the_fast_store_and_when_it_is_back(
    service: RunningService, outage: str
) -> None:
    store = service.fast_store
    with service.under_load() as answers:
        (store.kill if outage == "dead" else store.hang)()
        wait_for_answers(answers)
        (store.start if outage == "dead" else store.heal)()
        wait_for_answers(answers)
    assert failures_of(answers) == []


def test_no_request_fails_while_the_fast_store_is_full(service: RunningService) -> None:
    service.fast_store.run("FLUSHALL")
    service.fast_store.fill()
    with service.under_load() as answers:
        wait_for_answers(answers)
    service.fast_store.run("CONFIG", "SET", "maxmemory", "0")
    assert failures_of(answers) == []


def test_no_read_fails_when_postgresql_crashes_and_starts_again(
    service: RunningService,
) -> None:
    with service.under_load() as answers:
        service.database.stop(signal.SIGQUIT)
        service.database.start()
        wait_for_answers(answers)
    assert failures_of(answers) == []


@pytest.mark.parametrize("outage", ["stopped", "hanging"])
def test_requests_are_asked_to_come_again_without_postgresql(
    service: RunningService, outage: str
) -> None:
    # The kernel goes on answering for a PostgreSQL that is stopped by a signal.
    database = service.database
    with service.under_load() as answers:
        (database.stop if outage == "stopped" else database.hang)()
        status, _, _ = service.ask("/api/health")
        wait_for_answers(answers, 503)
        wait_for_answers(answers)
        (database.start if outage == "stopped" else database.heal)()
        wait_until_recovered(answers)
    failures = failures_of(answers)
    assert status == 503
    assert {answer.status for answer in failures} == {503}
    assert all(answer.retry_after for answer in failures)


def test_nobody_counts_as_logged_out_when_both_stores_are_away(
    service: RunningService,
) -> None:
    service.fast_store.kill()
    service.database.stop()
    try:
        status, headers, _ = service.ask("/api/auth/session", service.tokens[0])
    finally:
        service.database.start()
        service.fast_store.start()
    assert status == 503
    assert headers["Retry-After"]
    assert "Set-Cookie" not in headers
    with service.under_load() as answers:
        wait_for_answers(answers)
        wait_until_recovered(answers)
