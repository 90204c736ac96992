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
from administration.charts import Chart, Figures, draw_days
from administration.daily_metrics import (
    Active,
    Name,
    list_days,
    read_active,
    read_course,
    read_notifications,
)
from core import redis_client
from core.health import database_answers
from core.jobs.models import JobRun
from core.jobs.runner import read_last_runs

logger = logging.getLogger(__name__)
Value = TypeVar("Value")

FIGURE_SECONDS = 2.0
"""How long one figure may take."""
PAGE_SECONDS = 5.0
"""How long all of them may take; what is left then is not read."""
NOT_AVAILABLE = "not available"
UNKNOWN = Active(None, None, None)


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


class Reader:
    """Reads one figure after the other, each in its time, all in theirs."""

    def __init__(self) -> None:
        self._ends = time.monotonic() + PAGE_SECONDS

    def read(self, figure: Callable[[], Value]) -> Value | None:
        """The figure, or None."""
        left = self._ends - time.monotonic()
        if left <= 0:
            return None
        try:
            with transaction.atomic():
                return self._read_within(min(left, FIGURE_SECONDS), figure)
        except Error as error:
            logger.warning("figure not available: %s", type(error).__name__)
            return None

    def _read_within(self, seconds: float, figure: Callable[[], Value]) -> Value:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            before = cursor.fetchone()[0]
            _limit_statements(f"{max(1, int(seconds * 1000))}ms")
            value = figure()
            _limit_statements(before)
        return value


def read_dashboard(now: datetime) -> Dashboard:
    """All figures as they are now; never raises for a figure."""
    reader = Reader()
    sections = [
        _read_health(),
        _read_members(reader, now),
        _read_ledger(reader, now),
        _read_board(reader, now),
    ]
    return Dashboard(sections, reader.read(read_last_runs))


def _read_health() -> Section:
    states = (("PostgreSQL", database_answers()), ("Valkey", redis_client.answers()))
    tiles = [
        Tile(name, "up" if is_up else "down", is_bad=not is_up)
        for name, is_up in states
    ]
    return Section("Stores", tiles)


def _read_members(reader: Reader, now: datetime) -> Section:
    members = reader.read(lambda: count_members(now))
    premium = reader.read(lambda: count_members(now, plan=Member.Plan.PREMIUM))
    suspended = reader.read(lambda: count_members(now, status=Member.Status.SUSPENDED))
    active = reader.read(lambda: read_active(now)) or UNKNOWN
    section = Section(
        "Members",
        [
            _tile("Members", members),
            _tile("Premium", premium, _share(premium, members)),
            _tile("Suspended", suspended),
            _tile("Active today", active.day, "seen within 24 hours"),
            _tile("Active this week", active.week, "seen within 7 days"),
            _tile("Active this month", active.month, "by live sessions"),
        ],
    )
    today = timezone.localdate(now)
    _add_course(section, reader, "Sign-ups a day", Name.SIGN_UPS, today)
    totals = reader.read(lambda: [*read_course(Name.MEMBERS, today)[:-1], members])
    paid = reader.read(lambda: [*read_course(Name.PREMIUM, today)[:-1], premium])
    _add_chart(section, "Members", today, totals)
    _add_chart(section, "Premium share", today, _percents(paid, totals), unit=" %")
    seen = reader.read(lambda: [*read_course(Name.ACTIVE, today)[:-1], active.day])
    _add_chart(section, "Active members a day", today, seen)
    return section


def _read_ledger(reader: Reader, now: datetime) -> Section:
    today = timezone.localdate(now)
    section = Section("Ledger")
    _add_course(section, reader, "New entries a day", Name.ENTRIES, today)
    notifications = reader.read(lambda: read_notifications(today))
    if notifications is None:
        section.missing.append("Notifications a day")
        return section
    all_, recognised = notifications
    share = _share(sum(recognised), sum(all_))
    section.tiles.append(
        _tile("Notifications", sum(all_), f"{share} recognised" if share else "30 days")
    )
    section.charts.append(
        draw_days(
            "Notifications a day",
            list_days(today),
            all_,
            parts=recognised,
            parts_name="recognised",
        )
    )
    return section


def _read_board(reader: Reader, now: datetime) -> Section:
    today = timezone.localdate(now)
    section = Section("Board")
    for title, name in (
        ("Posts a day", Name.POSTS),
        ("Comments a day", Name.COMMENTS),
        ("Votes a day", Name.VOTES),
    ):
        _add_course(section, reader, title, name, today)
    return section


def _add_course(
    section: Section, reader: Reader, title: str, name: str, today: date
) -> None:
    _add_chart(section, title, today, reader.read(lambda: read_course(name, today)))


def _add_chart(
    section: Section, title: str, today: date, figures: Figures | None, unit: str = ""
) -> None:
    if figures is None:
        section.missing.append(title)
    else:
        section.charts.append(draw_days(title, list_days(today), figures, unit=unit))


def _tile(title: str, value: int | None, note: str = "") -> Tile:
    text = NOT_AVAILABLE if value is None else f"{value:,}"
    return Tile(title, text, "" if value is None else note)


def _percents(parts: Figures | None, wholes: Figures | None) -> Figures | None:
    """Whole per cents by day, as far as both are known."""
    if parts is None or wholes is None:
        return None
    return [
        round(100 * part / whole) if whole and part is not None else None
        for part, whole in zip(parts, wholes, strict=True)
    ]


def _share(part: int | None, whole: int | None) -> str:
    return f"{part / whole:.1%}" if whole and part is not None else ""


def _limit_statements(limit: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [limit])
