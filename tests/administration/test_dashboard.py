"""Dashboard: metrics, time series, limits, and metrics that are not available."""

import json
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuthSession, Member, MemberCount
from administration import daily_metrics, dashboard
from administration.charts import build_daily_chart
from administration.daily_metrics import (
    _COUNT_ROWS_OF_DAY,
    MAX_JOB_ROWS,
    MetricName,
    count_active_members,
    count_members_of_last_day,
    get_notification_series,
    get_time_series,
    save_daily_metrics,
    start_of,
)
from administration.dashboard import TimeLimitedReader, build_dashboard
from administration.models import DailyMetric
from administration.tasks import snapshot_daily_metrics
from board.models import Decision
from core.jobs.models import JobRun
from ledger.models import Entry, NotificationCount
from ledger.notifications.processing import (
    NOTIFICATION_SHARDS,
    increment_notification_count,
)
from tests.support.admin_site import logged_in_browser
from tests.support.cases import make_case
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_member, make_post
from tests.support.races import run_concurrently
from tests.support.stores import find_closed_port, redis_at

NOW = datetime.fromisoformat("2026-11-21T12:00:00+09:00")
TODAY = date(2026, 11, 21)
# Of the page while no day is stored, so that six tables are counted for 30 days, and
# after the daily job.
STATEMENTS, STATEMENTS_WITH_STORED_DAYS = 306, 132


def days_back(series: Any, days: int) -> Any:
    """Return the figure of so many days ago."""
    return series[-1 - days]


def tiles_of(title: str, now: datetime = NOW) -> dict[str, str]:
    sections = {section.title: section for section in build_dashboard(now).sections}
    return {tile.title: tile.text for tile in sections[title].tiles}


def test_cases_that_wait_too_long_are_marked() -> None:
    assert tiles_of("Moderation") == {
        "Open cases": "0",
        "Oldest case": "–",
        "Held posts": "0",
    }
    author = make_member()
    held = make_post(author, is_hidden=True, hidden_reason="HELD")
    make_case(held, kind="HELD", opened_at=NOW - timedelta(hours=24))
    make_case(make_post(author), opened_at=NOW - timedelta(hours=1))
    decided = make_case(make_post(author), status="RESOLVED")
    Decision.objects.create(case=decided, action="HIDE", decided_at=NOW)
    sections = {each.title: each for each in build_dashboard(NOW).sections}
    section = sections["Moderation"]
    assert [(tile.text, tile.is_bad) for tile in section.tiles] == [
        ("2", False),
        ("24 hours", True),
        ("1", False),
    ]
    assert [chart.title for chart in section.charts] == [
        "Hidden or deleted per day",
        "Held per day",
    ]


def test_sign_ups_are_counted_by_day_in_the_home_time_zone() -> None:
    moments = [
        *("2026-11-21T00:00:00+09:00", "2026-11-20T23:59:59+09:00"),
        *("2026-11-20T00:30:00+09:00", "2026-10-23T00:00:00+09:00"),
        "2026-10-22T23:59:59+09:00",
    ]
    for moment in moments:
        make_member(created_at=datetime.fromisoformat(moment))
    series = get_time_series(MetricName.SIGN_UPS, TODAY)
    assert len(series) == 30
    assert (series[-1], series[-2], series[0]) == (1, 2, 1)
    assert sum(filter(None, series)) == 4


def test_entries_are_counted_by_the_day_they_were_written(free_member: Member) -> None:
    make_entry(free_member, created_at=NOW, date=date(2020, 1, 1))
    make_entry(free_member, created_at=NOW - timedelta(days=2), pending=True)
    series = get_time_series(MetricName.ENTRIES, TODAY)
    assert (days_back(series, 0), days_back(series, 2)) == (1, 1)
    assert sum(filter(None, series)) == 2


def test_days_that_the_newest_rows_do_not_reach_whole_are_not_known(
    free_member: Member,
) -> None:
    for days in (3, 1, 1, 0):
        make_entry(free_member, created_at=NOW - timedelta(days=days))
    series = get_time_series(MetricName.ENTRIES, TODAY, max_rows=2)
    assert series[-2:] == [None, 1]
    assert series[:-2] == [None] * 28
    series = get_time_series(MetricName.ENTRIES, TODAY, max_rows=4)
    assert series[-4:] == [None, 0, 2, 1]
    assert get_time_series(MetricName.ENTRIES, TODAY, max_rows=5)[-4:] == [1, 0, 2, 1]


