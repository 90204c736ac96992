"""An HTTP client with a persistent connection, and interleaved timing of calls."""

import http.client
import json
import statistics
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from devstack.stores.data_dir import LOOPBACK

TIMEOUT_SECONDS = 120
SUCCESSES = range(200, 300)
NO_RESPONSE = 0


class ResponseError(Exception):
    pass


@dataclass(frozen=True)
class Target:
    """A request to one server."""

    port: int
    path: str
    headers: Mapping[str, str]
    body: str | bytes = ""
    method: str = "GET"

    def sending(self, body: object, method: str = "POST") -> "Target":
        return self.sending_raw(json.dumps(body), "application/json", method)

    def sending_raw(
        self, body: str | bytes, content_type: str, method: str = "POST"
    ) -> "Target":
        headers = {**self.headers, "Content-Type": content_type}
        return replace(self, headers=headers, body=body, method=method)

    def uploading(self, field: str, content: bytes, **texts: str) -> "Target":
        """Return a request with a file, and fields of text before it."""
        boundary = uuid.uuid4().hex
        head = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
            f"{text}\r\n"
            for name, text in texts.items()
        )
        head += (
            f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; '
            'filename="file"\r\nContent-Type: application/octet-stream\r\n\r\n'
        )
        body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        return self.sending_raw(body, f"multipart/form-data; boundary={boundary}")


class Response(NamedTuple):
    status: int
    body: bytes = b""
    cookies: Sequence[str] = ()


class Client:
    """A connection to one server, opened again when it breaks."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.connection = http.client.HTTPConnection(
            LOOPBACK, target.port, timeout=TIMEOUT_SECONDS
        )

    def __del__(self) -> None:
        self.connection.close()

    def __call__(self) -> bytes:
        return self.send(self.target).body

    def send(self, target: Target) -> Response:
        """Raise ResponseError for a status other than 2xx."""
        response = self.exchange(target)
        if response.status not in SUCCESSES:
            raise ResponseError(
                f"{target.method} {target.path}: {response.status}"
                f" {response.body[:300]!r}"
            )
        return response

    def exchange(self, target: Target) -> Response:
        """Return any response, `NO_RESPONSE` if the connection broke."""
        body, headers = target.body or None, dict(target.headers)
        try:
            self.connection.request(target.method, target.path, body, headers)
            response = self.connection.getresponse()
            cookies = response.headers.get_all("Set-Cookie", [])
            return Response(response.status, response.read(), cookies)
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            return Response(NO_RESPONSE, repr(error).encode())


def get_json(target: Target) -> Any:
    return json.loads(Client(target)())


@dataclass(frozen=True)
class Series:
    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    def ratio_to(self, *others: "Series") -> float:
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
) -> dict[str, Series]:
    """Run all calls in turn, `repeats` times a round; return medians in seconds.

    Other load on the machine affects close calls alike. `set_up` is not timed.
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
        for name, values in durations.items():
            # The first round warms up.
            medians[name] += [statistics.median(values)] if number else []
    return {name: Series(tuple(values)) for name, values in medians.items()}


def percentile(values: Sequence[float], fraction: float) -> float:
    """Return the value below which `fraction` of the values lie."""
    index = min(len(values) - 1, int(len(values) * fraction))
    return sorted(values)[index] if values else 0.0
