"""The settings of gunicorn; see its manual for their meaning."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from gunicorn import util  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).parent))

from config import env

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
env.validate_settings_or_exit()

CODE_BY_STATUS = {414: "URI_TOO_LONG", 431: "HEADERS_TOO_LARGE", 500: "INTERNAL_ERROR"}


def write_error_response(socket: Any, status: int, reason: str, message: str) -> None:
    """Send the errors that gunicorn finds itself in the format of the API's errors."""
    code = CODE_BY_STATUS.get(status, "BAD_REQUEST")
    problem = {"type": "about:blank", "title": reason, "status": status}
    body = json.dumps(problem | {"detail": f"{reason}.", "code": code})
    lines = (
        f"HTTP/1.1 {status} {reason}",
        "Connection: close",
        "Content-Type: application/problem+json",
        f"Content-Length: {len(body)}",
    )
    util.write_nonblock(socket, "\r\n".join((*lines, "", body)).encode("ascii"))


util.write_error = write_error_response


def read_positive_int(name: str, default: int) -> int:
    value = os.environ.get(name, "").strip() or str(default)
    if not (value.isascii() and value.isdigit() and int(value)):
        raise SystemExit(f"{name} must be a whole number from 1, not {value!r}.")
    return int(value)


wsgi_app = "config.wsgi:application"
bind = (
    os.environ.get("BIND", "").strip() or f"127.0.0.1:{read_positive_int('PORT', 8000)}"
)
worker_class = "gthread"
workers = read_positive_int("WEB_CONCURRENCY", 2)
# More threads of one process share a core: a longer p99 for no gain.
threads = read_positive_int("WEB_THREADS", 4)
preload_app = False  # each worker opens its own connection pool

limit_request_line = 8190  # a filter by Korean words is long in a URL

timeout = 30
graceful_timeout = 10
keepalive = 75  # longer than proxies keep idle connections
max_requests = 20_000
max_requests_jitter = 2_000

# The heartbeat file must not be on a disk: a slow one stalls the worker.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108

# The application evaluates X-Forwarded-* itself (TRUSTED_PROXY_COUNT).
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}

accesslog = None  # the application logs requests
errorlog = "-"
loglevel = os.environ.get("LOG_LEVEL", "").strip().lower() or "info"
control_socket_disable = True

if os.environ.get("METRICS_TOKEN", "").strip():
    root = Path(__file__).parent / os.environ.get("DATA_DIR", "var")
    os.environ.setdefault(
        "PROMETHEUS_MULTIPROC_DIR",
        str(root / f"metrics-{bind.rpartition(':')[2].replace('/', '_')}"),
    )


def on_starting(server: Any) -> None:
    """Check the database's limits; delete the metrics of the previous run."""
    from core.db.limits import check_database_limits_or_exit

    check_database_limits_or_exit()
    if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        shutil.rmtree(folder, ignore_errors=True)
        Path(folder).mkdir(parents=True)


def pre_fork(server: Any, worker: Any) -> None:
    """Give the worker the lowest free number, which names its metrics files.

    A new worker goes on with the files of one that has ended, so that their number
    does not grow.
    """
    used = {other.metrics_number for other in server.WORKERS.values()}
    worker.metrics_number = next(n for n in range(len(used) + 1) if n not in used)


def post_fork(server: Any, worker: Any) -> None:
    """Make prometheus_client name its files by the worker's number."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client import values

        number = str(worker.metrics_number)
        values.ValueClass = values.MultiProcessValue(  # type: ignore[no-untyped-call]
            lambda: number
        )


def child_exit(server: Any, worker: Any) -> None:
    """Remove the gauges of requests in progress that the worker had."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.metrics_number)  # type: ignore[no-untyped-call]
