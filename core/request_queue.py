"""Requests that wait for a thread of the web server.

The next request is one of the client that has used the threads least in the last
seconds. When the queue is full, the client that has used them most is refused first.
"""

import asyncio
import queue
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.errors import DomainError, RateLimitedError, ServiceUnavailableError
from core.request_clients import is_member
from core.usage import DecayingUsage

# Bounds the memory and disk of waiting requests.
MAX_WAITING_REQUESTS = 512
MAX_CLIENT_REQUESTS = 64
MAX_WAIT_SECONDS = 5.0
# A client that has used a thread for as long in the last seconds is a heavy one.
HEAVY_USAGE_SECONDS = 1.0
RETRY_AFTER_SECONDS = 1


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

    Threads call only `take`; everything else runs on the event loop, so that a waiting
    request can be rejected without a lock.

    A member may hold `member_thread_count` threads, an address without a login
    `address_thread_count`; heavy clients together leave one thread to others.
    """

    def __init__(
        self, thread_count: int, member_thread_count: int, address_thread_count: int
    ) -> None:
        self.thread_count = thread_count
        self.member_thread_count = member_thread_count
        self.address_thread_count = address_thread_count
        self._waiting: dict[str, deque[Job]] = {}
        self._waiting_count = 0
        self._running_counts: Counter[str] = Counter()
        # Sums of the times at which running requests have started.
        self._running_starts: dict[str, float] = defaultdict(float)
        self._idle_thread_count = thread_count
        self._usage = DecayingUsage()
        self._taken: queue.SimpleQueue[Job | None] = queue.SimpleQueue()

    @property
    def waiting_count(self) -> int:
        return self._waiting_count

    @property
    def busy_thread_count(self) -> int:
        return self.thread_count - self._idle_thread_count

    def add(self, job: Job) -> list[Job]:
        """Let a request wait for a thread; return those that the full queue refuses."""
        self._waiting.setdefault(job.client, deque()).append(job)
        self._waiting_count += 1
        self._start_jobs(job.arrived_at)
        if self._count_requests(job.client) > MAX_CLIENT_REQUESTS:
            refused = self._remove_newest(job.client)
        elif self._waiting_count > MAX_WAITING_REQUESTS:
            refused = self._remove_newest(self._find_refused(job))
        else:
            return []
        return [refused]

    def take(self) -> Job | None:
        """Return None after `stop`."""
        return self._taken.get()

    def finish(self, job: Job, user: str, now: float) -> None:
        """Charge the thread's time to `user`, the client as it is known now."""
        self._idle_thread_count += 1
        self._running_counts[job.client] -= 1
        self._running_starts[job.client] -= job.started_at
        if not self._running_counts[job.client]:
            del self._running_counts[job.client], self._running_starts[job.client]
        self._usage.add(user, now - job.started_at, now)
        job.answered.set()
        self._start_jobs(now)

    def pop_overdue(self, now: float) -> list[Job]:
        oldest = now - MAX_WAIT_SECONDS
        overdue = [
            job
            for jobs in self._waiting.values()
            for job in jobs
            if job.arrived_at < oldest
        ]
        for job in overdue:
            self._waiting[job.client].remove(job)
            self._forget(job.client)
        return overdue

    def make_error(self, job: Job, now: float) -> DomainError:
        """Return the error of a refused request."""
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
        while self._idle_thread_count and self._waiting:
            client = self._find_next(now)
            if client is None:
                return
            job = self._waiting[client].popleft()
            self._forget(client)
            job.started_at = now
            self._running_counts[client] += 1
            self._running_starts[client] += now
            self._idle_thread_count -= 1
            self._taken.put(job)

    def _find_next(self, now: float) -> str | None:
        """Return the client with the least load that may have one more thread."""
        has_last_thread = self._idle_thread_count == 1 and self.thread_count > 1
        allowed = [
            client
            for client in self._waiting
            if self._running_counts[client] < self._get_thread_limit(client)
            and not (has_last_thread and self._is_heavy(client, now))
        ]
        # Of equal ones, the first that came.
        return min(allowed, key=self._make_sort_key(now), default=None)

    def _find_refused(self, job: Job) -> str:
        """Return the heaviest client, else the client of the request that came last."""
        heaviest = max(self._waiting, key=self._make_sort_key(job.arrived_at))
        is_heavy = self._is_heavy(heaviest, job.arrived_at)
        return heaviest if is_heavy or job.client not in self._waiting else job.client

    def _get_thread_limit(self, client: str) -> int:
        if is_member(client):
            return self.member_thread_count
        return self.address_thread_count

    def _make_sort_key(self, now: float) -> Callable[[str], tuple[float, int]]:
        return lambda client: (
            self._get_usage(client, now),
            self._count_requests(client),
        )

    def _is_heavy(self, client: str, now: float) -> bool:
        return self._get_usage(client, now) > HEAVY_USAGE_SECONDS

    def _get_usage(self, client: str, now: float) -> float:
        """Return the seconds of threads, with running requests up to now."""
        usage = self._usage.get_seconds(client, now)
        if count := self._running_counts[client]:
            usage += count * now - self._running_starts[client]
        return usage

    def _count_requests(self, client: str) -> int:
        return len(self._waiting.get(client, ())) + self._running_counts[client]

    def _remove_newest(self, client: str) -> Job:
        job = self._waiting[client].pop()
        self._forget(client)
        return job

    def _forget(self, client: str) -> None:
        """Count one waiting request less."""
        self._waiting_count -= 1
        if not self._waiting[client]:
            del self._waiting[client]
