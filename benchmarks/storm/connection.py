"""A client's connection, and the record of what the service answered to all."""

import http.client
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from devstack.stores.data_dir import LOOPBACK

# Above every time limit of the service.
TIMEOUT_SECONDS = 60.0
# After a request without an answer, so that what it may still do is done.
SETTLE_SECONDS = 1.0
RETRY_SECONDS = 0.2
MAX_OUTAGE_SECONDS = 60.0
NO_ANSWER, SERVER_ERROR, UNAVAILABLE = 0, 500, 503
# The write may or may not have been done.
UNCERTAIN = {NO_ANSWER, UNAVAILABLE}


class Answer(NamedTuple):
    status: int
    body: Any

    @property
    def code(self) -> str:
        """Return the code of an error, "" for any other answer."""
        return self.body.get("code", "") if self.status >= 400 else ""


class OutageError(Exception):
    """The service did not come back in time."""


@dataclass
class Record:
    """Counts of all clients, and what was wrong."""

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

    @property
    def operation_count(self) -> int:
        return self.operations.total()

    def add_operation(self, name: str) -> None:
        with self.lock:
            self.operations[name] += 1

    def add_uncertain(self) -> None:
        with self.lock:
            self.uncertain += 1

    def add_difference(self, text: str) -> None:
        with self.lock:
            self.differences.append(text)


@dataclass
class Connection:
    """A persistent connection with a member's token; reopened when it breaks."""

    port: int
    token: str
    record: Record
    sent: int = 0
    _connection: http.client.HTTPConnection | None = None

    def send(self, method: str, path: str, body: Any = None) -> Answer:
        """Send one request once; status 0 if the connection broke or timed out."""
        self.sent += 1
        answer = self._exchange(method, path, body)
        self.record.add_answer(f"{method} {path} {body}", answer)
        return answer

    def get(self, path: str) -> Any:
        """Return the body of a GET, which is sent until the service answers it."""
        end = time.monotonic() + MAX_OUTAGE_SECONDS
        while True:
            answer = self.send("GET", path)
            if answer.status == http.client.OK:
                return answer.body
            if answer.status not in UNCERTAIN:
                self.record.add_difference(f"GET {path}: {answer}")
                raise OutageError(f"GET {path}: {answer}")
            if time.monotonic() > end:
                raise OutageError(f"GET {path}: {answer}")
            time.sleep(RETRY_SECONDS)

    def get_pages(self, path: str) -> list[Any]:
        """Return the results of all pages of a list."""
        results: list[Any] = []
        sign = "&" if "?" in path else "?"
        number = 1
        while True:
            page = self.get(f"{path}{sign}size=100&page={number}")
            results += page["results"]
            if page["next"] is None:
                return results
            number += 1

    def settle(self) -> None:
        """Wait until what was sent without an answer is done or gone."""
        self.record.add_uncertain()
        time.sleep(SETTLE_SECONDS)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self, method: str, path: str, body: Any) -> Answer:
        headers = {"Authorization": f"Bearer {self.token}"}
        text = None
        if body is not None:
            text = json.dumps(body)
            headers["Content-Type"] = "application/json"
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection(
                    LOOPBACK, self.port, timeout=TIMEOUT_SECONDS
                )
            self._connection.request(method, path, text, headers)
            response = self._connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            return Answer(NO_ANSWER, {"error": repr(error)})
        is_json = "json" in (response.headers["Content-Type"] or "")
        return Answer(
            response.status,
            json.loads(content, parse_float=Decimal) if is_json and content else None,
        )
