"""Daily metrics of the dashboard, in the home time zone.

A daily job stores them. Until then new rows are counted by day, the newest days first
and up to a limit, so that the cost is bounded.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from accounts.members.counters import compact_member_counts, count_members
from accounts.models import Member
from administration.models import DailyMetric
from core.db.rows import fetch_all
from core.db.transactions import retry_on_conflict
from ledger.models import NotificationCount

# Days of a time series, including today.
WINDOW_DAYS = 30
# Rows of a table that are counted while a page waits.
MAX_LIVE_ROWS = 200_000
# Rows of a table that the daily job counts.
MAX_JOB_ROWS = 20_000_000
JOB_STATEMENT_TIMEOUT_SECONDS = 300
# Member ids in one statement of the daily job.
MEMBERS_PER_STATEMENT = 50_000

MetricName = DailyMetric.Name

# Tables whose new rows make up a count; the other metrics are gauges.
SOURCE_TABLES: dict[str, tuple[str, ...]] = {
    MetricName.SIGN_UPS: ("member",),
    MetricName.ENTRIES: ("account_entry",),
    MetricName.POSTS: ("board_post",),
    MetricName.COMMENTS: ("board_comment",),
    MetricName.VOTES: ("board_post_vote", "board_comment_vote"),
}

_COUNT_ROWS_OF_DAY = """
    SELECT count(*) AS rows FROM (
        SELECT FROM {table}
        WHERE created_at >= %(start)s AND created_at < %(end)s LIMIT %(limit)s
    ) day
"""
_COUNT_ACTIVE_MEMBERS = """
    SELECT count(*) FILTER (WHERE seen >= %(day)s) AS day,
        count(*) FILTER (WHERE seen >= %(week)s) AS week, count(*) AS month
    FROM (
        SELECT member_id, max(last_seen_at) AS seen FROM auth_session
        WHERE last_seen_at >= %(month)s AND member_id IS NOT NULL GROUP BY 1
    ) members
"""
_COUNT_ACTIVE_MEMBERS_OF_RANGE = """
    SELECT count(DISTINCT member_id) AS members FROM auth_session
    WHERE member_id BETWEEN %(first)s AND %(last)s AND last_seen_at >= %(since)s
"""


class RowCount(NamedTuple):
    rows: int


class RangeCount(NamedTuple):
    members: int


@dataclass(frozen=True, slots=True)
class ActiveMembers:
    """Members with sessions used in the last 1, 7 and 30 days."""

    day: int | None
    week: int | None
    month: int | None


class NotificationSeries(NamedTuple):
    received: list[int]
    recognized: list[int]


def list_days(today: date) -> list[date]:
    return [today - timedelta(days=back) for back in reversed(range(WINDOW_DAYS))]


def get_time_series(
    name: str, today: date, *, max_rows: int = MAX_LIVE_ROWS
) -> list[int | None]:
    """Return a metric for `list_days(today)`, None for a value that is not stored.

    Gauges and too many rows cannot be counted live.
    """
    days = list_days(today)
    values: dict[date, int] = dict(
        DailyMetric.objects.filter(name=name, day__gte=days[0])
        .order_by("day")
        .values_list("day", "value")
    )
    missing = [day for day in days if day not in values]
    # Stored values take precedence: rows may have been deleted since.
    if name in SOURCE_TABLES:
        values |= count_new_rows_by_day(name, missing, max_rows=max_rows)
    return [values.get(day) for day in days]


def count_new_rows_by_day(
    name: str, days: list[date], *, max_rows: int
) -> dict[date, int]:
    """Count the rows that were written on each day, the newest days first.

    Days that more than `max_rows` rows reach to are left out.
    """
    counts: dict[date, int] = {}
    left = max_rows
    for day in reversed(days):
        times = {"start": start_of(day), "end": start_of(day + timedelta(days=1))}
        rows = 0
        for table in SOURCE_TABLES[name]:
            sql = _COUNT_ROWS_OF_DAY.format(table=table)
            ((found,),) = fetch_all(sql, times | {"limit": left}, RowCount)
            rows += found
        if rows >= left:
            break
        counts[day] = rows
        left -= rows
    return counts


def start_of(day: date) -> datetime:
    return datetime.combine(day, time.min, timezone.get_default_timezone())


def count_active_members(now: datetime) -> ActiveMembers:
    params = {
        "day": now - timedelta(days=1),
        "week": now - timedelta(days=7),
        "month": now - timedelta(days=WINDOW_DAYS),
    }
    (active,) = fetch_all(_COUNT_ACTIVE_MEMBERS, params, ActiveMembers)
    return active


def get_notification_series(today: date) -> NotificationSeries:
    days = list_days(today)
    received, recognized = dict.fromkeys(days, 0), dict.fromkeys(days, 0)
    for count in NotificationCount.objects.filter(day__gte=days[0], day__lte=today):
        received[count.day] += count.count
        if count.is_recognized:
            recognized[count.day] += count.count
    return NotificationSeries(list(received.values()), list(recognized.values()))


def count_members_of_last_day(now: datetime) -> int:
    """Count members by the last use of their sessions.

    No statement reads all sessions: ranges use the index by member.
    """
    last = Member.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    count = 0
    for first in range(1, last + 1, MEMBERS_PER_STATEMENT):
        params = {
            "first": first,
            "last": first + MEMBERS_PER_STATEMENT - 1,
            "since": now - timedelta(days=1),
        }
        ((members,),) = fetch_all(_COUNT_ACTIVE_MEMBERS_OF_RANGE, params, RangeCount)
        count += members
    return count


@retry_on_conflict
def save_daily_metrics(now: datetime) -> int:
    """Store today's gauges and the counts of past days; return the number of values.

    Missed days are stored as well, up to `WINDOW_DAYS`.
    """
    today = timezone.localdate(now)
    compact_member_counts()
    active = count_members_of_last_day(now)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                f"SET LOCAL statement_timeout = '{JOB_STATEMENT_TIMEOUT_SECONDS}s'"
            )
        gauges = {
            MetricName.MEMBERS: count_members(now),
            MetricName.PREMIUM: count_members(now, plan=Member.Plan.PREMIUM),
            MetricName.ACTIVE: active,
        }
        metrics = [
            DailyMetric(day=today, name=name, value=value)
            for name, value in gauges.items()
        ]
        for name in SOURCE_TABLES:
            series = get_time_series(name, today, max_rows=MAX_JOB_ROWS)
            # Today is not over.
            for day, count in zip(list_days(today)[:-1], series, strict=False):
                if count is not None:
                    metrics.append(DailyMetric(day=day, name=name, value=count))
        DailyMetric.objects.bulk_create(
            metrics,
            update_conflicts=True,
            unique_fields=["day", "name"],
            update_fields=["value"],
        )
    return len(metrics)
