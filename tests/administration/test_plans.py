"""Statements of jobs, dashboard and metrics read no large table as a whole."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.members.suspensions import end_suspensions
from accounts.models import AuditLogEntry, RateLimit
from accounts.tasks import run_purge, run_send_mail
from administration import dashboard, metrics_view
from administration.daily_metrics import save_daily_metrics
from administration.imports import purge_old_imports
from administration.operations import purge_old_operations
from administration.request_keys import purge_keys
from administration.tombstones import purge_old_tombstones
from administration.unsure_texts import purge_old_texts
from billing.models import StoreNotification
from billing.tasks import run_expire_plans, run_process_store_notifications
from board.image_objects import delete_due_objects, has_due_objects
from board.images import purge_unused_images
from board.models import Image, ObjectDeletion, OutsideReport, Post, PostImage
from board.moderation.expiry import finish_moderation
from ledger.tasks import process_recurring_rules
from tests.support.admin_site import logged_in_browser
from tests.support.factories import make_member
from tests.support.large_tables import collect_scans, fill_tables
from tests.support.whole_accounts import give_everything

NOW = timezone.now()
FIRST, LAST = 1, 1_000
JOBS: dict[str, Callable[[], Any]] = {
    "purge_sessions": lambda: run_purge(NOW),
    "lift_suspensions": lambda: end_suspensions(NOW),
    "send_mail": lambda: run_send_mail(NOW),
    "snapshot_daily_metrics": lambda: save_daily_metrics(NOW),
    "expire_plans": lambda: run_expire_plans(NOW),
    "process_store_notifications": lambda: run_process_store_notifications(NOW),
    "end_moderation": lambda: finish_moderation(NOW),
    "purge_images": lambda: purge_unused_images(NOW),
    "delete_image_objects": lambda: (has_due_objects(NOW), delete_due_objects(NOW)),
    "purge_imports": lambda: purge_old_imports(NOW, FIRST, LAST),
    "purge_request_keys": lambda: purge_keys(NOW, FIRST, LAST),
    "purge_operations": lambda: purge_old_operations(NOW, FIRST, LAST),
    "purge_tombstones": lambda: purge_old_tombstones(NOW, FIRST, LAST),
    "purge_unsure_texts": lambda: purge_old_texts(NOW, FIRST, LAST),
    "run_recurring": lambda: process_recurring_rules(NOW, FIRST, LAST),
}
# Tables that a job has to read as a whole, with the reason.
ALLOWED = {
    ("purge_sessions", "inbox_item"): "counts the items of every member, daily",
    ("purge_images", "board_image"): "compares all images with their links, daily",
    ("purge_images", "board_post_image"): "as the images",
    # All sessions are of the last weeks; the figure is given up after 2 seconds.
    ("dashboard", "auth_session"): "counts the members of the last 30 days",
}


@pytest.fixture(scope="module")
def large_tables(shared_rows: Any) -> None:
    shared_rows(fill)


def fill() -> None:
    """Create a row of each large table, and copy it."""
    member = make_member()
    give_everything(member)
    AuditLogEntry.objects.create(
        actor_id=member.pk, action="CHANGE", target_type="x", target_id="1"
    )
    RateLimit.objects.create(key="key", attempts=[NOW], expires_at=NOW)
    StoreNotification.objects.create(sealed_body=b"x", message_id="1")
    OutsideReport.objects.create(
        target_type="POST", target_id=1, reason="SPAM", code_hash=b"x", expires_at=NOW
    )
    due = NOW + timedelta(days=1)
    ObjectDeletion.objects.create(key="a", delete_after=due, next_attempt_at=due)
    image = Image.objects.get()
    PostImage.objects.create(post=Post.objects.earliest("id"), image=image)
    fill_tables()


def test_every_job_is_here() -> None:
    assert set(JOBS) == set(settings.CELERY_BEAT_SCHEDULE)


@pytest.mark.parametrize("job", JOBS)
def test_job_scans_no_large_table(large_tables: None, job: str) -> None:
    with collect_scans() as scans:
        JOBS[job]()
    unexpected = [scan for scan in scans if (job, scan.table) not in ALLOWED]
    assert not unexpected, "\n".join(map(str, unexpected))


def test_metrics_scan_no_large_table(
    large_tables: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_view, "STATEMENT_TIMEOUT", "60s")
    with collect_scans() as scans:
        text = metrics_view.render_metrics().decode()
    assert 'ledger_store_up{store="database"} 1.0' in text
    assert not scans, "\n".join(map(str, scans))


def test_dashboard_scans_no_large_table(
    large_tables: None,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A statement that is given up is not planned to its end.
    for name in ("QUERY_TIMEOUT_SECONDS", "PAGE_TIMEOUT_SECONDS"):
        monkeypatch.setattr(dashboard, name, 60.0)
    browser = logged_in_browser(make_member(role="ADMIN"))
    with collect_scans() as scans:
        page = browser.get("/admin/")
    assert page.status_code == 200
    assert not caplog.records
    unexpected = [scan for scan in scans if ("dashboard", scan.table) not in ALLOWED]
    assert not unexpected, "\n".join(map(str, unexpected))


def test_scan_of_a_large_table_is_found(large_tables: None) -> None:
    with collect_scans() as scans:
        assert not Post.objects.filter(title__contains="no such title").exists()
    assert [scan.table for scan in scans] == ["board_post"]
