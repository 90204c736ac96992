"""The queue of requests: shares of clients, limits of number and time."""

import pytest

from core.errors import DomainError
from core.request_queue import (
    HEAVY_USAGE_SECONDS,
    MANY_REQUESTS,
    MAX_CLIENT_REQUESTS,
    MAX_WAIT_SECONDS,
    MAX_WAITING_REQUESTS,
    Job,
    RequestQueue,
)
from core.usage import HALF_LIFE_SECONDS

ADDRESS = "address 192.0.2.1"


class Queue:
    """A queue of four threads with a clock of its own.

    A member may have three of them, an address two.
    """

    def __init__(self) -> None:
        self.now = 100.0
        self.requests = RequestQueue(4, 3, 2)
        self.refused: list[Job] = []

    def add(self, client: str) -> Job:
        job = Job({}, None, client, self.now)
        self.refused += self.requests.add(job)
        return job

    def take(self) -> Job | None:
        """Return what a thread takes next, None where it would wait."""
        taken = self.requests._taken
        return None if taken.empty() else self.requests.take()

    def take_all(self) -> list[Job]:
        return list(iter(self.take, None))

    def finish(self, job: Job, user: str = "") -> None:
        next_job = self.requests.finish(job, user or job.client, self.now)
        if next_job is not None:
            self.requests._taken.put(next_job)

    def use(self, client: str, seconds: float) -> None:
        """Let a request of the client hold a thread."""
        job = self.add(client)
        assert self.take() is job
        self.now += seconds
        self.finish(job)

    def pass_time(self, seconds: float) -> list[Job]:
        """Return what was rejected after that time."""
        self.now += seconds
        return self.requests.pop_overdue(self.now)

    def make_error(self, job: Job) -> DomainError:
        return self.requests.make_error(job, self.now)


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def busy(queue: Queue) -> Queue:
    """Return a queue whose threads have requests of others."""
    for number in range(4):
        queue.add(f"member {900 + number}")
    assert len(queue.take_all()) == 4
    return queue


def free_thread(queue: Queue) -> None:
    """End the request of another client, which counts for nobody here."""
    queue.requests._idle_thread_count += 1
    queue.requests._start_jobs(queue.now)


def take_next(queue: Queue) -> Job | None:
    free_thread(queue)
    return queue.take()


# --- Which request is next --------------------------------------------------------


def test_requests_of_equal_clients_are_taken_in_the_order_of_arrival(
    busy: Queue,
) -> None:
    waiting = [busy.add(f"member {number}") for number in (3, 1, 2)]
    assert busy.take() is None
    assert [take_next(busy) for _ in waiting] == waiting


def test_requests_of_one_client_are_taken_in_the_order_of_arrival(busy: Queue) -> None:
    waiting = [busy.add("member 1") for _ in range(3)]
    assert [take_next(busy) for _ in waiting] == waiting


@pytest.mark.parametrize(
    ("seconds", "order"),
    [
        # Light ones in the order of arrival.
        ((0.9, 0.1, 0.0), (0, 1, 2)),
        ((9.0, 3.0, 0.0), (2, 1, 0)),
        ((1.2, 0.9, 5.0), (1, 0, 2)),
        # As heavy as each other, within a factor of two.
        ((3.2, 2.6, 0.0), (2, 0, 1)),
    ],
)
def test_heavy_clients_come_later(
    queue: Queue, seconds: tuple[float, ...], order: tuple[int, ...]
) -> None:
    for number, each in enumerate(seconds):
        queue.requests._usage.add(f"member {number}", each, queue.now)
    held = [queue.add(f"member {900 + number}") for number in range(4)]
    assert queue.take_all() == held
    # Two threads get free: the last one is not for heavy ones.
    jobs = []
    for number in range(3):
        queue.now += 0.001
        jobs.append(queue.add(f"member {number}"))
    queue.requests._idle_thread_count += 1
    assert [take_next(queue) for _ in range(3)] == [jobs[number] for number in order]


def test_client_with_many_requests_comes_after_one_with_few(busy: Queue) -> None:
    greedy = [busy.add("member 1") for _ in range(MANY_REQUESTS)]
    busy.now += 0.1
    other = busy.add("member 2")
    assert [take_next(busy) for _ in range(2)] == [other, greedy[0]]


def test_usage_counts_for_the_member_that_the_answer_has_shown(queue: Queue) -> None:
    job = queue.add(ADDRESS)
    assert queue.take() is job
    queue.now += 0.5
    queue.finish(job, "member 1")
    assert queue.requests._get_usage("member 1", queue.now) == pytest.approx(0.5)
    assert queue.requests._get_usage(ADDRESS, queue.now) == 0


def test_requests_in_progress_count(queue: Queue) -> None:
    for _ in range(2):
        queue.add("member 1")
    queue.now += 3.0
    assert queue.requests._get_usage("member 1", queue.now) == 6.0


def test_usage_fades(queue: Queue) -> None:
    queue.use("member 1", 8.0)
    for left in (4.0, 2.0, 1.0):
        queue.now += HALF_LIFE_SECONDS
        assert queue.requests._get_usage("member 1", queue.now) == pytest.approx(left)


