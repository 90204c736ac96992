"""Requests that wait for a thread of the web server.

Requests are taken in the order of their arrival, but those of clients that have used
the threads for long in the last seconds come later, the heaviest last. When the queue
is full, the heaviest is refused first.
"""

import asyncio
import math
import queue
import sys
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from core.errors import DomainError, RateLimitedError, ServiceUnavailableError
from core.request_clients import is_member
from core.usage import DecayingUsage

# Bounds the memory and disk of waiting requests.
MAX_WAITING_REQUESTS = 512
MAX_CLIENT_REQUESTS = 64
MAX_WAIT_SECONDS = 5.0
# A client that has used a thread for as long in the last seconds is a heavy one; twice
# as long is one class heavier.
HEAVY_USAGE_SECONDS = 1.0
# Clients with so many requests at once come after clients with fewer.
MANY_REQUESTS = 8
RETRY_AFTER_SECONDS = 1
# The weight of a client that is not heavy and has few requests.
LIGHT = (0, 0)


@dataclass(slots=True, eq=False)
class Job:
    """Times are in seconds of the event loop's clock."""

    environ: dict[str, Any]
    protocol: Any
    client: str
    arrived_at: float
    started_at: float = 0.0
    answered: asyncio.Event = field(default_factory=asyncio.Event)


class RequestQueue:
    """Gives waiting requests to idle threads, and each client no more than its share.

    Safe for threads. A thread that ends a request takes the next one itself: by way of
    the event loop, each request would take two more switches between threads.

    A member may hold `member_thread_count` threads, an address without a login
    `address_thread_count`, one while it is heavy; heavy clients together leave one
    thread to others.
    """

    def __init__(
        self, thread_count: int, member_thread_count: int, address_thread_count: int
    ) -> None:
        self.thread_count = thread_count
        self.member_thread_count = member_thread_count
        self.address_thread_count = address_thread_count
        # In the order of arrival.
        self._waiting: dict[Job, None] = {}
        self._waiting_counts: Counter[str] = Counter()
        self._running_counts: Counter[str] = Counter()
        # Sums of the times at which running requests have started.
        self._running_starts: dict[str, float] = defaultdict(float)
        self._idle_thread_count = thread_count
        self._usage = DecayingUsage()
        self._lock = threading.Lock()
        # For idle threads.
        self._taken: queue.SimpleQueue[Job | None] = queue.SimpleQueue()

    @property
    def waiting_count(self) -> int:
        return len(self._waiting)

    @property
    def busy_thread_count(self) -> int:
        return self.thread_count - self._idle_thread_count

    def add(self, job: Job) -> list[Job]:
        """Let a request wait for a thread; return those that the full queue refuses."""
        with self._lock:
            self._waiting[job] = None
            self._waiting_counts[job.client] += 1
            self._start_jobs(job.arrived_at)
            if self._count_requests(job.client) > MAX_CLIENT_REQUESTS:
                refused = self._find_newest(job.client)
            elif len(self._waiting) > MAX_WAITING_REQUESTS:
                refused = self._find_refused(job)
            else:
                return []
            self._remove(refused)
        return [refused]

    def take(self) -> Job | None:
        """Wait for a request; return None after `stop`."""
        return self._taken.get()

    def finish(self, job: Job, user: str, now: float) -> Job | None:
        """Charge the thread's time to `user`, the client as it is known now.

        Return the next request of the thread, None if it has to `take` one.
        """
        with self._lock:
            self._idle_thread_count += 1
            self._running_counts[job.client] -= 1
            self._running_starts[job.client] -= job.started_at
            if not self._running_counts[job.client]:
                del self._running_counts[job.client], self._running_starts[job.client]
            self._usage.add(user, now - job.started_at, now)
            next_job = self._start_next(now)
            # More than one may have waited for the client's share.
            self._start_jobs(now)
        return next_job

    def pop_overdue(self, now: float) -> list[Job]:
        oldest = now - MAX_WAIT_SECONDS
        with self._lock:
            overdue = list(
                takewhile(lambda job: job.arrived_at < oldest, self._waiting)
            )
            for job in overdue:
                self._remove(job)
        return overdue

    def make_error(self, job: Job, now: float) -> DomainError:
        """Return the error of a refused request."""
        with self._lock:
            is_own_fault = (
                self._is_heavy(job.client, now)
                or self._count_requests(job.client) >= MAX_CLIENT_REQUESTS
            )
        if is_own_fault:
            return RateLimitedError(RETRY_AFTER_SECONDS)
        return ServiceUnavailableError()

    def stop(self) -> None:
        for _ in range(self.thread_count):
            self._taken.put(None)

    def _start_jobs(self, now: float) -> None:
        while job := self._start_next(now):
            self._taken.put(job)

    def _start_next(self, now: float) -> Job | None:
        if not self._idle_thread_count or (job := self._find_next(now)) is None:
            return None
        self._remove(job)
        job.started_at = now
        self._running_counts[job.client] += 1
        self._running_starts[job.client] += now
        self._idle_thread_count -= 1
        return job

    def _find_next(self, now: float) -> Job | None:
        """Return the first request of the lightest class that may have a thread."""
        is_last_thread = self._idle_thread_count == 1 and self.thread_count > 1
        found: Job | None = None
        lowest = (sys.maxsize, 0)
        clients: set[str] = set()
        for job in self._waiting:
            client = job.client
            if client in clients:
                continue
            clients.add(client)
            if self._running_counts[client] >= self._get_thread_limit(client, now):
                continue
            weight = self._get_weight(client, now)
            if weight == LIGHT:
                return job
            if weight < lowest and not (is_last_thread and weight[0]):
                found, lowest = job, weight
        return found

    def _get_weight(self, client: str, now: float) -> tuple[int, int]:
        """Return the class of the client, and a measure of its requests."""
        usage = self._get_usage(client, now) / HEAVY_USAGE_SECONDS
        return (
            math.ceil(math.log2(usage)) if usage > 1 else 0,
            self._count_requests(client) // MANY_REQUESTS,
        )

    def _find_refused(self, job: Job) -> Job:
        """Return the newest request of the heaviest client, else the last that came."""
        now = job.arrived_at
        heaviest = max(
            self._waiting_counts, key=lambda client: self._get_usage(client, now)
        )
        if self._is_heavy(heaviest, now):
            return self._find_newest(heaviest)
        return next(reversed(self._waiting))

    def _find_newest(self, client: str) -> Job:
        return next(job for job in reversed(self._waiting) if job.client == client)

    def _get_thread_limit(self, client: str, now: float) -> int:
        if is_member(client):
            return self.member_thread_count
        return 1 if self._is_heavy(client, now) else self.address_thread_count

    def _is_heavy(self, client: str, now: float) -> bool:
        return self._get_usage(client, now) > HEAVY_USAGE_SECONDS

    def _get_usage(self, client: str, now: float) -> float:
        """Return the seconds of threads, with running requests up to now."""
        usage = self._usage.get_seconds(client, now)
        if count := self._running_counts[client]:
            usage += count * now - self._running_starts[client]
        return usage

    def _count_requests(self, client: str) -> int:
        return self._waiting_counts[client] + self._running_counts[client]

    def _remove(self, job: Job) -> None:
        del self._waiting[job]
        self._waiting_counts[job.client] -= 1
        if not self._waiting_counts[job.client]:
            del self._waiting_counts[job.client]
