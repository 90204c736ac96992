"""`/metrics` for Prometheus: counters, and gauges read at the scrape."""

import os
import secrets
import time
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Count, Min, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views import View
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector
from redis import Redis

from accounts.members.counters import count_members
from accounts.models import Mail, Member
from accounts.security.events import count_from_zero
from billing.models import Purchase, StoreNotification
from billing.stores import TEST_STORE
from board.models import ObjectDeletion, PostCount
from core import object_store, redis_client
from core.db.postgresql import liveness
from core.db.standby import count_waiting_commits
from core.jobs.models import JobRun
from core.jobs.status import JobStatus, list_job_statuses
from ledger.models import NotificationCount

# A scrape must not add to the load of a database in trouble.
DATABASE_TIMEOUT_SECONDS = 2.0
STATEMENT_TIMEOUT = "1s"
# Recorded by `script/backup`.
BACKUP_JOB = "backup"


class MetricsView(View):
    """Metrics for METRICS_TOKEN as bearer token, 404 for others."""

    def get(self, request: HttpRequest) -> HttpResponse:
        expected = f"Bearer {settings.METRICS_TOKEN}".encode()
        given = request.headers.get("Authorization", "").encode()
        # Without METRICS_TOKEN no token is valid.
        if not settings.METRICS_TOKEN or not secrets.compare_digest(given, expected):
            raise Http404
        return HttpResponse(render_metrics(), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def render_metrics() -> bytes:
    count_from_zero()
    counters: CollectorRegistry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        # Adds up the counters of all worker processes.
        counters = CollectorRegistry()
        MultiProcessCollector(counters)  # type: ignore[no-untyped-call]
    gauges = CollectorRegistry()
    gauges.register(ServiceCollector())
    return generate_latest(counters) + generate_latest(gauges)


class ServiceCollector:
    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily(
            "ledger_store_up", "1 if the store answers.", labels=["store"]
        )
        up.add_metric(["fast_store"], float(redis_client.is_reachable()))
        if object_store.is_configured():
            up.add_metric(["image_store"], float(object_store.is_reachable()))
        yield from queue_metrics()
        try:
            with (
                liveness.database_timeout(DATABASE_TIMEOUT_SECONDS),
                transaction.atomic(),
                connection.cursor() as cursor,
            ):
                cursor.execute(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT}'")
                statuses = list_job_statuses()
                commits = count_waiting_commits()
                backups = list(backup_metrics())
                mails = list(mail_metrics(timezone.now()))
                deletions = list(deletion_metrics(timezone.now()))
                waiting = StoreNotification.objects.filter(processed_at=None).count()
                business = list(business_metrics(timezone.now()))
        except DatabaseError:
            up.add_metric(["database"], 0)
            yield up
            return
        up.add_metric(["database"], 1)
        yield up
        yield from job_metrics(statuses)
        yield from backups
        yield from mails
        yield from deletions
        yield GaugeMetricFamily(
            "ledger_commits_waiting",
            "Commits that have waited for a standby for seconds.",
            value=commits,
        )
        yield GaugeMetricFamily(
            "ledger_store_notifications_waiting",
            "App store notifications that are not handled yet.",
            value=waiting,
        )
        yield from business


def queue_metrics() -> Iterator[GaugeMetricFamily]:
    """Return length and age of each queue of jobs; nothing without Valkey."""
    length = GaugeMetricFamily(
        "ledger_job_queue_length", "Tasks that wait for a worker.", labels=["queue"]
    )
    age = GaugeMetricFamily(
        "ledger_job_queue_oldest_seconds",
        "Age of the oldest task that waits for a worker; 0 of an empty queue.",
        labels=["queue"],
    )
    prefix = settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"]
    try:
        for queue in settings.CELERY_TASK_QUEUES:
            count, oldest = redis_client.call(
                partial(read_queue, key=f"{prefix}{queue.name}")
            )
            length.add_metric([queue.name], float(count))
            age.add_metric([queue.name], read_age(oldest, time.time()))
    except redis_client.RedisUnavailableError:
        return
    yield from (length, age)


def read_queue(client: Redis, key: str) -> tuple[int, bytes | None]:
    """Return the number of tasks and the oldest one, which is taken from the right."""
    count: Any = client.llen(key)
    oldest: Any = client.lindex(key, -1)
    return count, oldest


def read_age(message: bytes | None, now: float) -> float:
    """Return the seconds since a task was sent; earlier releases send no time."""
    if message is None:
        return 0.0
    sent_at = orjson.loads(message)["headers"].get("sent_at", now)
    return max(0.0, now - float(sent_at))


def business_metrics(now: datetime) -> Iterator[Metric]:
    members = GaugeMetricFamily(
        "ledger_members", "Members by their plan now.", labels=["plan"]
    )
    for plan in Member.Plan.values:
        members.add_metric([plan], count_members(now, plan=plan))
    posts = GaugeMetricFamily("ledger_posts", "Posts by category.", labels=["category"])
    for row in PostCount.objects.all():
        posts.add_metric([row.category], row.posts)
    subscriptions = GaugeMetricFamily(
        "ledger_subscriptions", "Paid subscriptions that run.", labels=["product"]
    )
    running = Purchase.objects.filter(is_active=True, expires_at__gt=now).order_by()
    running = running.exclude(store=TEST_STORE)
    for product, count in running.values_list("product_id").annotate(Count("id")):
        subscriptions.add_metric([product], count)
    notifications = CounterMetricFamily(
        "ledger_card_notifications",
        "Card notifications that were received.",
        labels=["recognized"],
    )
    counts = NotificationCount.objects.order_by().values_list("is_recognized")
    for is_recognized, count in counts.annotate(Sum("count")):
        notifications.add_metric([str(is_recognized).lower()], float(count))
    yield from (members, posts, subscriptions, notifications)


def mail_metrics(now: datetime) -> Iterator[GaugeMetricFamily]:
    waiting = Mail.objects.filter(state=Mail.State.WAITING)
    found = waiting.aggregate(count=Count("id"), oldest=Min("created_at"))
    oldest = found["oldest"] or now
    yield GaugeMetricFamily(
        "ledger_mails_waiting", "Mails that are not sent yet.", value=found["count"]
    )
    yield GaugeMetricFamily(
        "ledger_mail_oldest_seconds",
        "Age of the oldest mail that is not sent yet; 0 without one.",
        value=max(0.0, (now - oldest).total_seconds()),
    )


def deletion_metrics(now: datetime) -> Iterator[GaugeMetricFamily]:
    due = ObjectDeletion.objects.filter(delete_after__lte=now)
    oldest = due.aggregate(oldest=Min("delete_after"))["oldest"] or now
    yield GaugeMetricFamily(
        "ledger_image_deletion_oldest_seconds",
        "How long the oldest object without an image has been due for its deletion.",
        value=max(0.0, (now - oldest).total_seconds()),
    )


def backup_metrics() -> Iterator[GaugeMetricFamily]:
    """Return nothing where `script/backup` has never run: there are other ways."""
    runs = JobRun.objects.filter(job=BACKUP_JOB).order_by("-started_at", "-id")
    last = runs.first()
    if last is None:
        return
    yield GaugeMetricFamily(
        "ledger_backup_failed",
        "1 if the last backup failed.",
        value=float(last.state == JobRun.State.FAILED),
    )
    done = runs.filter(state=JobRun.State.DONE).first()
    if done is not None:
        yield GaugeMetricFamily(
            "ledger_backup_last_success_timestamp_seconds",
            "Start of the last backup that was written and checked.",
            value=done.started_at.timestamp(),
        )


def job_metrics(statuses: list[JobStatus]) -> Iterator[GaugeMetricFamily]:
    interval = job_gauge("interval_seconds", "Interval of the job.")
    started = job_gauge("last_run_timestamp_seconds", "Start of the last run.")
    succeeded = job_gauge(
        "last_success_timestamp_seconds", "Start of the last successful run."
    )
    rows = job_gauge("last_run_rows", "Rows handled by the last run.")
    state = job_gauge("last_run_state", "1 for the state of the last run.", "state")
    for job in statuses:
        interval.add_metric([job.name], job.interval.total_seconds())
        if job.started_at:
            started.add_metric([job.name], job.started_at.timestamp())
        if job.last_success_at:
            succeeded.add_metric([job.name], job.last_success_at.timestamp())
        if job.count is not None:
            rows.add_metric([job.name], job.count)
        for each in (JobRun.State.RUNNING, JobRun.State.DONE, JobRun.State.FAILED):
            state.add_metric([job.name, each.lower()], float(job.state == each))
    yield from (interval, started, succeeded, rows, state)


def job_gauge(name: str, documentation: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(
        f"ledger_job_{name}", documentation, labels=["job", *labels]
    )
