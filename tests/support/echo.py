"""An application for the web server that answers with what it got; limits are small."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from http.client import responses
from typing import Any

import django

django.setup()

from core import request_queue, rsgi  # noqa: E402
from core.request_clients import MEMBER_ID_KEY  # noqa: E402

rsgi.BODY_TIMEOUT_SECONDS = 0.5
rsgi.PARENT_CHECK_SECONDS = 0.3
request_queue.MAX_WAITING_REQUESTS = 2
request_queue.MAX_CLIENT_REQUESTS = 3
request_queue.MAX_WAIT_SECONDS = 2.0
HOLD_TIMEOUT_SECONDS = 20
# Handles and others are no answer.
JSON = (bool, int, str, list)
count = 0
is_released = threading.Event()


def block_soon() -> None:
    """Block the event loop, once this request is answered."""
    asyncio.get_running_loop().call_later(0.1, time.sleep, HOLD_TIMEOUT_SECONDS)


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
    "/block": lambda: application._loop.call_soon_threadsafe(block_soon),
    "/unread": lambda: None,
}


class Response(list[bytes]):
    def close(self) -> None:
        """Do nothing: the web server calls it, as PEP 3333 demands."""


def echo(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    global count
    answer: Any = None
    path = environ["PATH_INFO"]
    if token := environ.get("HTTP_AUTHORIZATION"):
        # "Bearer 7-phone" is a token of member 7.
        environ[MEMBER_ID_KEY] = int(token.removeprefix("Bearer ").partition("-")[0])
    count += not path.startswith("/api/health/")
    if path == "/fail":
        raise RuntimeError("a failure")
    if path in ANSWERS:
        answer = ANSWERS[path]()
        answer = answer if isinstance(answer, JSON) else None
    else:
        answer = {
            "length": len(environ["wsgi.input"].read()),
            "announced": environ.get("CONTENT_LENGTH", "0"),
            "environ": {k: v for k, v in environ.items() if isinstance(v, str)},
        }
    start_response(f"200 {responses[200]}", [("Content-Type", "application/json")])
    return Response([json.dumps(answer).encode()])


# "/short" takes no long body.
application: rsgi.ThreadedWSGIApplication = rsgi.ThreadedWSGIApplication(
    echo,
    2,
    lambda method, path: 20_000 if path == "/short" else rsgi.MAX_BODY_BYTES,
)
