"""An application for the web server that answers with what it got; limits are small."""

import json
import os
import time
from collections.abc import Iterable
from http.client import responses
from typing import Any

import django

django.setup()

from core import request_queue, rsgi  # noqa: E402

rsgi.BODY_TIMEOUT_SECONDS = 1.0
request_queue.MAX_WAITING_REQUESTS = 2
request_queue.MAX_CLIENT_REQUESTS = 4
# Between the two times that requests sleep.
request_queue.MAX_WAIT_SECONDS = request_queue.OVERLOAD_INTERVAL_SECONDS = 3.0
SLEEP_SECONDS, LONG_SLEEP_SECONDS = 1.0, 4.5
count = 0


class Response(list[bytes]):
    def close(self) -> None:
        """Do nothing: the web server calls it, as PEP 3333 demands."""


def echo(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    global count
    count += 1
    answer: Any = None
    match environ["PATH_INFO"]:
        case "/sleep":
            time.sleep(SLEEP_SECONDS)
        case "/sleep-long":
            time.sleep(LONG_SLEEP_SECONDS)
        case "/fail":
            raise RuntimeError("a failure")
        case "/count" | "/api/health/count":
            answer = count
        case "/large":
            answer = "x" * 20_000_000
        case "/pid":
            answer = os.getpid()
        case "/unread":
            pass
        case _:
            answer = {
                "length": len(environ["wsgi.input"].read()),
                "announced": environ.get("CONTENT_LENGTH", "0"),
                "environ": {k: v for k, v in environ.items() if isinstance(v, str)},
            }
    start_response(f"200 {responses[200]}", [("Content-Type", "application/json")])
    return Response([json.dumps(answer).encode()])


application = rsgi.ThreadedWSGIApplication(echo, 2)
