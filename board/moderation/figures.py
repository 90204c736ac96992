"""Figures of moderation, for administrators (spec 5.10)."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from django.utils import timezone

from core.db.rows import fetch_all, fetch_one

FIGURE_DAYS = 30

_OPEN = """
    SELECT count(*) AS open_cases, min(opened_at) AS oldest_opened_at,
        count(*) FILTER (WHERE kind = 'HELD') AS held_posts
    FROM board_case WHERE status = 'OPEN'
"""
_DAYS = """
    WITH done AS (
        SELECT (decided_at AT TIME ZONE %(zone)s)::date AS day, count(*) AS hidden
        FROM board_decision
        WHERE decided_at >= %(since)s AND action IN ('HIDE', 'BLIND', 'DELETE')
        GROUP BY 1
    ), held AS (
        SELECT (opened_at AT TIME ZONE %(zone)s)::date AS day, count(*) AS held
        FROM board_case WHERE opened_at >= %(since)s AND kind = 'HELD' GROUP BY 1
    )
    SELECT days.day::date AS day, coalesce(done.hidden, 0) AS hidden,
        coalesce(held.held, 0) AS held
    FROM generate_series(%(first_day)s::date, %(today)s::date, '1 day') AS days (day)
        LEFT JOIN done ON done.day = days.day::date
        LEFT JOIN held ON held.day = days.day::date
    ORDER BY 1
"""


class OpenFigures(NamedTuple):
    open_cases: int
    oldest_opened_at: datetime | None
    held_posts: int


class ModerationDay(NamedTuple):
    day: date
    hidden: int
    held: int


@dataclass(frozen=True, slots=True)
class ModerationFigures:
    open_cases: int
    oldest_opened_at: datetime | None
    held_posts: int
    days: list[ModerationDay]


def get_open_figures() -> OpenFigures:
    return fetch_one(_OPEN, None, OpenFigures) or OpenFigures(0, None, 0)


def get_moderation_figures(now: datetime) -> ModerationFigures:
    """Return what waits, and what was hidden and held on the last 30 days."""
    today = timezone.localdate(now)
    first_day = today - timedelta(days=FIGURE_DAYS - 1)
    since = timezone.make_aware(datetime.combine(first_day, time.min))
    zone = timezone.get_current_timezone_name()
    params = {"zone": zone, "since": since, "first_day": first_day, "today": today}
    return ModerationFigures(
        *get_open_figures(), days=fetch_all(_DAYS, params, ModerationDay)
    )
