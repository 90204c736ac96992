"""Prometheus metrics.

Paths are counted by URL pattern: labels never hold client input.
"""

from prometheus_client import Counter, Gauge, Histogram

DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

request_count = Counter(
    "ledger_requests", "Completed requests.", ("method", "route", "status")
)
request_duration = Histogram(
    "ledger_request_seconds",
    "Duration of requests.",
    ("method", "route"),
    buckets=DURATION_BUCKETS,
)
requests_in_flight = Gauge(
    "ledger_requests_in_flight",
    "Requests in progress.",
    multiprocess_mode="livesum",
)
rejected_request_count = Counter(
    "ledger_rejected_requests",
    "Requests refused before the application: too slow, too long, too many.",
    ("code",),
)
database_connection_failures = Counter(
    "ledger_database_connection_failures",
    "Failed attempts to get a connection to PostgreSQL.",
)
transaction_conflicts = Counter(
    "ledger_transaction_conflicts",
    "Transactions that PostgreSQL ended by a deadlock or a serialization failure.",
)
image_count = Counter(
    "ledger_images",
    "Uploaded images: stored, refused, failed (the decoder ended), or busy.",
    ("outcome",),
)
object_store_failures = Counter(
    "ledger_object_store_failures", "Failed calls to the store of images."
)
redis_failures = Counter("ledger_fast_store_failures", "Failed calls to Valkey.")
security_events = Counter(
    "ledger_security_events",
    "Logins, sign-ups, changed plans and so on.",
    ("event",),
)

# The label `pid` is the number of the process's files.
process_memory = Gauge(
    "ledger_process_resident_bytes",
    "Resident memory of a process of the web server.",
    multiprocess_mode="liveall",
)
process_open_files = Gauge(
    "ledger_process_open_files",
    "Open files and connections of a process of the web server.",
    multiprocess_mode="liveall",
)
process_cpu_seconds = Counter(
    "ledger_process_cpu_seconds", "Processor time of the web server's processes."
)
threads = Gauge(
    "ledger_threads", "Threads that answer requests.", multiprocess_mode="livesum"
)
busy_threads = Gauge(
    "ledger_threads_busy",
    "Threads that are answering a request.",
    multiprocess_mode="livesum",
)
waiting_requests = Gauge(
    "ledger_requests_waiting",
    "Requests that wait for a thread.",
    multiprocess_mode="livesum",
)
pool_connections = Gauge(
    "ledger_database_pool_connections",
    "Connections of the pools to PostgreSQL, by state.",
    ("state",),
    multiprocess_mode="livesum",
)
pool_waiting = Gauge(
    "ledger_database_pool_waiting",
    "Threads that wait for a connection of the pool.",
    multiprocess_mode="livesum",
)
