"""What is counted for Prometheus.

Each process of the web server counts in a file of its own (`gunicorn.conf.py`), and
whichever is asked adds them up; without these files a process tells its own numbers.
No label carries what a member typed: paths are counted by their pattern.
"""

from prometheus_client import Counter, Gauge, Histogram

DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

request_count = Counter(
    "ledger_requests", "Requests answered.", ("method", "route", "status")
)
request_duration = Histogram(
    "ledger_request_seconds",
    "How long requests took.",
    ("method", "route"),
    buckets=DURATION_BUCKETS,
)
requests_in_flight = Gauge(
    "ledger_requests_in_flight",
    "Requests being answered right now.",
    multiprocess_mode="livesum",
)
database_connection_failures = Counter(
    "ledger_database_connection_failures", "Connections to PostgreSQL not had in time."
)
redis_failures = Counter(
    "ledger_fast_store_failures", "Calls to the fast store that failed."
)
