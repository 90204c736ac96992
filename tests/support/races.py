"""Run callables at once, each in a thread with a database connection of its own."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connections

START_TIMEOUT_SECONDS = 20


def run_concurrently(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What the calls returned, in their order; all start behind one barrier.

    An exception in a thread is raised here. Connections are given back, so that
    none outlives its thread.
    """
    barrier = threading.Barrier(len(calls), timeout=START_TIMEOUT_SECONDS)

    def run(call: Callable[[], Any]) -> Any:
        try:
            barrier.wait()
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=len(calls)) as pool:
        futures = [pool.submit(run, call) for call in calls]
    return [future.result() for future in futures]


def sorted_statuses(responses: Sequence[Any]) -> list[int]:
    """The status codes, sorted; in an assertion they tell what won."""
    return sorted(response.status_code for response in responses)
