"""gunicorn's settings, read by gunicorn itself; see its manual for their meaning."""

import os
from pathlib import Path


def read_number(name: str, default: int) -> int:
    value = os.environ.get(name, "").strip() or str(default)
    if not (value.isascii() and value.isdigit() and int(value)):
        raise SystemExit(f"{name} must be a whole number from 1, not {value!r}.")
    return int(value)


wsgi_app = "config.wsgi:application"
bind = os.environ.get("BIND", "").strip() or f"127.0.0.1:{read_number('PORT', 8000)}"
worker_class = "gthread"
workers = read_number("WEB_CONCURRENCY", 2)
threads = read_number("WEB_THREADS", 4)  # more share one core: a longer p99, no gain
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