def test_stored_values_take_precedence_over_live_ones(free_member: Member) -> None:
    make_entry(free_member, created_at=NOW - timedelta(days=1))
    day = TODAY - timedelta(days=1)
    DailyMetric.objects.create(day=day, name=MetricName.ENTRIES, value=7)
    assert days_back(get_time_series(MetricName.ENTRIES, TODAY), 1) == 7


def test_daily_job_notes_states_and_the_days_that_are_over(free_member: Member) -> None:
    make_member(plan="PREMIUM", created_at=NOW - timedelta(days=2))
    Member.objects.filter(pk=free_member.pk).update(created_at=NOW)
    make_entry(free_member, created_at=NOW)
    make_entry(free_member, created_at=NOW - timedelta(days=1))
    count = save_daily_metrics(NOW)
    assert count == DailyMetric.objects.count()
    kept = {(f.name, (TODAY - f.day).days): f.value for f in DailyMetric.objects.all()}
    assert (kept["members", 0], kept["premium", 0], kept["active", 0]) == (2, 1, 0)
    assert (kept["sign_ups", 2], kept["entries", 1]) == (1, 1)
    assert ("entries", 0) not in kept
    assert kept["posts", 29] == 0


def test_daily_job_run_again_changes_nothing_but_todays_states(
    free_member: Member,
) -> None:
    save_daily_metrics(NOW)
    before = list(DailyMetric.objects.values_list("day", "name", "value"))
    make_entry(free_member, created_at=NOW - timedelta(days=1))
    make_member()
    save_daily_metrics(NOW)
    after = list(DailyMetric.objects.values_list("day", "name", "value"))
    changed = set(after) - set(before)
    assert changed == {(TODAY, "members", 2)}


def test_daily_job_makes_up_for_days_on_which_it_did_not_run(
    free_member: Member,
) -> None:
    save_daily_metrics(NOW - timedelta(days=5))
    make_entry(free_member, created_at=NOW - timedelta(days=3))
    save_daily_metrics(NOW)
    series = get_time_series(MetricName.ENTRIES, TODAY)
    assert days_back(series, 3) == 1
    members = get_time_series(MetricName.MEMBERS, TODAY)
    assert (days_back(members, 5), days_back(members, 3)) == (1, None)


def test_daily_job_adds_up_the_counts_of_members() -> None:
    for _ in range(5):
        make_member()
    save_daily_metrics(NOW)
    assert [row.count for row in MemberCount.objects.all()] == [5]


@pytest.mark.django_db(transaction=True)
def test_daily_job_is_recorded_and_scheduled() -> None:
    from config.celery import app

    snapshot_daily_metrics()
    run = JobRun.objects.get(job="snapshot_daily_metrics")
    assert (run.state, run.count) == ("DONE", DailyMetric.objects.count())
    tasks = [job["task"] for job in app.conf.beat_schedule.values()]
    assert "administration.tasks.snapshot_daily_metrics" in tasks


def test_members_are_active_by_their_newest_session() -> None:
    now = timezone.now()
    for days in (0.1, 3, 20, 40):
        member = make_member()
        for _ in range(2):
            JSONClient(member)
        seen = now - timedelta(days=days)
        AuthSession.objects.filter(member=member).update(last_seen_at=seen)
    active = count_active_members(now)
    assert (active.day, active.week, active.month) == (1, 2, 3)


