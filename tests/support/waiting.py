"""Wait for an event; clocks that stand in for the module `time`."""

import time
from collections.abc import Callable
from typing import Any

TIMEOUT_SECONDS = 60.0
POLL_INTERVAL_SECONDS = 0.02


def wait_until(
    is_true: Callable[[], Any], *, timeout_seconds: float = TIMEOUT_SECONDS
) -> Any:
    """Return the first true answer; fail if there is none in this time."""
    end = time.monotonic() + timeout_seconds
    while not (answer := is_true()):
        assert time.monotonic() < end, "timeout"
        time.sleep(POLL_INTERVAL_SECONDS)
    return answer


class ShiftedClock:
    """A clock that goes on as usual from where a test shifts it."""

    seconds = 0.0

    def time(self) -> float:
        return time.time() + self.seconds

    def monotonic(self) -> float:
        return time.monotonic() + self.seconds


class MovedClock:
    """A clock that sleeping moves at once; `then` is called at the end of a nap."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.now, self.then, self.naps = 0.0, then, list[float]()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.naps.append(seconds)
        self.then()
