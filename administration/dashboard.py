"""The dashboard of Django admin: figures that are cheap, bounded, or not shown.

Each figure is read on its own within a time limit. One that takes too long, or whose
table is not there, is "not available"; the page is always there.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TypeVar

from django.db import Error, connection, transaction
from django.utils import timezone

from accounts.member_counters import count_members
from accounts.models import Member
from administration.charts import Chart, Series, build_daily_chart
from administration.daily_metrics import (
    ActiveMembers,
    MetricName,
    count_active_members,
    get_notification_series,
    get_time_series,
    list_days,
)
from core import redis_client
from core.health import is_database_reachable
from core.jobs.models import JobRun
from core.jobs.runner import list_last_runs

logger = logging.getLogger(__name__)
Value = TypeVar("Value")

QUERY_TIMEOUT_SECONDS = 2.0
"""How long one figure may take."""
PAGE_TIMEOUT_SECONDS = 5.0
"""How long all of them may take; what is left then is not read."""
NOT_AVAILABLE = "not available"
UNKNOWN_ACTIVE_MEMBERS = ActiveMembers(None, None, None)


@dataclass(frozen=True, slots=True)
class Tile:
    """One number with what it is; `note` says more."""

    title: str
    text: str
    note: str = ""
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its numbers and charts; a chart may be missing."""

    title: str
    tiles: list[Tile] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Dashboard:
    """What the index of the admin shows."""

    sections: list[Section]
    runs: list[JobRun] | None


class TimeLimitedReader:
    """Reads one figure after the other, each in its time, all in theirs."""

    def __init__(self) -> None:
        self._ends = time.monotonic() + PAGE_TIMEOUT_SECONDS

    def read(self, figure: Callable[[], Value]) -> Value | None:
        """The figure, or None."""
        left = self._ends - time.monotonic()
        if left <= 0:
            return None
        try:
            with transaction.atomic():
                return self._run_with_timeout(min(left, QUERY_TIMEOUT_SECONDS), figure)
        except Error as error:
            logger.warning("figure not available: %s", type(error).__name__)
            return None

    def _run_with_timeout(self, seconds: float, figure: Callable[[], Value]) -> Value:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            before = cursor.fetchone()[0]
            _set_statement_timeout(f"{max(1, int(seconds * 1000))}ms")
            value = figure()
            _set_statement_timeout(before)
        return value


def build_dashboard(now: datetime) -> Dashboard:
    """All figures as they are now; never raises for a figure."""
    reader = TimeLimitedReader()
    sections = [
        _health_section(),
        _members_section(reader, now),
        _ledger_section(reader, now),
        _board_section(reader, now),
    ]
    return Dashboard(sections, reader.read(list_last_runs))


def _health_section() -> Section:
    states = (
        ("PostgreSQL", is_database_reachable()),
        ("Valkey", redis_client.is_reachable()),
    )
    tiles = [
        Tile(name, "up" if is_up else "down", is_bad=not is_up)
        for name, is_up in states
    ]
    return Section("Stores", tiles)


def _members_section(reader: TimeLimitedReader, now: datetime) -> Section:
    members = reader.read(lambda: count_members(now))
    premium = reader.read(lambda: count_members(now, plan=Member.Plan.PREMIUM))
    suspended = reader.read(lambda: count_members(now, status=Member.Status.SUSPENDED))
    active = reader.read(lambda: count_active_members(now)) or UNKNOWN_ACTIVE_MEMBERS
    section = Section(
        "Members",
        [
            _tile("Members", members),
            _tile("Premium", premium, _percentage(premium, members)),
            _tile("Suspended", suspended),
            _tile("Active today", active.day, "seen within 24 hours"),
            _tile("Active this week", active.week, "seen within 7 days"),
            _tile("Active this month", active.month, "by live sessions"),
        ],
    )
    today = timezone.localdate(now)
    _add_time_series_chart(
        section, reader, "Sign-ups a day", MetricName.SIGN_UPS, today
    )
    totals = reader.read(
        lambda: [*get_time_series(MetricName.MEMBERS, today)[:-1], members]
    )
    paid = reader.read(
        lambda: [*get_time_series(MetricName.PREMIUM, today)[:-1], premium]
    )
    _add_chart(section, "Members", today, totals)
    _add_chart(section, "Premium share", today, _percentages(paid, totals), unit=" %")
    seen = reader.read(
        lambda: [*get_time_series(MetricName.ACTIVE, today)[:-1], active.day]
    )
    _add_chart(section, "Active members a day", today, seen)
    return section


def _ledger_section(reader: TimeLimitedReader, now: datetime) -> Section:
    today = timezone.localdate(now)
    section = Section("Ledger")
    _add_time_series_chart(
        section, reader, "New entries a day", MetricName.ENTRIES, today
    )
    notifications = reader.read(lambda: get_notification_series(today))
    if notifications is None:
        section.missing.append("Notifications a day")
        return section
    all_, recognised = notifications
    share = _percentage(sum(recognised), sum(all_))
    section.tiles.append(
        _tile("Notifications", sum(all_), f"{share} recognised" if share else "30 days")
    )
    section.charts.append(
        build_daily_chart(
            "Notifications a day",
            list_days(today),
            all_,
            parts=recognised,
            parts_name="recognised",
        )
    )
    return section


def _board_section(reader: TimeLimitedReader, now: datetime) -> Section:
    today = timezone.localdate(now)
    section = Section("Board")
    for title, name in (
        ("Posts a day", MetricName.POSTS),
        ("Comments a day", MetricName.COMMENTS),
        ("Votes a day", MetricName.VOTES),
    ):
        _add_time_series_chart(section, reader, title, name, today)
    return section


def _add_time_series_chart(
    section: Section, reader: TimeLimitedReader, title: str, name: str, today: date
) -> None:
    _add_chart(section, title, today, reader.read(lambda: get_time_series(name, today)))


def _add_chart(
    section: Section, title: str, today: date, figures: Series | None, unit: str = ""
) -> None:
    if figures is None:
        section.missing.append(title)
    else:
        section.charts.append(
            build_daily_chart(title, list_days(today), figures, unit=unit)
        )


def _tile(title: str, value: int | None, note: str = "") -> Tile:
    text = NOT_AVAILABLE if value is None else f"{value:,}"
    return Tile(title, text, "" if value is None else note)


def _percentages(parts: Series | None, wholes: Series | None) -> Series | None:
    """Whole per cents by day, as far as both are known."""
    if parts is None or wholes is None:
        return None
    return [
        round(100 * part / whole) if whole and part is not None else None
        for part, whole in zip(parts, wholes, strict=True)
    ]


def _percentage(part: int | None, whole: int | None) -> str:
    return f"{part / whole:.1%}" if whole and part is not None else ""


def _set_statement_timeout(limit: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [limit])
