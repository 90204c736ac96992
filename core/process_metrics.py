"""Metrics of a process of the web server."""

import resource
import time
from pathlib import Path

from django.db import connections

from core import metrics
from core.request_queue import RequestQueue

PAGE_BYTES = resource.getpagesize()
# Linux only.
PROCESS_FILES = Path("/proc/self")

_counted_cpu_seconds = 0.0


def update_process_metrics(requests: RequestQueue) -> None:
    """Count the processor time since the last call."""
    global _counted_cpu_seconds
    cpu_seconds = time.process_time()
    metrics.process_cpu_seconds.inc(max(0.0, cpu_seconds - _counted_cpu_seconds))
    _counted_cpu_seconds = cpu_seconds
    if PROCESS_FILES.exists():
        pages = int((PROCESS_FILES / "statm").read_text().split()[1])
        metrics.process_memory.set(pages * PAGE_BYTES)
        metrics.process_open_files.set(sum(1 for _ in (PROCESS_FILES / "fd").iterdir()))
    metrics.threads.set(requests.thread_count)
    metrics.busy_threads.set(requests.busy_thread_count)
    metrics.waiting_requests.set(requests.waiting_count)
    update_pool_metrics()


def update_pool_metrics() -> None:
    # All threads share the pool of a database.
    pool = connections["default"]._connection_pools.get("default")  # type: ignore[attr-defined]  # noqa: SLF001
    if pool is None:
        return
    stats = pool.get_stats()
    idle = stats.get("pool_available", 0)
    metrics.pool_connections.labels("idle").set(idle)
    metrics.pool_connections.labels("used").set(stats.get("pool_size", 0) - idle)
    metrics.pool_waiting.set(stats.get("requests_waiting", 0))
