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

from accounts.member_counters import count_members, fold
from accounts.models import Member
from administration.models import DayFigure
from ledger.models import NotificationTally

DAYS = 30
"""How many days a course shows, today included."""
LIVE_ROWS = 200_000
"""How many of the newest rows of a table are looked at while somebody waits."""
JOB_ROWS = 20_000_000
"""How many the daily job looks at; it may take longer."""
JOB_SECONDS = 300

Name = DayFigure.Name

FLOWS: dict[str, tuple[str, ...]] = {
    Name.SIGN_UPS: ("member",),
    Name.ENTRIES: ("account_entry",),
    Name.POSTS: ("board_post",),
    Name.COMMENTS: ("board_comment",),
    Name.VOTES: ("board_post_vote", "board_comment_vote"),
}
"""The tables whose new rows make up a figure."""

_NEW_ROWS = """
    SELECT (created_at AT TIME ZONE %(zone)s)::date, count(*),
        sum(count(*)) OVER () < %(rows)s
    FROM (SELECT created_at FROM {table} ORDER BY id DESC LIMIT %(rows)s) newest
    GROUP BY 1 ORDER BY 1
"""
_ACTIVE = """
    SELECT count(*) FILTER (WHERE seen >= %(day)s),
        count(*) FILTER (WHERE seen >= %(week)s), count(*)
    FROM (
        SELECT member_id, max(last_seen_at) AS seen FROM auth_session
        WHERE last_seen_at >= %(month)s AND member_id IS NOT NULL GROUP BY 1
    ) members
"""


@dataclass(frozen=True, slots=True)
class Active:
    """Members with a session that was seen within the last 1, 7 and 30 days."""

    day: int | None
    week: int | None
    month: int | None


def read_course(name: str, today: date, *, rows: int = LIVE_ROWS) -> list[int | None]:
    """The figure of each of the last `DAYS` days, the oldest first, today last.

    None where it is not known: the job did not run, or today's rows are too many.
    """
    days = list_days(today)
    known: dict[date, int] = dict(
        DayFigure.objects.filter(name=name, day__gte=days[0])
        .order_by("day")
        .values_list("day", "value")
    )
    if name in FLOWS and any(day not in known for day in days):
        known = count_new_rows(name, today, rows=rows) | known
    return [known.get(day) for day in days]


def list_days(today: date) -> list[date]:
    return [today - timedelta(days=back) for back in reversed(range(DAYS))]


def count_new_rows(name: str, today: date, *, rows: int) -> dict[date, int]:
    """By day, as far back as the newest `rows` rows of each table reach whole."""
    days = list_days(today)
    counts = dict.fromkeys(days, 0)
    first_whole = days[0]
    for table in FLOWS[name]:
        found = _read_new_rows(table, rows)
        for day, count, _ in found:
            if day in counts:
                counts[day] += count
        if found and not found[0][2]:
            first_whole = max(first_whole, found[0][0] + timedelta(days=1))
    return {day: count for day, count in counts.items() if day >= first_whole}


def read_active(now: datetime) -> Active:
    """By the sessions that are left: those ended or expired no longer tell."""
    values = {
        "day": now - timedelta(days=1),
        "week": now - timedelta(days=7),
        "month": now - timedelta(days=DAYS),
    }
    with connection.cursor() as cursor:
        cursor.execute(_ACTIVE, values)
        return Active(*cursor.fetchone())


def read_notifications(today: date) -> tuple[list[int], list[int]]:
    """How many notifications came on each day, and how many were recognised."""
    days = list_days(today)
    all_, recognised = dict.fromkeys(days, 0), dict.fromkeys(days, 0)
    for tally in NotificationTally.objects.filter(day__gte=days[0], day__lte=today):
        all_[tally.day] += tally.notifications
        recognised[tally.day] += tally.notifications * tally.recognised
    return list(all_.values()), list(recognised.values())


def take_snapshot(now: datetime) -> int:
    """Note today's states and the flows of the days that are over; how many figures.

    Days that a stopped job missed are made up for, as far as `DAYS` reaches.
    """
    today = timezone.localdate(now)
    fold()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = '{JOB_SECONDS}s'")
        figures = [*_note_states(now, today), *_count_days_that_are_over(today)]
        DayFigure.objects.bulk_create(
            figures,
            update_conflicts=True,
            unique_fields=["day", "name"],
            update_fields=["value"],
        )
    return len(figures)


def _note_states(now: datetime, today: date) -> Iterator[DayFigure]:
    states = {
        Name.MEMBERS: count_members(now),
        Name.PREMIUM: count_members(now, plan=Member.Plan.PREMIUM),
        Name.ACTIVE: read_active(now).day or 0,
    }
    for name, value in states.items():
        yield DayFigure(day=today, name=name, value=value)


def _count_days_that_are_over(today: date) -> Iterator[DayFigure]:
    for name in FLOWS:
        course = read_course(name, today, rows=JOB_ROWS)
        for day, value in zip(list_days(today)[:-1], course, strict=False):
            if value is not None:
                yield DayFigure(day=day, name=name, value=value)


def _read_new_rows(table: str, rows: int) -> list[Any]:
    values: dict[str, Any] = {"zone": settings.TIME_ZONE, "rows": rows}
    with connection.cursor() as cursor:
        cursor.execute(_NEW_ROWS.format(table=table), values)
        found: list[Any] = cursor.fetchall()
    return found
