"""Contents of the dashboard, and their cost."""

import re
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from accounts.models import Member
from administration.daily_metrics import (
    MetricName,
    get_notification_series,
    get_time_series,
    save_daily_metrics,
)
from administration.dashboard import build_dashboard
from administration.models import DailyMetric
from tests.support.admin_site import logged_in_browser, record_statements
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_entry, make_member, make_post

pytestmark = pytest.mark.usefixtures("same_day")

NOW = datetime.fromisoformat("2026-11-21T12:00:00+09:00")
BIG_TABLES = ("member", "account_entry", "board_post", "board_comment", "iap_purchase")


def test_every_figure_has_its_place() -> None:
    sections = {section.title: section for section in build_dashboard(NOW).sections}
    tiles = {title: [t.title for t in s.tiles] for title, s in sections.items()}
    charts = {title: [c.title for c in s.charts] for title, s in sections.items()}
    assert tiles == {
        "Health": ["PostgreSQL", "Valkey"],
        "Members": [
            *("Members", "Premium", "Suspended", "Active today"),
            *("Active this week", "Active this month"),
        ],
        "Subscriptions": [
            *("Monthly revenue", "Premium, monthly", "Premium, yearly", "Cancelled"),
            *("New", "Renewed", "Ended", "Payments", "Refunded"),
        ],
        "Ledger": ["Notifications"],
        "Board": [],
        "Moderation": ["Open cases", "Oldest case", "Held posts"],
    }
    assert charts == {
        "Health": [],
        "Members": [
            "Sign-ups per day",
            "Members",
            "Premium share",
            "Active members per day",
        ],
        "Subscriptions": ["Purchases per day"],
        "Ledger": ["New entries per day", "Notifications per day"],
        "Board": ["Posts per day", "Comments per day", "Votes per day"],
        "Moderation": ["Hidden or deleted per day", "Held per day"],
    }
    assert all(len(c.bars) == 30 for s in sections.values() for c in s.charts)
    assert not any(section.missing for section in sections.values())


def test_board_is_counted_by_day(free_member: Member) -> None:
    post = make_post(free_member, ups=3, downs=1)
    for days in (0, 2, 2):
        made = timezone.now() - timedelta(days=days)
        make_comment(free_member, post=post, ups=1, created_at=made)
    today = timezone.localdate()
    series = {
        name: get_time_series(name, today)[-3:]
        for name in (MetricName.POSTS, MetricName.COMMENTS, MetricName.VOTES)
    }
    assert series == {
        MetricName.POSTS: [0, 0, 1],
        MetricName.COMMENTS: [2, 0, 1],
        MetricName.VOTES: [0, 0, 7],
    }


def test_every_notification_that_is_sent_in_is_counted(premium_member: Member) -> None:
    # Those that are ignored are stored nowhere else.
    client = JSONClient(premium_member)
    path = "/api/account/entries/notification"
    payment = "[Web발신]\n신한카드(1309)승인 홍*동 4,800원(일시불) 바람커피성수"
    texts = [payment, payment, "(광고)NH농협카드 3천원 돌려드려요", "안녕"]
    actions = [client.send("POST", path, {"text": t}).data["action"] for t in texts]
    assert actions == ["CREATED", "DUPLICATE", "IGNORED", "IGNORED"]
    client.send("POST", "/api/account/entries/parse", {"text": payment})
    every, recognized = get_notification_series(timezone.localdate())
    assert (every[-1], recognized[-1]) == (4, 2)


def test_active_members_have_a_course() -> None:
    now = timezone.now()
    for _ in range(2):
        JSONClient(make_member())
    save_daily_metrics(now)
    assert DailyMetric.objects.get(name=MetricName.ACTIVE).value == 2
    JSONClient(make_member())
    (members,) = [s for s in build_dashboard(now).sections if s.title == "Members"]
    (chart,) = [c for c in members.charts if c.title == "Active members per day"]
    assert chart.bars[-1].text == "3", "today's is live"


def test_no_table_that_grows_is_counted_whole(administrator: Member) -> None:
    # The index must cost the same with a million members as with ten.
    make_entry(make_member())
    browser = logged_in_browser(administrator)
    with record_statements() as statements:
        assert browser.get("/admin/").status_code == 200
    counts = [s for s in statements if "count(" in s.lower()]
    assert len(counts) > 5
    for statement in counts:
        if any(f"FROM {table} " in f"{statement} " for table in BIG_TABLES):
            # Or by an index: expired plans, purchases and refunds of a month, those
            # that run.
            bounds = "LIMIT|plan_expires_at <=|is_active|(purchased|refunded)_at >="
            assert re.search(bounds, statement), statement
