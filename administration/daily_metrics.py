"""Figures by day for the dashboard: kept by a daily job, and live for the days since.

Flows (sign-ups, entries, posts …) are counted from the newest rows of their tables,
found by the primary key: what a count costs is bounded, whatever the table holds.
States (members, premium, active) are noted once a day. Days are those of the home time
zone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from accounts.member_counters import compact_member_counts, count_members
from accounts.models import Member
from administration.models import DailyMetric
from ledger.models import NotificationCount

WINDOW_DAYS = 30
"""How many days a course shows, today included."""
MAX_LIVE_ROWS = 200_000
"""How many of the newest rows of a table are looked at while somebody waits."""
MAX_JOB_ROWS = 20_000_000
"""How many the daily job looks at; it may take longer."""
JOB_STATEMENT_TIMEOUT_SECONDS = 300

MetricName = DailyMetric.Name

SOURCE_TABLES: dict[str, tuple[str, ...]] = {
    MetricName.SIGN_UPS: ("member",),
    MetricName.ENTRIES: ("account_entry",),
    MetricName.POSTS: ("board_post",),
    MetricName.COMMENTS: ("board_comment",),
    MetricName.VOTES: ("board_post_vote", "board_comment_vote"),
}
"""The tables whose new rows make up a figure."""

_COUNT_NEWEST_ROWS_BY_DAY = """
    SELECT (created_at AT TIME ZONE %(zone)s)::date, count(*),
        sum(count(*)) OVER () < %(rows)s
    FROM (SELECT created_at FROM {table} ORDER BY id DESC LIMIT %(rows)s) newest
    GROUP BY 1 ORDER BY 1
"""
_COUNT_ACTIVE_MEMBERS = """
    SELECT count(*) FILTER (WHERE seen >= %(day)s),
        count(*) FILTER (WHERE seen >= %(week)s), count(*)
    FROM (
        SELECT member_id, max(last_seen_at) AS seen FROM auth_session
        WHERE last_seen_at >= %(month)s AND member_id IS NOT NULL GROUP BY 1
    ) members
"""


@dataclass(frozen=True, slots=True)
class ActiveMembers:
    """Members with a session that was seen within the last 1, 7 and 30 days."""

    day: int | None
    week: int | None
    month: int | None


def get_time_series(
    name: str, today: date, *, rows: int = MAX_LIVE_ROWS
) -> list[int | None]:
    """The figure of each of the last `WINDOW_DAYS` days, the oldest first, today last.

    None where it is not known: the job did not run, or today's rows are too many.
    """
    days = list_days(today)
    known: dict[date, int] = dict(
        DailyMetric.objects.filter(name=name, day__gte=days[0])
        .order_by("day")
        .values_list("day", "value")
    )
    if name in SOURCE_TABLES and any(day not in known for day in days):
        known = count_new_rows_by_day(name, today, rows=rows) | known
    return [known.get(day) for day in days]


def list_days(today: date) -> list[date]:
    return [today - timedelta(days=back) for back in reversed(range(WINDOW_DAYS))]


def count_new_rows_by_day(name: str, today: date, *, rows: int) -> dict[date, int]:
    """By day, as far back as the newest `rows` rows of each table reach whole."""
    days = list_days(today)
    counts = dict.fromkeys(days, 0)
    first_whole = days[0]
    for table in SOURCE_TABLES[name]:
        found = _fetch_newest_row_counts(table, rows)
        for day, count, _ in found:
            if day in counts:
                counts[day] += count
        if found and not found[0][2]:
            first_whole = max(first_whole, found[0][0] + timedelta(days=1))
    return {day: count for day, count in counts.items() if day >= first_whole}


def count_active_members(now: datetime) -> ActiveMembers:
    """By the sessions that are left: those ended or expired no longer tell."""
    values = {
        "day": now - timedelta(days=1),
        "week": now - timedelta(days=7),
        "month": now - timedelta(days=WINDOW_DAYS),
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_ACTIVE_MEMBERS, values)
        return ActiveMembers(*cursor.fetchone())


def get_notification_series(today: date) -> tuple[list[int], list[int]]:
    """How many notifications came on each day, and how many were recognised."""
    days = list_days(today)
    all_, recognised = dict.fromkeys(days, 0), dict.fromkeys(days, 0)
    for tally in NotificationCount.objects.filter(day__gte=days[0], day__lte=today):
        all_[tally.day] += tally.notifications
        recognised[tally.day] += tally.notifications * tally.recognised
    return list(all_.values()), list(recognised.values())


def save_daily_metrics(now: datetime) -> int:
    """Note today's states and the flows of the days that are over; how many figures.

    Days that a stopped job missed are made up for, as far as `WINDOW_DAYS` reaches.
    """
    today = timezone.localdate(now)
    compact_member_counts()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                f"SET LOCAL statement_timeout = '{JOB_STATEMENT_TIMEOUT_SECONDS}s'"
            )
        figures = [*_build_gauges(now, today), *_build_past_counts(today)]
        DailyMetric.objects.bulk_create(
            figures,
            update_conflicts=True,
            unique_fields=["day", "name"],
            update_fields=["value"],
        )
    return len(figures)


def _build_gauges(now: datetime, today: date) -> Iterator[DailyMetric]:
    states = {
        MetricName.MEMBERS: count_members(now),
        MetricName.PREMIUM: count_members(now, plan=Member.Plan.PREMIUM),
        MetricName.ACTIVE: count_active_members(now).day or 0,
    }
    for name, value in states.items():
        yield DailyMetric(day=today, name=name, value=value)


def _build_past_counts(today: date) -> Iterator[DailyMetric]:
    for name in SOURCE_TABLES:
        course = get_time_series(name, today, rows=MAX_JOB_ROWS)
        for day, value in zip(list_days(today)[:-1], course, strict=False):
            if value is not None:
                yield DailyMetric(day=day, name=name, value=value)


def _fetch_newest_row_counts(table: str, rows: int) -> list[Any]:
    values: dict[str, Any] = {"zone": settings.TIME_ZONE, "rows": rows}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_NEWEST_ROWS_BY_DAY.format(table=table), values)
        found: list[Any] = cursor.fetchall()
    return found
