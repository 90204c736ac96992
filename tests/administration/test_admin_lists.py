"""Lists of Django admin: filters, read-only rows, and cost at a million rows."""

from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditLogEntry, Member
from board.models import Image
from core.admin import base as lists
from core.jobs.models import JobRun
from tests.support.admin_site import (
    COMMENTS,
    IMAGES,
    LOG,
    MEMBERS,
    POSTS,
    RUNS,
    get_page,
    record_statements,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member
from tests.support.purchases import make_purchase, make_store_notification

PURCHASES = "/admin/billing/purchase/"
NOTIFICATIONS = "/admin/billing/storenotification/"
# What grows with the service.
TABLES = (
    *("member", "iap_purchase", "store_notification", "job_run", "django_admin_log"),
    *("board_post", "board_comment", "board_image"),
)


def list_statements(browser: JSONClient, path: str) -> list[str]:
    with record_statements() as statements:
        get_page(browser, path)
    return statements


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("role", "ADMIN"), ("status", "SUSPENDED")),
        *(("plan", "PREMIUM"), ("provider", "IDP")),
    ],
)
def test_members_are_filtered(browser: JSONClient, name: str, value: str) -> None:
    make_member(login_id="others")
    make_member(login_id="wanted", **{name: value})
    assert f"?{name}__exact={value}" in get_page(browser, MEMBERS), "a link leads there"
    page = get_page(browser, MEMBERS, **{f"{name}__exact": value})
    assert ">wanted<" in page
    assert ">others<" not in page


def test_nothing_of_a_members_ledger_is_in_the_admin() -> None:
    shown = {model._meta.label for model in admin.site._registry}
    assert shown == {
        *("accounts.ApplicationSetting", "accounts.Member", "accounts.AuditLogEntry"),
        *("ledger.DefaultCategory", "jobs.JobRun", "billing.Purchase"),
        *("billing.StoreNotification", "board.Comment", "board.Image"),
        *("accounts.LegalDocument", "accounts.Announcement", "board.ModerationCase"),
        *("board.Post", "django_celery_beat.PeriodicTask"),
    }


def test_store_notifications_are_shown_and_not_changed(browser: JSONClient) -> None:
    kept = make_store_notification(
        '{"message": 1}', message_id="m-1", kind="subscription 4"
    )
    make_store_notification(message_id="m-2")
    found = get_page(browser, NOTIFICATIONS, q="m-1")
    assert "subscription 4" in found
    assert ">test<" not in found
    page = get_page(browser, f"{NOTIFICATIONS}{kept.pk}/change/")
    assert "{&quot;message&quot;: 1}" in page
    for path in ("add/", f"{kept.pk}/delete/"):
        refused = browser.post(f"{NOTIFICATIONS}{path}", {"post": "yes"})
        assert refused.status_code == 403
    change = browser.post(f"{NOTIFICATIONS}{kept.pk}/change/", {"outcome": "REFRESHED"})
    assert change.status_code == 403
    kept.refresh_from_db()
    assert kept.outcome == "PENDING"


@pytest.mark.parametrize(
    "path", [MEMBERS, NOTIFICATIONS, PURCHASES, RUNS, LOG, POSTS, COMMENTS, IMAGES]
)
def test_no_list_reads_a_table_whole_or_images_and_hashes(
    browser: JSONClient,
    administrator: Member,
    monkeypatch: pytest.MonkeyPatch,
    path: Any,
) -> None:
    # Every statement over rows that grow has a limit, choices of filters too.
    monkeypatch.setattr(lists.ListAdmin, "list_per_page", 1)
    fill(administrator)
    found = [s for s in list_statements(browser, path) if s.startswith("SELECT")]
    for statement in found:
        if "ORDER BY" in statement:
            assert "member.profile_image" not in statement, statement
            assert "member.password" not in statement, statement
    read = [s for s in found if any(f"FROM {table} " in f"{s} " for table in TABLES)]
    assert read
    for statement in read:
        is_one = ".id = " in statement or ".pk = " in statement
        assert "LIMIT" in statement or is_one, statement


