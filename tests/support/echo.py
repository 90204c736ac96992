"""An application for the web server that answers with what it got; limits are small."""

import json
import os
import threading
from collections.abc import Callable, Iterable
from http.client import responses
from typing import Any

import django

django.setup()

from core import request_queue, rsgi  # noqa: E402

rsgi.BODY_TIMEOUT_SECONDS = 0.5
rsgi.PARENT_CHECK_SECONDS = 0.3
request_queue.MAX_WAITING_REQUESTS = 2
request_queue.MAX_CLIENT_REQUESTS = 4
request_queue.MAX_WAIT_SECONDS = request_queue.OVERLOAD_INTERVAL_SECONDS = 2.0
HOLD_TIMEOUT_SECONDS = 20
count = 0
is_released = threading.Event()


def read_load() -> list[int]:
    requests = application._requests
    return [requests.busy_thread_count, requests.waiting_count]


ANSWERS: dict[str, Callable[[], Any]] = {
    "/wait": lambda: is_released.wait(HOLD_TIMEOUT_SECONDS),
    "/api/health/hold": is_released.clear,
    "/api/health/release": is_released.set,
    "/api/health/release-soon": lambda: threading.Timer(0.5, is_released.set).start(),
    "/api/health/load": read_load,
    "/api/health/count": lambda: count,
    "/count": lambda: count,
    "/large": lambda: "x" * 20_000_000,
    "/pid": os.getpid,
    "/unread": lambda: None,
}


class Response(list[bytes]):
    def close(self) -> None:
        """Do nothing: the web server calls it, as PEP 3333 demands."""


def echo(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    global count
    answer: Any = None
    path = environ["PATH_INFO"]
    count += not path.startswith("/api/health/")
    if path == "/fail":
        raise RuntimeError("a failure")
    if path in ANSWERS:
        answer = ANSWERS[path]()
    else:
        answer = {
            "length": len(environ["wsgi.input"].read()),
            "announced": environ.get("CONTENT_LENGTH", "0"),
            "environ": {k: v for k, v in environ.items() if isinstance(v, str)},
        }
    start_response(f"200 {responses[200]}", [("Content-Type", "application/json")])
    return Response([json.dumps(answer).encode()])


application = rsgi.ThreadedWSGIApplication(echo, 2)
