"""`load_demo`: an installation with something to see on every page."""

import re
from collections.abc import Iterator
from datetime import datetime
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.db.models import F
from django.utils import timezone

from accounts.models import Member
from administration.daily_metrics import (
    count_active_members,
    get_notification_series,
    get_time_series,
    list_days,
    save_daily_metrics,
)
from administration.dashboard import build_dashboard
from administration.demo.loader import LOGINS
from billing.models import Purchase
from billing.plan_expiry import run_expiry
from board.models import Comment, CommentVote, Post, PostVote
from ledger.models import Entry
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
        ("STAFF", "POST"),
        ("REPORT", "POST"),
        ("REPORT", "COMMENT"),
        ("HELD", "POST"),
    ]
    assert [case["appealed"] for case in page["results"]] == [True] + [False] * 3
    assert page["results"][1]["reportCount"] == 3
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


def count_days(model: Any) -> list[int]:
    """Return the rows of each of the 30 days, counted one by one."""
    days = [timezone.localdate(time) for time in times_of(model)]
    return [days.count(day) for day in list_days(timezone.localdate())]


def times_of(model: Any) -> list[datetime]:
    return list(model.objects.values_list("created_at", flat=True))


@pytest.mark.parametrize(
    ("name", "models"),
    [
        ("sign_ups", [Member]),
        ("entries", [Entry]),
        ("posts", [Post]),
        ("comments", [Comment]),
        ("votes", [PostVote, CommentVote]),
    ],
)
def test_figures_are_the_sums_of_the_rows_although_the_daily_job_ran_before(
    name: str, models: list[Any]
) -> None:
    shown = get_time_series(name, timezone.localdate())
    counted = [sum(rows) for rows in zip(*map(count_days, models), strict=True)]
    assert shown == counted
    assert sum(filter(None, shown[:-1])) > 5
    # The job of the night stores the same.
    save_daily_metrics(timezone.now())
    assert get_time_series(name, timezone.localdate()) == counted


def test_members_of_each_day_are_those_who_had_joined() -> None:
    joined = [timezone.localdate(time) for time in times_of(Member)]
    days = list_days(timezone.localdate())[:-1]
    shown = get_time_series("members", timezone.localdate())[:-1]
    assert shown == [sum(day <= each for day in joined) for each in days]
    shares = get_time_series("premium", timezone.localdate())[:-1]
    assert all(
        0 < (paid or 0) < (all_ or 0) for paid, all_ in zip(shares, shown, strict=True)
    )
    live = Member.objects.filter(plan="PREMIUM").count()
    assert abs((shares[-1] or 0) - live) <= 2


def test_active_members_of_each_day_are_those_who_wrote() -> None:
    models: list[Any] = [Entry, Post, Comment, PostVote, CommentVote]
    wrote = {
        (timezone.localdate(time), member)
        for model in models
        for time, member in model.objects.values_list("created_at", "member")
    }
    days = list_days(timezone.localdate())[:-1]
    shown = get_time_series("active", timezone.localdate())[:-1]
    assert shown == [sum(day == each for day, _ in wrote) for each in days]
    assert min(filter(None, shown)) > 5
    # The live figures are of the same history.
    active = count_active_members(timezone.now())
    assert min(map(int, filter(None, shown))) <= (active.day or 0)
    assert (active.day or 0) <= (active.week or 0) <= (active.month or 0) <= 74
    last_days = {member for day, member in wrote if day >= days[-13]}
    assert active.month == len(last_days)


def test_nobody_did_anything_before_joining() -> None:
    for model in (Post, Comment, PostVote, CommentVote, Entry):
        rows: Any = model._default_manager
        assert not rows.filter(created_at__lt=F("member__created_at")).exists()
    assert not Entry.objects.filter(created_at__gt=timezone.now()).exists()
    for entry in Entry.objects.filter(member__login_id="demo-premium"):
        assert timezone.localdate(entry.created_at) == entry.date


def test_notifications_are_those_behind_the_entries() -> None:
    received, recognized = get_notification_series(timezone.localdate())
    entries = Entry.objects.filter(source="NOTIFICATION")
    assert sum(recognized) == entries.count() > 100
    assert sum(received) > sum(recognized)


@pytest.mark.parametrize("model", [Post, Comment])
def test_later_rows_have_later_times(model: Any) -> None:
    # Lists whose arrow names the time are sorted by id.
    times = list(model.objects.order_by("id").values_list("created_at", flat=True))
    assert times == sorted(times)
    assert len(times) > 10


def test_list_of_posts_is_sorted_by_what_the_arrow_says(client: Any) -> None:
    client.force_login(Member.objects.get(login_id="demo-admin"))
    page = client.get("/admin/board/post/").content.decode()
    rows = page[page.index("<tbody>") :]
    times = re.findall(r'<time datetime="([^"]+)"', rows)
    assert len(times) > 10
    assert times == sorted(times, reverse=True)


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


def test_second_demo_says_what_is_there_and_how_to_begin_anew() -> None:
    before = {model: model.objects.count() for model in (Member, Entry, Post)}
    said = load()
    assert "The demo is there already, with 74 members" in said
    for login in LOGINS:
        assert login.login_id in said
    assert "To begin anew" in said
    assert "DATA_DIR" in said
    assert PASSWORD not in said
    assert {model: model.objects.count() for model in before} == before
    log_in("demo-premium")


def test_members_of_the_demo_can_be_deleted_like_any_other() -> None:
    for member in Member.objects.filter(login_id__startswith="demo-neighbor"):
        client = JSONClient(member)
        if member.plan == "PREMIUM" or member.pk % 10 == 0:
            assert client.send("DELETE", "/api/auth/me").status_code == 204
    assert find_counter_drift() == []
