"""The circuit breaker: when it opens, what it lets through, when it closes."""

import math

import pytest

from core.circuit_breaker import CircuitBreaker
from tests.support.races import run_concurrently

THRESHOLD = 3
RESET_SECONDS = 60.0


class FakeClock:
    """Stands for the `time` module; moves only when it is told to."""

    now = 1_000_000.0

    def time(self) -> float:
        return self.now

    monotonic = time

    def shift(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock()
    monkeypatch.setattr("core.circuit_breaker.time", clock)
    return clock


@pytest.fixture
def breaker(clock: FakeClock) -> CircuitBreaker:
    return CircuitBreaker(
        failure_threshold=THRESHOLD,
        slow_failure_seconds=0.5,
        reset_timeout_seconds=RESET_SECONDS,
    )


def fail(breaker: CircuitBreaker, times: int = 1, key: str | None = None) -> None:
    """Record failures of calls that took no time."""
    for _ in range(times):
        breaker.record_failure(key, started_at=math.inf)


def test_threshold_of_failures_in_a_row_opens_it(breaker: CircuitBreaker) -> None:
    fail(breaker, THRESHOLD - 1)
    assert breaker.allows_request()
    fail(breaker)
    assert not breaker.allows_request()
    assert not breaker.is_closed()


def test_success_in_between_starts_the_count_again(
    breaker: CircuitBreaker, clock: FakeClock
) -> None:
    fail(breaker, THRESHOLD - 1)
    breaker.record_success()
    clock.shift(0.1)
    fail(breaker, THRESHOLD - 1)
    assert breaker.allows_request()


def test_failures_far_apart_do_not_open_it(
    breaker: CircuitBreaker, clock: FakeClock
) -> None:
    for _ in range(3 * THRESHOLD):
        fail(breaker)
        clock.shift(RESET_SECONDS + 1)
    assert breaker.allows_request()


def test_slow_failure_opens_it_alone(breaker: CircuitBreaker, clock: FakeClock) -> None:
    started_at = clock.now
    clock.shift(0.5)
    breaker.record_failure(started_at=started_at)
    assert not breaker.allows_request()


def test_failure_of_a_call_older_than_a_success_is_ignored(
    breaker: CircuitBreaker, clock: FakeClock
) -> None:
    started_at = clock.now
    clock.shift(1)
    breaker.record_success()
    clock.shift(1)
    breaker.record_failure(started_at=started_at)
    assert breaker.allows_request()
    assert breaker.last_failure_time == clock.now


def test_reset_timeout_allows_calls_until_one_fails(
    breaker: CircuitBreaker, clock: FakeClock
) -> None:
    fail(breaker, THRESHOLD)
    clock.shift(RESET_SECONDS)
    assert breaker.allows_request()
    assert not breaker.is_closed()
    fail(breaker)
    assert not breaker.allows_request()


def test_success_of_a_trial_closes_it(
    breaker: CircuitBreaker, clock: FakeClock
) -> None:
    fail(breaker, THRESHOLD)
    clock.shift(RESET_SECONDS)
    assert breaker.record_success()
    assert not breaker.record_success()
    assert breaker.is_closed()


def test_half_open_circuit_allows_one_call_per_trial_interval(clock: FakeClock) -> None:
    breaker = CircuitBreaker(
        failure_threshold=1, reset_timeout_seconds=1.0, trial_interval_seconds=1.0
    )
    fail(breaker)
    for _ in range(3):
        clock.shift(1)
        assert breaker.allows_request()
        assert not breaker.allows_request()


def test_only_one_of_many_threads_gets_the_trial() -> None:
    breaker = CircuitBreaker(
        failure_threshold=1, reset_timeout_seconds=0.0, trial_interval_seconds=60.0
    )
    fail(breaker)
    assert sum(run_concurrently([breaker.allows_request] * 8)) == 1


def test_each_key_has_its_own_circuit(breaker: CircuitBreaker) -> None:
    fail(breaker, THRESHOLD, "a")
    assert not breaker.allows_request("a")
    assert breaker.allows_request("b")


def test_keys_without_news_are_forgotten(
    breaker: CircuitBreaker, clock: FakeClock
) -> None:
    for number in range(100):
        fail(breaker, key=f"key {number}")
        clock.shift(RESET_SECONDS / 2)
    assert len(breaker._circuits) <= 3


def test_reset_closes_all_circuits(breaker: CircuitBreaker) -> None:
    fail(breaker, THRESHOLD, "a")
    breaker.reset()
    assert breaker.allows_request("a")
    assert breaker.last_failure_time == 0.0
