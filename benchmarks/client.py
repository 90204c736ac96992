"""An HTTP client with a persistent connection, and interleaved timing of calls."""

import http.client
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from devstack.stores.data_dir import LOOPBACK

REQUEST_TIMEOUT_SECONDS = 60
Headers = Mapping[str, str]


@dataclass(frozen=True)
class Target:
    """A path on one server, with the headers that authenticate the member.

    With a body, which is JSON, the request is a POST.
    """

    port: int
    path: str
    headers: Headers
    body: str = ""

    @property
    def method(self) -> str:
        return "POST" if self.body else "GET"

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}{self.path}"


class Client:
    """Callable that sends GET to one target; raises AssertionError unless 200."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.connection = http.client.HTTPConnection(
            LOOPBACK, target.port, timeout=REQUEST_TIMEOUT_SECONDS
        )

    def __call__(self) -> bytes:
        self.connection.request(
            "GET", self.target.path, headers=dict(self.target.headers)
        )
        response = self.connection.getresponse()
        body = response.read()
        if response.status != http.client.OK:
            raise AssertionError(
                f"{self.target.path}: {response.status} {body[:300]!r}"
            )
        return body


@dataclass(frozen=True)
class Timing:
    """The median duration of one call in each round, in seconds."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    def ratio_to(self, *others: "Timing") -> float:
        """Return the median over the rounds of the ratio to the sum of `others`."""
        sums = map(sum, zip(*(other.rounds for other in others), strict=True))
        pairs = zip(self.rounds, sums, strict=True)
        return float(statistics.median(own / other for own, other in pairs))


Calls = Mapping[str, Callable[[], object]]


def time_interleaved(
    calls: Calls,
    rounds: int,
    repeats: int,
    set_up: Callable[[str], object] = lambda _: None,
) -> dict[str, Timing]:
    """Run all calls in turn, `repeats` times a round; return medians per round.

    Calls that are compared run close to each other in time, so that other load on the
    machine affects them alike. `set_up` gets the name of the call and is not timed.
    """
    medians: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        durations: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(repeats):
            for name, call in calls.items():
                set_up(name)
                started = time.perf_counter()
                call()
                durations[name].append(time.perf_counter() - started)
        if number > 0:  # the first round warms up
            for name, values in durations.items():
                medians[name].append(statistics.median(values))
    return {name: Timing(tuple(values)) for name, values in medians.items()}


def percentile(values: Sequence[float], fraction: float) -> float:
    """Return the value below which `fraction` of the values lie; 0 without values."""
    if not values:
        return 0.0
    index = int(len(values) * fraction)
    return sorted(values)[min(len(values) - 1, index)]
