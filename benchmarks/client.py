"""One client with a kept connection, and timing of contenders in turn."""

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
    """What is asked for, and as whom."""

    port: int
    path: str
    headers: Headers

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}{self.path}"


class Client:
    """Asks for one target again and again; anything but 200 ends the run."""

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
    """The medians of one contender, round by round, in seconds."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    def ratio_to(self, *others: "Timing") -> float:
        """The ratio to the sum of others, taken round by round."""
        sums = map(sum, zip(*(other.rounds for other in others), strict=True))
        pairs = zip(self.rounds, sums, strict=True)
        return float(statistics.median(own / other for own, other in pairs))


Calls = Mapping[str, Callable[[], object]]


def time_interleaved(
    calls: Calls,
    rounds: int,
    repeats: int,
    before: Callable[[str], object] = lambda _: None,
) -> dict[str, Timing]:
    """Each call once, then the next, `repeats` times a round; `before` is not timed.

    So neighbours in time share the machine's mood; a round gives a median.
    """
    found: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):  # the first one warms up
        spent: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(repeats):
            for name, call in calls.items():
                before(name)
                started = time.perf_counter()
                call()
                spent[name].append(time.perf_counter() - started)
        if number:
            for name, values in spent.items():
                found[name].append(statistics.median(values))
    return {name: Timing(tuple(values)) for name, values in found.items()}


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
