"""Requests that wait for a thread of the web server."""

import asyncio
import math
import queue
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from core.errors import ServiceUnavailableError

# Bounds the memory and disk of waiting requests.
MAX_WAITING_REQUESTS = 256
MAX_CLIENT_REQUESTS = 64
# If no thread was idle during the overload interval, the shorter limit applies, so that
# the remaining requests are answered in time.
MAX_WAIT_SECONDS = 5.0
MAX_OVERLOADED_WAIT_SECONDS = 0.35
OVERLOAD_INTERVAL_SECONDS = 1.0


@dataclass(slots=True, eq=False)
class Job:
    """`arrived_at` is in seconds of the event loop's clock."""

    environ: dict[str, Any]
    protocol: Any
    client: str
    arrived_at: float
    answered: asyncio.Event = field(default_factory=asyncio.Event)


class RequestQueue:
    """Gives waiting requests to idle threads, and each client no more than its share.

    Threads call only `take`; everything else runs on the event loop, so that a waiting
    request can be rejected without a lock.
    """

    def __init__(self, thread_count: int, client_thread_count: int) -> None:
        self.thread_count = thread_count
        self.client_thread_count = client_thread_count
        self._waiting: dict[Job, None] = {}
        self._waiting_counts: Counter[str] = Counter()
        self._running_counts: Counter[str] = Counter()
        self._idle_thread_count = thread_count
        self._busy_since = math.inf
        self._taken: queue.SimpleQueue[Job | None] = queue.SimpleQueue()

    @property
    def waiting_count(self) -> int:
        return len(self._waiting)

    @property
    def busy_thread_count(self) -> int:
        return self.thread_count - self._idle_thread_count

    def add(self, job: Job) -> None:
        self._waiting[job] = None
        self._waiting_counts[job.client] += 1
        self._start_jobs(job.arrived_at)
        client_requests = (
            self._waiting_counts[job.client] + self._running_counts[job.client]
        )
        is_full = len(self._waiting) > MAX_WAITING_REQUESTS
        if job in self._waiting and (is_full or client_requests > MAX_CLIENT_REQUESTS):
            self._remove(job)
            raise ServiceUnavailableError

    def take(self) -> Job | None:
        """Return None after `stop`."""
        return self._taken.get()

    def finish(self, job: Job, now: float) -> None:
        self._idle_thread_count += 1
        self._subtract(self._running_counts, job.client)
        job.answered.set()
        self._start_jobs(now)

    def pop_overdue(self, now: float) -> list[Job]:
        is_overloaded = now - self._busy_since > OVERLOAD_INTERVAL_SECONDS
        limit = MAX_OVERLOADED_WAIT_SECONDS if is_overloaded else MAX_WAIT_SECONDS
        overdue = [job for job in self._waiting if now - job.arrived_at > limit]
        for job in overdue:
            self._remove(job)
        return overdue

    def stop(self) -> None:
        for _ in range(self.thread_count):
            self._taken.put(None)

    def _start_jobs(self, now: float) -> None:
        while self._idle_thread_count and (job := self._find_next()):
            self._remove(job)
            self._running_counts[job.client] += 1
            self._idle_thread_count -= 1
            self._taken.put(job)
        is_idle = self._idle_thread_count > 0
        self._busy_since = math.inf if is_idle else min(self._busy_since, now)

    def _find_next(self) -> Job | None:
        for job in self._waiting:
            if self._running_counts[job.client] < self.client_thread_count:
                return job
        return None

    def _remove(self, job: Job) -> None:
        del self._waiting[job]
        self._subtract(self._waiting_counts, job.client)

    @staticmethod
    def _subtract(counts: Counter[str], client: str) -> None:
        counts[client] -= 1
        if not counts[client]:
            del counts[client]
