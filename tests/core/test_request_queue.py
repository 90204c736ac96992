"""The queue of requests: order, shares of clients, limits of number and time."""

import pytest

from core.errors import ServiceUnavailableError
from core.request_queue import (
    MAX_CLIENT_REQUESTS,
    MAX_OVERLOADED_WAIT_SECONDS,
    MAX_WAIT_SECONDS,
    MAX_WAITING_REQUESTS,
    OVERLOAD_INTERVAL_SECONDS,
    Job,
    RequestQueue,
)


class Queue:
    """A queue of two threads, of which a client takes one, with a clock of its own."""

    def __init__(self) -> None:
        self.now = 100.0
        self.requests = RequestQueue(thread_count=2, client_thread_count=1)

    def add(self, client: str) -> Job:
        job = Job({}, None, client, self.now)
        self.requests.add(job)
        return job

    def take(self) -> Job | None:
        """Return what a thread takes next, None where it would wait."""
        taken = self.requests._taken
        return None if taken.empty() else self.requests.take()

    def finish(self, job: Job) -> None:
        self.requests.finish(job, self.now)

    def pass_time(self, seconds: float) -> list[Job]:
        """Return what was rejected after that time."""
        self.now += seconds
        return self.requests.pop_overdue(self.now)


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def busy(queue: Queue) -> Queue:
    """Return a queue whose threads have requests of others."""
    for client in ("first", "second"):
        assert queue.add(client) is queue.take()
    return queue


def test_requests_are_taken_in_the_order_of_their_arrival(busy: Queue) -> None:
    waiting = [busy.add(client) for client in "abc"]
    for job in waiting:
        assert busy.take() is None
        busy.finish(Job({}, None, "other", 0.0))
        assert busy.take() is job


def test_client_with_its_share_waits_while_others_are_served(queue: Queue) -> None:
    first, second = queue.add("greedy"), queue.add("greedy")
    other = queue.add("other")
    assert [queue.take(), queue.take(), queue.take()] == [first, other, None]
    queue.finish(other)
    assert queue.take() is None
    queue.finish(first)
    assert queue.take() is second


def test_finished_request_is_answered(queue: Queue) -> None:
    job = queue.add("a")
    assert not job.answered.is_set()
    queue.finish(job)
    assert job.answered.is_set()


def test_requests_of_one_client_are_limited(queue: Queue) -> None:
    jobs = [queue.add("greedy") for _ in range(MAX_CLIENT_REQUESTS)]
    with pytest.raises(ServiceUnavailableError):
        queue.add("greedy")
    queue.add("other")
    queue.finish(jobs[0])
    queue.add("greedy")


def test_waiting_requests_are_limited_in_all(busy: Queue) -> None:
    # Each may hold a large body.
    for number in range(MAX_WAITING_REQUESTS):
        busy.add(f"client {number}")
    with pytest.raises(ServiceUnavailableError):
        busy.add("one more")


def test_counts_of_clients_that_left_are_forgotten(queue: Queue) -> None:
    for number in range(100):
        queue.finish(queue.add(f"client {number}"))
    assert not queue.requests._running_counts
    assert not queue.requests._waiting_counts


def test_short_stall_rejects_nobody(busy: Queue) -> None:
    busy.add("a")
    assert busy.pass_time(OVERLOAD_INTERVAL_SECONDS) == []


def test_request_waits_for_the_shorter_limit_where_no_thread_was_idle_for_long(
    busy: Queue,
) -> None:
    stalled = busy.add("a")
    assert busy.pass_time(OVERLOAD_INTERVAL_SECONDS + 0.01) == [stalled]
    late = busy.add("b")
    assert busy.pass_time(MAX_OVERLOADED_WAIT_SECONDS - 0.01) == []
    last = busy.add("c")
    assert busy.pass_time(0.02) == [late]
    assert busy.pass_time(MAX_OVERLOADED_WAIT_SECONDS) == [last]


def test_time_in_the_queue_of_ones_own_client_is_no_overload(queue: Queue) -> None:
    # It has a limit of its own, so that the client learns that it asks too much.
    queue.add("greedy")
    waiting = queue.add("greedy")
    for _ in range(3):
        queue.finish(queue.add("other"))
        assert queue.pass_time(MAX_WAIT_SECONDS / 4) == []
    queue.finish(queue.add("other"))
    assert queue.pass_time(MAX_WAIT_SECONDS / 4 + 0.01) == [waiting]


def test_rejected_request_is_never_taken(busy: Queue) -> None:
    busy.add("a")
    busy.pass_time(MAX_WAIT_SECONDS + 1)
    busy.finish(Job({}, None, "other", 0.0))
    assert busy.take() is None


def test_request_that_a_thread_has_is_not_rejected(queue: Queue) -> None:
    queue.add("a")
    assert queue.pass_time(MAX_WAIT_SECONDS + 1) == []
