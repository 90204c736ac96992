"""gunicorn's settings, read by gunicorn itself; see its manual for their meaning."""

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
    """What gunicorn refuses before the application is asked, as a problem too."""
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
threads = read_positive_int(
    "WEB_THREADS", 4
)  # more share one core: a longer p99, no gain
preload_app = False  # each worker opens its own pool of connections

limit_request_line = 8190  # a filter in Korean letters is long in an address

timeout = 30
graceful_timeout = 10
keepalive = 75  # longer than a proxy keeps its idle connections
max_requests = 20_000
max_requests_jitter = 2_000

# A heartbeat file on a disk can stall a worker; memory cannot.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108

# The application decides about X-Forwarded-*, by TRUSTED_PROXY_COUNT.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}

accesslog = None  # the application writes a line per request
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
    """The counts of the last run are not ours."""
    if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        shutil.rmtree(folder, ignore_errors=True)
        Path(folder).mkdir(parents=True)


def pre_fork(server: Any, worker: Any) -> None:
    """A worker goes on with the counts of one that ended, so files do not pile up."""
    taken = {other.place for other in server.WORKERS.values()}
    worker.place = next(n for n in range(len(taken) + 1) if n not in taken)


def post_fork(server: Any, worker: Any) -> None:
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client import values

        place = f"{worker.place}"
        values.ValueClass = values.MultiProcessValue(  # type: ignore[no-untyped-call]
            lambda: place
        )


def child_exit(server: Any, worker: Any) -> None:
    """What it had under way is under way no more."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.place)  # type: ignore[no-untyped-call]
