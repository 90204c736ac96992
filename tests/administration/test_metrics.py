"""`/metrics`: access and contents."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import Mail, Member
from billing.models import Purchase
from board.models import ObjectDeletion
from core.jobs.models import JobRun
from core.middleware import PrometheusMiddleware
from core.process_metrics import update_process_metrics
from core.request_queue import RequestQueue
from ledger.models import NotificationCount
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_post
from tests.support.images import draw
from tests.support.object_store import FakeObjectStore
from tests.support.purchases import make_store_notification
from tests.support.stores import (
    disconnect_database,
    find_closed_port,
    redis_at,
    run_valkey,
    send_task,
)

TOKEN = "a-token-of-the-operators"
ALLOWED: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {TOKEN}"}


@pytest.fixture(autouse=True)
def is_open(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


def read() -> dict[Any, Any]:
    """Return samples by name and sorted labels."""
    response = JSONClient().get("/metrics", **ALLOWED)
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/plain")
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(response.content.decode())
        for sample in family.samples
    }


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer ключ"]
)
def test_metrics_are_not_there_without_the_token(header: Any) -> None:
    assert JSONClient().get("/metrics", HTTP_AUTHORIZATION=header).status_code == 404


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer None"])
def test_metrics_are_not_there_without_the_setting(header: str, settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    assert JSONClient().get("/metrics", HTTP_AUTHORIZATION=header).status_code == 404


def test_jobs_have_the_state_and_time_of_their_last_run() -> None:
    now = timezone.now()
    JobRun.objects.create(job="expire_plans", state="DONE", started_at=now, count=4)
    samples, job = read(), ("job", "expire_plans")
    assert samples["ledger_job_last_run_rows", job] == 4
    assert samples["ledger_job_interval_seconds", job] == 3600
    good = samples["ledger_job_last_success_timestamp_seconds", job]
    assert good == pytest.approx(now.timestamp())
    assert samples["ledger_job_last_run_state", job, ("state", "done")] == 1
    assert samples["ledger_job_last_run_state", job, ("state", "failed")] == 0
    assert samples["ledger_store_up", ("store", "database")] == 1
    assert samples["ledger_store_notifications_waiting",] == 0


def test_notifications_of_the_store_that_wait_are_counted() -> None:
    for handled in (None, None, timezone.now()):
        make_store_notification(
            processed_at=handled, outcome="REFRESHED" if handled else "PENDING"
        )
    assert read()["ledger_store_notifications_waiting",] == 2


def test_unreachable_valkey_is_reported() -> None:
    with redis_at(f"redis://127.0.0.1:{find_closed_port()}/0"):
        samples = read()
    assert samples["ledger_store_up", ("store", "fast_store")] == 0
    assert samples["ledger_store_up", ("store", "database")] == 1


def test_metrics_are_available_while_the_database_is_down() -> None:
    with disconnect_database():
        samples = read()
    assert samples["ledger_store_up", ("store", "database")] == 0
    assert ("ledger_job_interval_seconds", ("job", "expire_plans")) not in samples


def test_scrape_reads_the_same_few_rows_however_many_runs_there_were(
    django_assert_num_queries: Any,
) -> None:
    now = timezone.now()
    runs = [JobRun(job="expire_plans", state="DONE", started_at=now) for _ in range(50)]
    JobRun.objects.bulk_create(runs)
    with django_assert_num_queries(16):
        read()


def test_mails_that_wait_are_counted_with_their_age(free_member: Member) -> None:
    before = read()
    assert before["ledger_mails_waiting",] == before["ledger_mail_oldest_seconds",] == 0
    now = timezone.now()
    for minutes in (1, 20):
        Mail.objects.create(
            member=free_member,
            template="email_change",
            message_id=f"<{minutes}@example.com>",
            content=b"sealed",
            created_at=now - timedelta(minutes=minutes),
            expires_at=now + timedelta(days=1),
        )
    after = read()
    assert after["ledger_mails_waiting",] == 2
    age = after["ledger_mail_oldest_seconds",]
    assert age == pytest.approx(1_200, abs=60)


def test_images_are_counted_by_their_outcome(free_member: Member) -> None:
    client = JSONClient(free_member)
    before = read()
    for content in (draw(), b"no image"):
        file = SimpleUploadedFile("lunch.png", content, "image/png")
        client.post("/api/board/images", {"image": file})
    after = read()
    for outcome in ("stored", "refused"):
        key = "ledger_images_total", ("outcome", outcome)
        assert after[key] - before.get(key, 0) == 1


def test_backups_are_told_of_once_there_was_one() -> None:
    assert not [name for name, *_ in read() if name.startswith("ledger_backup")]
    now = timezone.now().replace(microsecond=0)
    day = timedelta(days=1)
    JobRun.objects.create(
        job="backup", state="FAILED", started_at=now - 2 * day, ended_at=now
    )
    samples = read()
    assert samples["ledger_backup_failed",] == 1
    assert ("ledger_backup_last_success_timestamp_seconds",) not in samples
    JobRun.objects.create(job="backup", state="DONE", started_at=now - day)
    JobRun.objects.create(job="backup", state="FAILED", started_at=now)
    samples = read()
    assert samples["ledger_backup_failed",] == 1
    last = samples["ledger_backup_last_success_timestamp_seconds",]
    assert last == (now - day).timestamp()
    JobRun.objects.create(job="backup", state="DONE", started_at=now)
    assert read()["ledger_backup_failed",] == 0


def test_failures_of_the_stores_are_counted(free_member: Member) -> None:
    client = JSONClient(free_member)
    names = (
        "ledger_fast_store_failures_total",
        "ledger_database_connection_failures_total",
    )
    before = read()
    with redis_at(f"redis://127.0.0.1:{find_closed_port()}/0"):
        assert client.send("GET", "/api/auth/session").status_code == 200
    with disconnect_database():
        assert client.send("GET", "/api/account/wallets").status_code == 503
    after = read()
    for name in names:
        assert after[name,] > before[name,], name


def test_members_posts_subscriptions_and_notifications_are_counted() -> None:
    premium = make_member(plan="PREMIUM")
    make_member()
    make_post(premium, category="tips")
    now = timezone.now()
    # Those that try the store out do not count.
    for number, (store, days) in enumerate(
        (("google", 30), ("google", -1), ("test", 30))
    ):
        Purchase.objects.create(
            member=premium,
            store=store,
            order_id=str(number),
            token_hash="t",
            product_id="premium_yearly",
            purchased_at=now,
            expires_at=now + timedelta(days=days),
            auto_renew=True,
            checked_at=now,
        )
    for shard, count in enumerate((3, 4)):
        NotificationCount.objects.create(
            day=now.date(), is_recognized=True, shard=shard, count=count
        )
    samples = read()
    assert samples["ledger_members", ("plan", "PREMIUM")] == 1
    assert samples["ledger_members", ("plan", "FREE")] == 1
    assert samples["ledger_posts", ("category", "tips")] == 1
    assert samples["ledger_subscriptions", ("product", "premium_yearly")] == 1
    assert samples["ledger_card_notifications_total", ("recognized", "true")] == 7


def test_tasks_that_no_worker_has_taken_are_counted_with_their_age() -> None:
    task = "ledger.tasks.run_recurring"
    with run_valkey() as server:
        empty = read()
        assert empty["ledger_job_queue_length", ("queue", "long")] == 0
        assert empty["ledger_job_queue_oldest_seconds", ("queue", "long")] == 0
        with time_machine.travel(timezone.now() - timedelta(seconds=90), tick=False):
            send_task(server, task)
        send_task(server, task)
        send_task(server, "accounts.tasks.send_mail")
        samples = read()
    assert samples["ledger_job_queue_length", ("queue", "long")] == 2
    assert samples["ledger_job_queue_length", ("queue", "celery")] == 1
    age = samples["ledger_job_queue_oldest_seconds", ("queue", "long")]
    assert age == pytest.approx(90, abs=20)
    assert samples["ledger_job_queue_oldest_seconds", ("queue", "celery")] < 20


def test_task_of_an_earlier_release_has_no_age() -> None:
    with run_valkey() as server:
        server.run("LPUSH", "jobs:celery", '{"headers": {}}')
        samples = read()
    assert samples["ledger_job_queue_length", ("queue", "celery")] == 1
    assert samples["ledger_job_queue_oldest_seconds", ("queue", "celery")] == 0


@pytest.mark.django_db(transaction=True)
def test_logins_are_counted_by_their_outcome() -> None:
    member = make_member(password="correct-horse-9")
    before = read()
    for password in ("correct-horse-9", "wrong-horse-9", "wrong-horse-9"):
        body = {"loginId": member.login_id, "password": password}
        JSONClient().send("POST", "/api/auth/login", body)
    after, name = read(), "ledger_security_events_total"

    def added(event: str) -> float:
        key = name, ("event", event)
        return float(after[key] - before[key])

    assert (added("LOGIN"), added("LOGIN_FAILED")) == (1, 2)
    # An alert on its increase sees the first change of a role, too.
    assert after[name, ("event", "ROLE_CHANGED")] >= 0


def test_process_metrics_are_those_of_this_process() -> None:
    requests = RequestQueue(4, 3, 2)
    update_process_metrics(requests)
    first = REGISTRY.get_sample_value("ledger_process_cpu_seconds_total")
    assert first is not None
    sum(range(3_000_000))
    update_process_metrics(requests)
    second = REGISTRY.get_sample_value("ledger_process_cpu_seconds_total")
    assert second is not None
    assert second > first
    assert REGISTRY.get_sample_value("ledger_threads") == 4
    assert REGISTRY.get_sample_value("ledger_threads_busy") == 0
    memory = REGISTRY.get_sample_value("ledger_process_resident_bytes")
    assert memory is not None
    assert memory > 10 * 2**20


def count_of(method: str, route: Any, status: Any) -> Any:
    labels = {"method": method, "route": route, "status": status}
    return REGISTRY.get_sample_value("ledger_requests_total", labels) or 0


def list_labels() -> str:
    """Return the values of all labels; samples may hold any digits."""
    families = REGISTRY.collect()
    samples = (sample for family in families for sample in family.samples)
    return " ".join(value for sample in samples for value in sample.labels.values())


def answer(request: HttpRequest) -> HttpResponse:
    return HttpResponse(status=202)


def test_request_is_counted_by_the_pattern_of_its_address(settings: Any) -> None:
    settings.MIDDLEWARE = ["core.middleware.PrometheusMiddleware"]
    route = "/api/account/entries/<int:entry_id>"
    before = count_of("GET", route, "401")
    Client().get("/api/account/entries/4711")
    assert count_of("GET", route, "401") == before + 1
    assert "4711" not in list_labels()


@pytest.mark.parametrize("path", ["/made-up-4712", "/api/made-up-4712"])
def test_addresses_that_do_not_exist_count_as_one(settings: Any, path: str) -> None:
    settings.MIDDLEWARE = ["core.middleware.PrometheusMiddleware"]
    Client().get(path)
    assert count_of("GET", "other", "404") > 0
    assert "4712" not in list_labels()


def test_method_that_is_made_up_is_no_label() -> None:
    request = RequestFactory().generic("MADEUP", "/")
    PrometheusMiddleware(answer)(request)
    assert count_of("other", "other", "202") > 0
    assert "MADEUP" not in list_labels()


def test_request_that_raises_is_no_longer_in_progress() -> None:
    def fail(request: HttpRequest) -> HttpResponse:
        raise Http404

    with pytest.raises(Http404):
        PrometheusMiddleware(fail)(RequestFactory().get("/"))
    assert REGISTRY.get_sample_value("ledger_requests_in_flight") == 0


def test_store_of_images_is_watched_where_it_is_set_up(
    image_store: FakeObjectStore,
) -> None:
    up = ("ledger_store_up", ("store", "image_store"))
    assert read()[up] == 1
    image_store.stop()
    assert read()[up] == 0


def test_store_of_images_is_not_named_where_there_is_none() -> None:
    assert ("ledger_store_up", ("store", "image_store")) not in read()


def test_age_of_what_is_to_be_deleted_counts_from_the_deletion() -> None:
    name = ("ledger_image_deletion_oldest_seconds",)
    assert read()[name] == 0
    now = timezone.now()
    for key, minutes in (("a", 90), ("b", 5), ("c", -60)):
        due = now - timedelta(minutes=minutes)
        # A failed attempt does not change the age.
        later = now + timedelta(minutes=30)
        ObjectDeletion.objects.create(key=key, delete_after=due, next_attempt_at=later)
    assert 90 * 60 <= read()[name] < 120 * 60