@pytest.mark.parametrize(
    ("path", "index"),
    [
        (f"{PURCHASES}?q=GPA.0", "iap_purchase_unique_order"),
        (f"{NOTIFICATIONS}?q=m-1", "store_notification_message_id"),
    ],
)
def test_search_for_a_whole_id_takes_its_index(
    browser: JSONClient, administrator: Member, path: str, index: str
) -> None:
    # At any size of the table: sequential scans are disabled here.
    fill(administrator)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        with CaptureQueriesContext(connection) as queries:
            get_page(browser, path)
        found = [each["sql"] for each in queries if "ORDER BY" in each["sql"]]
        cursor.execute(f"EXPLAIN {found[-1]}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert f"Scan using {index}" in plan or f"Scan on {index}" in plan, plan


@pytest.mark.parametrize("term", ["GPA.0", "buyer", "BUYER"])
def test_purchase_is_found_by_its_order_and_by_its_buyer(
    browser: JSONClient, term: str
) -> None:
    make_purchase(make_member(login_id="buyer"), "GPA.0")
    make_purchase(make_member(), "GPA.00")
    page = get_page(browser, PURCHASES, q=term)
    assert ">GPA.0<" in page
    assert ">GPA.00<" not in page


def test_runs_are_filtered_by_the_jobs_that_the_code_knows(browser: JSONClient) -> None:
    now = timezone.now()
    for name in ("expire_plans", "purge_images"):
        JobRun.objects.create(job=name, state="DONE", started_at=now, count=4711)
    assert get_page(browser, RUNS).count(">4,711<") == 2
    assert get_page(browser, RUNS, job="expire_plans").count(">4,711<") == 1


def fill(administrator: Member) -> None:
    """Create two rows in each list."""
    now = timezone.now()
    for number in range(2):
        member = make_member()
        make_purchase(member, f"GPA.{number}")
        make_comment(member)
        Image.objects.create(member=member, content=b"x", width=1, height=1, size=1)
        JobRun.objects.create(job=f"job {number}", state="DONE", started_at=now)
        make_store_notification()
        AuditLogEntry.objects.create(
            actor_id=administrator.pk, target_label="x", action="CHANGE", target_id="1"
        )


def test_page_of_a_row_offers_no_choice_of_members(
    browser: JSONClient, administrator: Member
) -> None:
    # A select of a million options would never load.
    member, other = make_member(), make_member(login_id="somebody")
    purchase = make_purchase(member, "GPA.1")
    entry = AuditLogEntry.objects.create(
        actor_id=administrator.pk, target_label="x", action="CHANGE", target_id="1"
    )
    for path in (
        f"{PURCHASES}{purchase.pk}/change/",
        f"{LOG}{entry.pk}/change/",
        f"{MEMBERS}{member.pk}/change/",
    ):
        page = get_page(browser, path)
        assert "<option" not in page
        assert other.login_id not in page


@pytest.mark.parametrize(
    "query",
    [
        *({"plan__exact": "\0"}, {"q": "\0"}, {"created_at__year": "99999"}),
        *({"password__startswith": "a"}, {"sessions__key_hash__startswith": "a"}),
    ],
)
def test_filter_that_the_list_does_not_offer_is_refused(
    browser: JSONClient, query: dict[str, Any]
) -> None:
    assert browser.get(MEMBERS, query).status_code == 400


@pytest.mark.parametrize("path", [POSTS, COMMENTS])
def test_day_that_is_none_is_left_out_of_a_filter(
    browser: JSONClient, path: Any
) -> None:
    # Django leads back to the list without it.
    assert browser.get(path, {"created_at__year": "99999"}).status_code == 400
    response = browser.get(path, {"created_at__gte": "99999-01-01"})
    assert (response.status_code, response.headers["Location"]) == (302, f"{path}?e=1")


@pytest.mark.parametrize("page", ["", "change/", "delete/", "history/"])
def test_address_with_nul_is_refused(browser: JSONClient, page: str) -> None:
    path = f"/admin/accounts/applicationsetting/%00/{page}"
    assert browser.get(path).status_code == 400


@pytest.mark.parametrize("chosen", ["abc", "\0", "1.5", "-1", "٣", "9" * 30])
def test_choice_that_is_no_id_changes_nothing(browser: JSONClient, chosen: str) -> None:
    form = {"action": "make_member", "_selected_action": chosen, "index": "0"}
    statuses = {200, 302} if chosen.startswith("9") else {400}
    assert browser.post(MEMBERS, form).status_code in statuses
