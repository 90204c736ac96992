"""Open-loop load: requests leave at fixed times, whether the last were answered.

    python -m benchmarks.openloop < plan > answers

It goes on until a line comes after the plan, or its input ends. A slow answer
delays nothing but itself, and its time counts from the moment that was planned, so
that a server that stands still is seen as its clients see it.
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
NO_RESPONSE = 0
"""The status of a request that got no answer."""


@dataclass(frozen=True)
class LoadPlan:
    """`rate` requests a second, going round `paths` and `tokens`."""

    port: int
    rate: int
    paths: Sequence[str]
    tokens: Sequence[str]


@dataclass(frozen=True)
class TimedResponse:
    """When it was planned (seconds since the epoch), what came and after how long."""

    planned_at: float
    seconds: float
    status: int
    path: str
    retry_after: str | None
    text: str
    """The beginning of an answer that is not 200."""

    @property
    def arrived_at(self) -> float:
        return self.planned_at + self.seconds


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class LoadGenerator:
    """One event loop with as many connections as there are requests under way."""

    plan: LoadPlan
    idle: deque[Streams] = field(default_factory=deque)
    responses: list[TimedResponse] = field(default_factory=list)

    async def run(self) -> list[TimedResponse]:
        """Ask until we are told to stop; then wait for what is under way."""
        stopped = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
        begin = time.time()
        tasks = []
        for number in range(int(self.plan.rate * MAX_DURATION_SECONDS)):
            planned = begin + number / self.plan.rate
            await asyncio.sleep(max(0.0, planned - time.time()))
            if stopped.done():
                break
            tasks.append(asyncio.create_task(self.send_request(number, planned)))
        await asyncio.gather(*tasks)
        return self.responses

    async def send_request(self, number: int, planned: float) -> None:
        path = self.plan.paths[number % len(self.plan.paths)]
        # Members change more slowly than paths: each asks for everything.
        token = self.plan.tokens[number // len(self.plan.paths) % len(self.plan.tokens)]
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
                status, headers, body = await self.exchange(path, token)
        except (OSError, EOFError, TimeoutError) as error:
            status, headers, body = NO_RESPONSE, {}, type(error).__name__.encode()
        self.responses.append(
            TimedResponse(
                planned,
                time.time() - planned,
                status,
                path,
                headers.get("retry-after"),
                "" if status == OK else body.decode(errors="replace")[:200],
            )
        )

    async def exchange(
        self, path: str, token: str
    ) -> tuple[int, dict[str, str], bytes]:
        if self.idle:
            reader, writer = self.idle.pop()
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
        except BaseException:
            writer.close()
            raise
        self.idle.append((reader, writer))
        return int(first.split(" ")[1]), headers, body


def start_load(plan: LoadPlan) -> subprocess.Popen[str]:
    """The generator in a process of its own, under way."""
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
    """Stop the load; all answers, in the order in which they came."""
    output, _ = process.communicate("\n", timeout=4 * REQUEST_TIMEOUT_SECONDS)
    return [TimedResponse(**each) for each in json.loads(output)]


def main() -> None:
    plan = LoadPlan(**json.loads(sys.stdin.readline()))
    answers = asyncio.run(LoadGenerator(plan).run())
    json.dump([asdict(answer) for answer in answers], sys.stdout)


if __name__ == "__main__":
    main()
