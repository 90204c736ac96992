"""A client's connection, and the record of all answers."""

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from benchmarks.client import NO_RESPONSE, Client, Target

# The service may still work on a request without an answer.
SETTLE_SECONDS = 1.0
RETRY_SECONDS = 0.2
MAX_OUTAGE_SECONDS = 60.0
OK, SERVER_ERROR, UNAVAILABLE = 200, 500, 503
# The write may or may not have been done.
UNCERTAIN = {NO_RESPONSE, UNAVAILABLE}


class Answer(NamedTuple):
    status: int
    body: Any

    @property
    def code(self) -> str:
        return self.body.get("code", "") if self.status >= 400 else ""


class OutageError(Exception):
    """The service did not come back in time."""


@dataclass
class Record:
    statuses: Counter[int] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    server_errors: list[str] = field(default_factory=list)
    uncertain: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add_answer(self, request: str, answer: Answer) -> None:
        with self.lock:
            self.statuses[answer.status] += 1
            if answer.code:
                self.codes[f"{answer.status} {answer.code}"] += 1
            if answer.status == SERVER_ERROR:
                self.server_errors.append(f"{request}: {answer.body}")

    def add_operation(self, name: str) -> None:
        with self.lock:
            self.operations[name] += 1


@dataclass
class Connection:
    port: int
    token: str
    record: Record
    sent: int = 0

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        self.target = Target(self.port, "", headers)
        self.client = Client(self.target)

    def send(self, method: str, path: str, body: Any = None) -> Answer:
        """Send one request once; `NO_RESPONSE` if the connection broke."""
        self.sent += 1
        target = Target(self.port, path, self.target.headers, method=method)
        if body is not None:
            target = target.sending(body, method)
        status, content, _ = self.client.exchange(target)
        shown = content[:1] in {b"{", b"["}
        answer = Answer(
            status, json.loads(content, parse_float=Decimal) if shown else {}
        )
        self.record.add_answer(f"{method} {path} {body}", answer)
        return answer

    def get(self, path: str) -> Any:
        """Send a GET until the service answers it."""
        end = time.monotonic() + MAX_OUTAGE_SECONDS
        while (answer := self.send("GET", path)).status != OK:
            if answer.status not in UNCERTAIN:
                self.report(f"GET {path}: {answer}")
                raise OutageError(f"GET {path}: {answer}")
            if time.monotonic() > end:
                raise OutageError(f"GET {path}: {answer}")
            time.sleep(RETRY_SECONDS)
        return answer.body

    def get_pages(self, path: str) -> list[Any]:
        results: list[Any] = []
        number, page = 0, {"next": path}
        while page["next"]:
            number += 1
            page = self.get(f"{path}?size=100&page={number}")
            results += page["results"]
        return results

    def settle(self) -> None:
        with self.record.lock:
            self.record.uncertain += 1
        time.sleep(SETTLE_SECONDS)

    def report(self, text: str) -> None:
        with self.record.lock:
            self.record.differences.append(text)

    def expect(self, text: str, expected: object, actual: object) -> None:
        if expected != actual:
            self.report(f"{text}: expected {expected}, not {actual}")
