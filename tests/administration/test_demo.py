"""`load_demo`: an installation with something to see on every page."""

from collections.abc import Iterator
from datetime import datetime
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import Member
from administration.daily_metrics import get_time_series, save_daily_metrics
from administration.dashboard import build_dashboard
from administration.demo.loader import LOGINS
from billing.models import Purchase
from billing.plan_expiry import run_expiry
from tests.support.board import find_counter_drift
from tests.support.clients import JSONClient
from tests.support.rollups import assert_rollups_are_right

PASSWORD = "correct-horse-9"


NOON = datetime.fromisoformat("2026-11-21T12:00:00+09:00")


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture(scope="module")
def printed(shared_rows: Any) -> str:
    """Load the demo for all tests; return what the command has printed."""

    def load_after_the_daily_job() -> str:
        save_daily_metrics(timezone.now())
        return load()

    with time_machine.travel(NOON, tick=False):
        return str(shared_rows(load_after_the_daily_job))


@pytest.fixture(autouse=True)
def _database(printed: str, db: None) -> None: ...


def load() -> str:
    out = StringIO()
    call_command("load_demo", password=PASSWORD, stdout=out)
    return out.getvalue()


def log_in(login_id: str) -> JSONClient:
    client = JSONClient()
    body = {"loginId": login_id, "password": PASSWORD}
    answer = client.send("POST", "/api/auth/login", body)
    assert answer.status_code == 200
    client.use_token(answer.data["token"])
    return client


def test_printed_logins_have_each_plan_and_role(printed: str) -> None:
    kinds = {}
    for login in LOGINS:
        assert f"{login.kind:9} {login.login_id:14} {PASSWORD}" in printed
        profile = log_in(login.login_id).get_json("/api/auth/profile")
        kinds[login.login_id] = (profile["plan"], profile["role"])
    assert kinds == {
        "demo-free": ("FREE", "MEMBER"),
        "demo-premium": ("PREMIUM", "MEMBER"),
        "demo-moderator": ("FREE", "MODERATOR"),
        "demo-admin": ("FREE", "ADMIN"),
    }


def test_queue_has_reports_a_held_post_and_an_appeal() -> None:
    moderator = log_in("demo-moderator")
    page = moderator.get_json("/api/moderation/cases")
    cases = [(case["kind"], case["targetType"]) for case in page["results"]]
    assert cases == [
        ("REPORT", "POST"),
        ("REPORT", "COMMENT"),
        ("HELD", "POST"),
        ("STAFF", "POST"),
    ]
    assert [case["appealed"] for case in page["results"]] == [False] * 3 + [True]
    assert page["results"][0]["reportCount"] == 3
    resolved = moderator.get_json("/api/moderation/cases", status="RESOLVED")
    (blind,) = resolved["results"]
    assert blind["blindUntil"] is not None
    found = moderator.get_json(f"/api/moderation/cases/{blind['id']}")
    assert found["outsideReports"][0]["name"]


def test_free_member_reads_why_a_post_is_blind_and_may_object() -> None:
    phone = log_in("demo-free")
    (item,) = phone.get_json("/api/inbox")["results"]
    told = phone.get_json(f"/api/inbox/{item['id']}/case")
    assert (told["action"], told["reason"]) == ("BLIND", "PERSONAL_DATA")
    assert told["appealUntil"] is not None


def test_every_page_of_an_application_has_something_to_show() -> None:
    client = log_in("demo-premium")
    account = "/api/account"
    month = client.get_json(f"{account}/statistics/month", year=2026, month=10)
    assert month["income"] > 0
    assert client.get_json(f"{account}/trades")
    assert client.get_json(f"{account}/networth")["assets"] > 0
    hot, notice, *others = client.get_json("/api/board/posts")["results"]
    assert hot["hot"]
    assert notice["notice"]
    assert len(others) >= 7
    post = client.get_json(f"/api/board/posts/{hot['id']}")
    path = post["content"].partition('<img src="')[2].partition('"')[0]
    assert JSONClient().get(path).headers["Content-Type"].startswith("image/")
    comments = client.get_json(f"/api/board/posts/{hot['id']}/comments")
    assert len(comments["results"]) == 3


def test_dashboard_has_a_figure_for_each_of_the_30_days() -> None:
    dashboard = build_dashboard(timezone.now())
    charts = [chart for section in dashboard.sections for chart in section.charts]
    assert len(charts) >= 8
    assert not [name for section in dashboard.sections for name in section.missing]


def test_sign_ups_and_entries_are_shown_although_the_daily_job_ran_before() -> None:
    now = timezone.now()
    for name in ("sign_ups", "entries"):
        *past, _ = get_time_series(name, timezone.localdate(now))
        assert sum(filter(None, past)) > 10


def test_plans_follow_the_purchases_and_no_job_ends_them() -> None:
    premium = Member.objects.filter(plan="PREMIUM").count()
    running = Purchase.objects.filter(expires_at__gt=timezone.now())
    assert premium == running.count() + 1
    assert Purchase.objects.count() > running.count()
    assert set(running.values_list("auto_renew", flat=True)) == {True, False}
    run_expiry(timezone.now())
    assert Member.objects.filter(plan="PREMIUM").count() == premium


def test_counters_and_totals_are_right() -> None:
    assert_rollups_are_right()
    assert find_counter_drift() == []


def test_second_demo_is_refused_and_changes_nothing() -> None:
    before = Member.objects.count()
    with pytest.raises(CommandError, match="This login id is taken"):
        load()
    assert Member.objects.count() == before


def test_members_of_the_demo_can_be_deleted_like_any_other() -> None:
    for member in Member.objects.filter(login_id__startswith="demo-neighbor"):
        client = JSONClient(member)
        if member.plan == "PREMIUM" or member.pk % 10 == 0:
            assert client.send("DELETE", "/api/auth/me").status_code == 204
    assert find_counter_drift() == []