@pytest.mark.parametrize("ends_at", [0, 1, 2, 4])
def test_daily_job_counts_active_members_by_ranges(
    ends_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Also where a range ends at an active member.
    now = timezone.now()
    members = [make_member() for _ in range(5)]
    monkeypatch.setattr(daily_metrics, "MEMBERS_PER_STATEMENT", members[ends_at].pk)
    for member in members[:3]:
        for _ in range(2):
            JSONClient(member)
    AuthSession.objects.filter(member=members[0]).update(
        last_seen_at=now - timedelta(days=2)
    )
    assert count_members_of_last_day(now) == count_active_members(now).day == 2


def test_notifications_are_counted_by_day_with_the_share_recognized() -> None:
    for hours, recognized in ((0, True), (0, True), (0, False), (24, False)):
        increment_notification_count(
            NOW - timedelta(hours=hours), recognized=recognized
        )
    all_, recognized_ones = get_notification_series(TODAY)
    assert (all_[-2:], recognized_ones[-2:]) == ([1, 3], [0, 2])
    assert tiles_of("Ledger")["Notifications"] == "4"
    (section,) = [s for s in build_dashboard(NOW).sections if s.title == "Ledger"]
    assert section.tiles[0].note == "50.0% recognized"


@pytest.mark.django_db(transaction=True)
def test_notifications_at_once_are_all_counted() -> None:
    def count() -> None:
        for _ in range(25):
            increment_notification_count(NOW, recognized=True)

    run_concurrently([count] * 8)
    assert get_notification_series(TODAY)[0][-1] == 200
    assert NotificationCount.objects.count() <= NOTIFICATION_SHARDS


def test_tiles_show_current_values() -> None:
    make_member(plan="PREMIUM")
    make_member(status="SUSPENDED")
    make_member(plan="PREMIUM", plan_expires_at=NOW - timedelta(1))
    make_member()
    tiles = tiles_of("Members")
    assert (tiles["Members"], tiles["Premium"], tiles["Suspended"]) == ("4", "1", "1")
    assert tiles_of("Health") == {"PostgreSQL": "up", "Valkey": "up"}


def test_premium_share_has_a_course(administrator: Member) -> None:
    make_member(plan="PREMIUM")
    for days, members, premium in ((2, 10, 1), (1, 10, 4)):
        day = TODAY - timedelta(days=days)
        DailyMetric.objects.create(day=day, name=MetricName.MEMBERS, value=members)
        DailyMetric.objects.create(day=day, name=MetricName.PREMIUM, value=premium)
    (section,) = [s for s in build_dashboard(NOW).sections if s.title == "Members"]
    (chart,) = [c for c in section.charts if c.title == "Premium share"]
    assert [bar.text for bar in chart.bars[-3:]] == ["10%", "40%", "50%"]
    assert chart.bars[0].text == "not available"


def test_unreachable_store_is_shown_as_down(administrator: Member) -> None:
    with redis_at(f"redis://127.0.0.1:{find_closed_port()}/0"):
        assert tiles_of("Health") == {"PostgreSQL": "up", "Valkey": "down"}


def test_figure_whose_table_is_not_there_is_not_available(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(
        daily_metrics.SOURCE_TABLES, MetricName.POSTS, ("board_not_there",)
    )
    (board,) = [s for s in build_dashboard(NOW).sections if s.title == "Board"]
    assert board.missing == ["Posts per day"]
    titles = [chart.title for chart in board.charts]
    assert titles == ["Comments per day", "Votes per day"]


def test_figure_that_takes_too_long_is_not_available_and_the_others_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dashboard, "QUERY_TIMEOUT_SECONDS", 0.05)
    reader = TimeLimitedReader()

    def sleep() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(5)")
        return 6

    assert reader.read(sleep) is None
    assert reader.read(lambda: 7) == 7


def test_page_has_a_time_for_all_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "PAGE_TIMEOUT_SECONDS", 0.0)
    assert TimeLimitedReader().read(lambda: 7) is None
    shown = build_dashboard(NOW)
    assert shown.runs is None
    assert all(section.tiles or section.missing for section in shown.sections)


def test_time_limit_of_a_figure_ends_with_it() -> None:
    def limit() -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            return cursor.fetchone()[0]

    before = limit()
    assert TimeLimitedReader().read(limit) == "2s"
    assert limit() == before


def test_index_shows_the_charts_in_line_and_loads_nothing_from_outside(
    administrator: Member,
) -> None:
    JobRun.objects.create(
        job="expire_plans", state="FAILED", started_at=timezone.now(), error="OSError"
    )
    page = logged_in_browser(administrator).get("/admin/").content.decode()
    assert page.count("<svg viewBox") >= 8
    for text in (
        *("Sign-ups per day", "Premium share", "End expired plans"),
        *("OSError", "Health"),
    ):
        assert text in page
    start = page.index('class="dashboard-section')
    # Navigation comes first.
    assert page.index("/admin/accounts/member/") < start
    charts = page[start : page.index("What you did last")]
    for forbidden in ("<script", "style=", "http://", "https://", "onclick"):
        assert forbidden not in charts
    assert charts.count("<title") >= 8 * 30


