"""The circuit breaker in front of Valkey, PostgreSQL and outside services."""

import math
import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(slots=True)
class _Circuit:
    """The state of one key; times are those of `time.monotonic`."""

    is_closed: bool = True
    failures: int = 0
    last_failure_at: float = 0.0
    last_success_at: float = 0.0
    retry_at: float = 0.0


class CircuitBreaker:
    """A switch that rejects calls to a service for a while after failures.

    A circuit is closed at first and allows all calls. `failure_threshold` failures in a
    row open it, or one that took `slow_failure_seconds`, since it has cost its caller a
    wait. An open circuit rejects calls for `reset_timeout_seconds`. Then it is
    half-open and allows one call per `trial_interval_seconds` (0: all calls) until one
    of them succeeds, which closes it, or fails, which opens it again.

    Each key has its own circuit; without keys there is a single one. The state belongs
    to the process and is shared by its threads.
    """

    def __init__(
        self,
        *,
        failure_threshold: int,
        reset_timeout_seconds: float,
        slow_failure_seconds: float = math.inf,
        trial_interval_seconds: float = 0.0,
    ) -> None:
        self.failure_threshold = failure_threshold
        self.reset_timeout_seconds = reset_timeout_seconds
        self.slow_failure_seconds = slow_failure_seconds
        self.trial_interval_seconds = trial_interval_seconds
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Close all circuits and forget all failures."""
        self._circuits: dict[Hashable, _Circuit] = {}
        # Of any key, in seconds since the epoch; 0.0 before the first failure.
        self.last_failure_time = 0.0

    def is_closed(self, key: Hashable = None) -> bool:
        circuit = self._circuits.get(key)
        return circuit is None or circuit.is_closed

    def allows_request(self, key: Hashable = None) -> bool:
        """Return whether a call may be made now; count it as a trial if half-open."""
        # Without the lock: this runs before every call, and a stale answer costs no
        # more than one call.
        circuit = self._circuits.get(key)
        if circuit is None or circuit.is_closed:
            return True
        with self._lock:
            now = time.monotonic()
            if now < circuit.retry_at:
                return False
            circuit.retry_at = now + self.trial_interval_seconds
            return True

    def record_success(self, key: Hashable = None) -> bool:
        """Close the circuit; return whether it was not closed before."""
        now = time.monotonic()
        with self._lock:
            circuit = self._get_or_create(key, now)
            was_closed = circuit.is_closed
            circuit.is_closed = True
            circuit.failures = 0
            circuit.last_success_at = now
        return not was_closed

    def record_failure(self, key: Hashable = None, *, started_at: float) -> None:
        """Count the failure of a call that began at `started_at` (monotonic)."""
        now = time.monotonic()
        with self._lock:
            self.last_failure_time = time.time()
            circuit = self._get_or_create(key, now)
            # Another call has succeeded since this one began: its failure is no news.
            if started_at <= circuit.last_success_at:
                return
            # Failures far apart are not in a row.
            if now - circuit.last_failure_at > self.reset_timeout_seconds:
                circuit.failures = 0
            circuit.failures += 1
            circuit.last_failure_at = now
            is_slow = now - started_at >= self.slow_failure_seconds
            if (
                is_slow
                or circuit.failures >= self.failure_threshold
                or not circuit.is_closed
            ):
                circuit.is_closed = False
                circuit.retry_at = now + self.reset_timeout_seconds

    def _get_or_create(self, key: Hashable, now: float) -> _Circuit:
        circuit = self._circuits.get(key)
        if circuit is None:
            # Keys may be many over time, so those without news are dropped when a new
            # one comes. Their circuits begin again closed.
            oldest = now - self.reset_timeout_seconds
            self._circuits = {
                other: state
                for other, state in self._circuits.items()
                if max(state.last_success_at, state.last_failure_at) >= oldest
            }
            circuit = self._circuits[key] = _Circuit()
        return circuit