def test_usage_is_kept_over_hours_and_then_forgotten(queue: Queue) -> None:
    for _ in range(1_000):
        queue.use("member 1", 7.0)
    usage = queue.requests._get_usage("member 1", queue.now)
    assert usage == pytest.approx(7.0 / (1 - 0.5 ** (7.0 / HALF_LIFE_SECONDS)))
    queue.now += 100_000
    assert queue.requests._get_usage("member 1", queue.now) == 0
    queue.use("member 2", 1.0)
    assert set(queue.requests._usage._weights) == {"member 2"}


# --- Threads of a client ----------------------------------------------------------


@pytest.mark.parametrize(("client", "threads"), [("member 1", 3), (ADDRESS, 2)])
def test_client_with_its_share_waits_while_others_are_served(
    queue: Queue, client: str, threads: int
) -> None:
    jobs = [queue.add(client) for _ in range(threads + 1)]
    other = queue.add("member 2")
    assert queue.take_all() == [*jobs[:threads], other]
    queue.finish(other)
    assert queue.take() is None
    queue.finish(jobs[0])
    assert queue.take() is jobs[-1]


def test_heavy_address_has_one_thread(queue: Queue) -> None:
    queue.use(ADDRESS, 2 * HEAVY_USAGE_SECONDS)
    first, second = queue.add(ADDRESS), queue.add(ADDRESS)
    assert queue.take_all() == [first]
    queue.finish(first)
    assert queue.take() is second


def test_heavy_clients_together_leave_one_thread(queue: Queue) -> None:
    for client in ("member 1", "member 2"):
        queue.use(client, 2 * HEAVY_USAGE_SECONDS)
    heavy = [queue.add(client) for client in ("member 1", "member 2") * 2]
    assert len(queue.take_all()) == 3
    light = queue.add("member 3")
    assert queue.take() is light
    queue.finish(light)
    assert queue.take() is None
    queue.finish(heavy[0])
    assert queue.take() is heavy[-1]


def test_counts_of_clients_that_left_are_forgotten(queue: Queue) -> None:
    for number in range(100):
        job = queue.add(f"member {number}")
        queue.take()
        queue.finish(job)
    assert not queue.requests._running_counts
    assert not queue.requests._running_starts
    assert not queue.requests._waiting_counts
    assert queue.requests.waiting_count == 0


# --- Refusals ---------------------------------------------------------------------


def test_requests_of_one_client_are_limited(queue: Queue) -> None:
    for _ in range(MAX_CLIENT_REQUESTS):
        queue.add("member 1")
    assert not queue.refused
    one_more = queue.add("member 1")
    assert queue.refused == [one_more]
    error = queue.make_error(one_more)
    assert (error.status, error.headers["Retry-After"]) == (429, "1")
    queue.add("member 2")
    running = queue.take()
    assert running is not None
    queue.finish(running)
    queue.add("member 1")
    assert len(queue.refused) == 1


def test_full_queue_refuses_the_newest_request_of_the_heaviest(busy: Queue) -> None:
    busy.requests._usage.add("member 1", 5.0, busy.now)
    heavy = [busy.add("member 1") for _ in range(2)]
    # Each may hold a large body.
    for number in range(MAX_WAITING_REQUESTS - 2):
        busy.add(f"member {1_000 + number}")
    assert not busy.refused
    for refused in reversed(heavy):
        busy.add("member 2")
        assert busy.refused.pop() is refused
        assert busy.make_error(refused).status == 429
    assert busy.requests.waiting_count == MAX_WAITING_REQUESTS


def test_full_queue_without_a_heavy_client_is_unavailable(busy: Queue) -> None:
    for number in range(MAX_WAITING_REQUESTS + 1):
        busy.add(f"member {1_000 + number}")
    (refused,) = busy.refused
    assert refused.client == f"member {1_000 + MAX_WAITING_REQUESTS}"
    assert busy.make_error(refused).status == 503


def test_request_waits_five_seconds_at_most(busy: Queue) -> None:
    first = busy.add("member 1")
    assert busy.pass_time(MAX_WAIT_SECONDS / 2) == []
    second = busy.add("member 1")
    assert busy.pass_time(MAX_WAIT_SECONDS / 2 + 0.01) == [first]
    assert busy.make_error(first).status == 503
    assert busy.pass_time(MAX_WAIT_SECONDS / 2) == [second]
    assert busy.requests.waiting_count == 0


def test_heavy_client_that_waited_too_long_is_told_so(queue: Queue) -> None:
    held = [queue.add("member 1") for _ in range(4)]
    (overdue,) = queue.pass_time(MAX_WAIT_SECONDS + 0.01)
    assert overdue is held[-1]
    assert queue.make_error(overdue).status == 429


def test_rejected_request_is_never_taken(busy: Queue) -> None:
    busy.add("member 1")
    busy.pass_time(MAX_WAIT_SECONDS + 1)
    assert take_next(busy) is None


def test_request_that_a_thread_has_is_not_rejected(queue: Queue) -> None:
    queue.add("member 1")
    assert queue.pass_time(MAX_WAIT_SECONDS + 1) == []
