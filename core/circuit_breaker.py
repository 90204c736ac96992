"""A switch that rejects calls after failures."""

import math
import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(slots=True)
class _Circuit:
    """Times are of `time.monotonic`."""

    is_closed: bool = True
    failures: int = 0
    last_failure_at: float = 0.0
    last_success_at: float = 0.0
    retry_at: float = 0.0


class CircuitBreaker:
    """Reject calls to a service for a while after failures.

    `failure_threshold` failures in a row or one slow failure open the circuit of a key.
    After `reset_timeout_seconds` it allows one call per `trial_interval_seconds` (0:
    all) until one succeeds.
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
        self._circuits: dict[Hashable, _Circuit] = {}
        # Any key, in seconds since the epoch.
        self.last_failure_time = 0.0

    def is_closed(self, key: Hashable = None) -> bool:
        circuit = self._circuits.get(key)
        return circuit is None or circuit.is_closed

    def allows_request(self, key: Hashable = None) -> bool:
        # No lock: this runs before every call, and a stale answer costs one call.
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
        """Return True if the circuit was open."""
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
            # The call began before the last success.
            if started_at <= circuit.last_success_at:
                return
            # Failures far apart do not add up.
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
            oldest = now - self.reset_timeout_seconds
            self._circuits = {
                other: state
                for other, state in self._circuits.items()
                if max(state.last_success_at, state.last_failure_at) >= oldest
            }
            circuit = self._circuits[key] = _Circuit()
        return circuit