def test_index_is_there_for_an_empty_installation(administrator: Member) -> None:
    page = logged_in_browser(administrator).get("/admin/").content.decode()
    assert "No job has run yet." in page


def test_index_takes_the_same_number_of_queries_for_any_number_of_rows(
    administrator: Member,
) -> None:
    browser = logged_in_browser(administrator)
    browser.get("/admin/")
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            browser.get("/admin/")
        counts.append(len(queries))
        for _ in range(20):
            make_entry(make_member())
    assert counts == [STATEMENTS] * 2
    save_daily_metrics(timezone.now())
    with CaptureQueriesContext(connection) as queries:
        browser.get("/admin/")
    assert len(queries) == STATEMENTS_WITH_STORED_DAYS


def test_bars_are_as_high_as_their_figures_and_small_ones_can_be_seen() -> None:
    days = [date(2026, 11, day) for day in range(1, 5)]
    chart = build_daily_chart("Posts", days, [1000, 500, 1, None])
    assert [bar.height for bar in chart.bars] == [120, 60, 2, 0]
    assert [bar.y for bar in chart.bars] == [0, 60, 118, 120]
    assert [bar.is_known for bar in chart.bars] == [True, True, True, False]
    assert chart.bars[-1].text == "not available"
    assert chart.summary == (
        "1 on 2026-11-03; maximum 1,000 on 2026-11-01; data for 3 days."
    )


def test_chart_of_nothing_says_so() -> None:
    days = [date(2026, 11, day) for day in range(1, 4)]
    assert build_daily_chart("Posts", days, [None] * 3).summary == "No data yet."
    chart = build_daily_chart("Posts", days, [0] * 3)
    assert [bar.height for bar in chart.bars] == [0] * 3
    assert chart.summary == "0 throughout; data for 3 days."


def test_second_figure_is_a_part_of_the_bar() -> None:
    days = [date(2026, 11, 1), date(2026, 11, 2)]
    chart = build_daily_chart(
        "N", days, [10, 5], stacked_values=[5, 0], stacked_label="recognized"
    )
    assert [bar.stacked_height for bar in chart.bars] == [60, 0]
    assert chart.bars[0].text == "10, 5 recognized"
    assert chart.bars[0].stacked_y == 60


def fill_entries(member: Member, count: int, *, since: datetime) -> None:
    """Copy an entry, with times from then to now in their order."""
    entry = make_entry(member, created_at=since)
    fields = [field for field in Entry._meta.concrete_fields if not field.generated]
    names = [str(field.column) for field in fields]
    columns = ", ".join(names)
    times = {"id": "e.id + g", "created_at": "e.created_at + g * %(step)s::interval"}
    values = ", ".join(times.get(name, f"e.{name}") for name in names)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            f"INSERT INTO account_entry ({columns}) SELECT {values}"
            " FROM account_entry e, generate_series(1, %(count)s) g WHERE e.id = %(id)s",
            {"count": count, "id": entry.pk, "step": str((NOW - since) / count)},
        )


def test_entries_of_a_day_are_counted_without_reading_the_table(
    free_member: Member,
) -> None:
    fill_entries(free_member, 60_000, since=NOW - timedelta(days=600))
    with connection.cursor() as cursor:
        cursor.execute("SELECT brin_summarize_new_values('account_entry_written')")
        cursor.execute("ANALYZE account_entry")
        for back in (0, 29):
            day = TODAY - timedelta(days=back)
            times = {"start": start_of(day), "end": start_of(day + timedelta(days=1))}
            params = times | {"limit": MAX_JOB_ROWS}
            sql = _COUNT_ROWS_OF_DAY.format(table="account_entry")
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
            plan = json.dumps(cursor.fetchone()[0])
            assert "Seq Scan" not in plan
            assert "account_entry_written" in plan
