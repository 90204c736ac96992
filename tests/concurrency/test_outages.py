"""The service under load while a store dies, hangs, fills up or restarts.

Real processes, a few seconds each; `script/bench faults` does the same for longer.
"""

import http.client
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fault_injection import RunningService, TimedResponse, run_service

OUTAGE_SECONDS = 1.5
SLOW_SECONDS = 0.3
MOST_SLOW = 16
LONGEST_SECONDS = 6.0
RECOVERY_SECONDS = 2.0
# Longer than any request may take.
HANG_SECONDS = 8.0
LONGEST_HEALTH_SECONDS = 3.0


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with (
        tempfile.TemporaryDirectory(prefix="household-ledger-outages-") as folder,
        run_service(Path(folder)) as running,
    ):
        yield running


def failures_of(answers: list[TimedResponse]) -> list[TimedResponse]:
    assert len(answers) > 20
    return [answer for answer in answers if answer.status != http.client.OK]


def test_no_request_fails_while_the_fast_store_is_dead_and_when_it_is_back(
    service: RunningService,
) -> None:
    with service.under_load() as answers:
        service.fast_store.kill()
        time.sleep(OUTAGE_SECONDS)
        service.fast_store.start()
        time.sleep(1)
    assert failures_of(answers) == []


def test_no_request_fails_and_few_are_slow_while_the_fast_store_hangs(
    service: RunningService,
) -> None:
    with service.under_load() as answers:
        service.fast_store.hang()
        time.sleep(OUTAGE_SECONDS)
        service.fast_store.heal()
        time.sleep(1)
    assert failures_of(answers) == []
    assert sum(answer.seconds > SLOW_SECONDS for answer in answers) <= MOST_SLOW


def test_no_request_fails_while_the_fast_store_is_full(service: RunningService) -> None:
    service.fast_store.run("FLUSHALL")
    service.fast_store.fill()
    with service.under_load() as answers:
        time.sleep(OUTAGE_SECONDS)
    service.fast_store.run("CONFIG", "SET", "maxmemory", "0")
    assert failures_of(answers) == []


def test_no_read_fails_when_postgresql_crashes_and_starts_again(
    service: RunningService,
) -> None:
    with service.under_load() as answers:
        service.database.stop(signal.SIGQUIT)
        service.database.start()
        time.sleep(1)
    assert failures_of(answers) == []


def test_requests_are_asked_to_come_again_while_postgresql_is_stopped(
    service: RunningService,
) -> None:
    with service.under_load() as answers:
        service.database.stop()
        time.sleep(3 * OUTAGE_SECONDS)
        service.database.start()
        back = time.monotonic()
        time.sleep(RECOVERY_SECONDS + 1)
    failures = failures_of(answers)
    assert {answer.status for answer in failures} == {503}
    assert all(answer.retry_after for answer in failures)
    assert max(answer.seconds for answer in answers) <= LONGEST_SECONDS
    assert max(answer.ended for answer in failures) <= back + RECOVERY_SECONDS


def test_service_refuses_in_time_while_postgresql_hangs(
    service: RunningService,
) -> None:
    # Its kernel goes on answering for a PostgreSQL that is stopped by a signal.
    with service.under_load() as answers:
        service.database.hang()
        asked = time.monotonic()
        status, _, _ = service.ask("/api/health")
        health_seconds = time.monotonic() - asked
        time.sleep(HANG_SECONDS)
        service.database.heal()
        back = time.monotonic()
        time.sleep(RECOVERY_SECONDS + 1)
    failures = failures_of(answers)
    assert status == 503
    assert health_seconds <= LONGEST_HEALTH_SECONDS
    assert {answer.status for answer in failures} == {503}
    assert max(answer.seconds for answer in answers) <= LONGEST_SECONDS
    assert max(answer.ended for answer in failures) <= back + RECOVERY_SECONDS


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
    time.sleep(1.5)
    assert service.ask("/api/auth/session", service.tokens[0])[0] == 200
