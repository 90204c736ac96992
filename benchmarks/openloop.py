"""Open-loop load: requests are sent at fixed times, without waiting for responses.

    python -m benchmarks.openloop < plan > responses

It runs until a second line arrives on standard input, or its end. A slow response does
not delay other requests, and durations count from the planned time, so that a pause of
the server shows in the figures as clients experience it (no coordinated omission).
"""

import asyncio
import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from devstack.stores.data_dir import LOOPBACK

REQUEST_TIMEOUT_SECONDS = 15.0
MAX_DURATION_SECONDS = 900.0
OK = 200
# The status recorded for a request without a response.
NO_RESPONSE = 0


@dataclass(frozen=True)
class LoadPlan:
    """`rate` requests a second, cycling through `paths` and `tokens`."""

    port: int
    rate: int
    paths: Sequence[str]
    tokens: Sequence[str]


@dataclass(frozen=True)
class TimedResponse:
    """The response to a request planned for `planned_at` (seconds since the epoch)."""

    planned_at: float
    seconds: float
    status: int
    path: str
    retry_after: str | None
    # The beginning of the body if the status is not 200.
    text: str

    @property
    def arrived_at(self) -> float:
        return self.planned_at + self.seconds


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class LoadGenerator:
    """Sender of the planned requests, with one connection per pending request."""

    plan: LoadPlan
    idle_connections: deque[Connection] = field(default_factory=deque)
    responses: list[TimedResponse] = field(default_factory=list)

    async def run(self) -> list[TimedResponse]:
        """Send requests until a line arrives; then wait for the pending responses."""
        stopped = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
        started_at = time.time()
        tasks = []
        for number in range(int(self.plan.rate * MAX_DURATION_SECONDS)):
            planned_at = started_at + number / self.plan.rate
            await asyncio.sleep(max(0.0, planned_at - time.time()))
            if stopped.done():
                break
            tasks.append(asyncio.create_task(self.send_request(number, planned_at)))
        await asyncio.gather(*tasks)
        return self.responses

    async def send_request(self, number: int, planned_at: float) -> None:
        path = self.plan.paths[number % len(self.plan.paths)]
        # The token changes after each cycle of paths: each member requests every path.
        token = self.plan.tokens[number // len(self.plan.paths) % len(self.plan.tokens)]
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
                status, headers, body = await self.exchange(path, token)
        except (OSError, EOFError, TimeoutError) as error:
            status, headers, body = NO_RESPONSE, {}, type(error).__name__.encode()
        self.responses.append(
            TimedResponse(
                planned_at,
                time.time() - planned_at,
                status,
                path,
                headers.get("retry-after"),
                "" if status == OK else body.decode(errors="replace")[:200],
            )
        )

    async def exchange(
        self, path: str, token: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request on an idle connection, or a new one if there is none."""
        # The server closes connections that are idle for long.
        while self.idle_connections and self.idle_connections[-1][0].at_eof():
            self.idle_connections.pop()[1].close()
        if self.idle_connections:
            reader, writer = self.idle_connections.pop()
        else:
            reader, writer = await asyncio.open_connection(LOOPBACK, self.plan.port)
        lines = [f"GET {path} HTTP/1.1", f"Host: {LOOPBACK}:{self.plan.port}"]
        lines += [f"Authorization: Bearer {token}", "", ""]
        try:
            writer.write("\r\n".join(lines).encode())
            head = await reader.readuntil(b"\r\n\r\n")
            first, *rest = head.decode("latin-1").strip().split("\r\n")
            pairs = (line.split(": ", 1) for line in rest)
            headers = {name.lower(): value for name, value in pairs}
            body = await reader.readexactly(int(headers["content-length"]))
        except BaseException:  # a timeout cancels this coroutine
            writer.close()
            raise
        if headers.get("connection") == "close":
            writer.close()
        else:
            self.idle_connections.append((reader, writer))
        return int(first.split(" ")[1]), headers, body


def start_load(plan: LoadPlan) -> subprocess.Popen[str]:
    """Start the generator in a subprocess."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.openloop"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    if process.stdin:
        process.stdin.write(json.dumps(asdict(plan)) + "\n")
    return process


def stop_load(process: subprocess.Popen[str]) -> list[TimedResponse]:
    """Stop the load and return all responses in the order of arrival."""
    output, _ = process.communicate("\n", timeout=4 * REQUEST_TIMEOUT_SECONDS)
    return [TimedResponse(**response) for response in json.loads(output)]


def main() -> None:
    plan = LoadPlan(**json.loads(sys.stdin.readline()))
    responses = asyncio.run(LoadGenerator(plan).run())
    json.dump([asdict(response) for response in responses], sys.stdout)


if __name__ == "__main__":
    main()
