"""`/metrics` for Prometheus: what was counted, and what the stores know right now."""

import os
import secrets
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.views import View
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector

from core import redis_client
from core.db.postgresql import liveness
from core.jobs.models import JobRun
from core.jobs.status import JobStatus, list_job_statuses

DATABASE_TIMEOUT_SECONDS = 2.0
STATEMENT_TIMEOUT = "1s"
"""What takes longer is left out: a scrape must not add to a database's trouble."""


class MetricsView(View):
    """Open to whoever sends METRICS_TOKEN as bearer token; else not there."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if not has_valid_token(request):
            raise Http404
        return HttpResponse(render_metrics(), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def has_valid_token(request: HttpRequest) -> bool:
    """Compared in constant time; without the setting nobody is."""
    expected = f"Bearer {settings.METRICS_TOKEN}".encode()
    given = request.headers.get("Authorization", "").encode()
    return bool(settings.METRICS_TOKEN) and secrets.compare_digest(given, expected)


def render_metrics() -> bytes:
    """Prometheus' text format, of all processes of this web server."""
    counted: CollectorRegistry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    present = CollectorRegistry()
    present.register(ServiceCollector())
    return generate_latest(counted) + generate_latest(present)


class ServiceCollector:
    """What is read when Prometheus asks."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        up = GaugeMetricFamily("ledger_store_up", "1 if it answers.", labels=["store"])
        up.add_metric(["fast_store"], float(redis_client.is_reachable()))
        try:
            states, waiting = get_database_metrics()
        except DatabaseError:
            up.add_metric(["database"], 0)
            yield up
            return
        up.add_metric(["database"], 1)
        yield up
        yield from job_metrics(states)
        if waiting is not None:
            yield GaugeMetricFamily(
                "ledger_store_notifications_waiting",
                "Notifications of the store that are not handled yet.",
                value=waiting,
            )


def get_database_metrics() -> tuple[list[JobStatus], int | None]:
    with liveness.database_timeout(DATABASE_TIMEOUT_SECONDS), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT}'")
        return list_job_statuses(), count_waiting_notifications()


def count_waiting_notifications() -> int | None:
    """Of the store; None before the table is there."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('store_notification')")
        if cursor.fetchone()[0] is None:
            return None
        cursor.execute(
            "SELECT count(*) FROM store_notification WHERE handled_at IS NULL"
        )
        waiting: int = cursor.fetchone()[0]
        return waiting


def job_metrics(states: list[JobStatus]) -> Iterator[GaugeMetricFamily]:
    interval = job_gauge("interval_seconds", "How often it runs.")
    started = job_gauge("last_run_timestamp_seconds", "When its last run began.")
    good = job_gauge("last_success_timestamp_seconds", "When its last good run began.")
    rows = job_gauge("last_run_rows", "Rows that its last run dealt with.")
    current = job_gauge("last_run_state", "1 for the state of its last run.", "state")
    for job in states:
        interval.add_metric([job.name], job.interval.total_seconds())
        if job.started_at:
            started.add_metric([job.name], job.started_at.timestamp())
        if job.last_success_at:
            good.add_metric([job.name], job.last_success_at.timestamp())
        if job.count is not None:
            rows.add_metric([job.name], job.count)
        for state in (JobRun.State.RUNNING, JobRun.State.DONE, JobRun.State.FAILED):
            current.add_metric([job.name, state.lower()], float(job.state == state))
    yield from (interval, started, good, rows, current)


def job_gauge(name: str, about: str, *labels: Any) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"ledger_job_{name}", about, labels=["job", *labels])
