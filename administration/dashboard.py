"""The dashboard on the index of Django admin (spec 7.7).

A metric that takes too long or fails is shown as "not available"; the page itself
never fails.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

from django.db import Error, connection, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.members.counters import count_members
from accounts.models import Member
from administration.charts import Chart, Series, build_daily_chart
from administration.daily_metrics import (
    WINDOW_DAYS,
    ActiveMembers,
    MetricName,
    count_active_members,
    get_notification_series,
    get_time_series,
    list_days,
)
from administration.revenue import (
    OrderTotal,
    count_ended,
    format_amounts,
    get_purchase_series,
    list_received,
    list_refunded,
    list_running_products,
    monthly_revenue,
    sum_amounts,
)
from billing.products import MONTHLY, YEARLY
from board.moderation.figures import ModerationFigures, get_moderation_figures
from core import redis_client
from core.health import read_waiting_commits
from core.jobs.models import JobRun
from core.jobs.runner import list_last_runs

logger = logging.getLogger(__name__)
Value = TypeVar("Value")

# Time limits of one metric and of all.
QUERY_TIMEOUT_SECONDS = 2.0
PAGE_TIMEOUT_SECONDS = 5.0
# Within a day stores expect an answer to a report.
MAX_WAITING_HOURS = 24
NOT_AVAILABLE = _("not available")
PRODUCTS = {MONTHLY.id: _("Premium, monthly"), YEARLY.id: _("Premium, yearly")}
UNKNOWN_ACTIVE_MEMBERS = ActiveMembers(None, None, None)


@dataclass(frozen=True, slots=True)
class Tile:
    title: str
    text: str
    note: str = ""
    is_bad: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    tiles: list[Tile] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def columns(self) -> int:
        """Return into how many columns of the page the charts divide it."""
        return len(self.charts) + len(self.missing)


@dataclass(frozen=True, slots=True)
class Dashboard:
    sections: list[Section]
    runs: list[JobRun] | None


class TimeLimitedReader:
    """Runs queries within their time limits."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + PAGE_TIMEOUT_SECONDS

    def read(self, query: Callable[[], Value]) -> Value | None:
        """Return the result of the query, None if it fails or takes too long."""
        seconds_left = self._deadline - time.monotonic()
        if seconds_left <= 0:
            return None
        timeout_seconds = min(seconds_left, QUERY_TIMEOUT_SECONDS)
        try:
            # A failed statement must not abort the caller's transaction.
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SHOW statement_timeout")
                (previous_timeout,) = cursor.fetchone()
                _set_statement_timeout(f"{max(1, int(timeout_seconds * 1000))}ms")
                value = query()
                _set_statement_timeout(previous_timeout)
            return value
        except Error as error:
            logger.warning("dashboard metric not available: %s", type(error).__name__)
            return None


def build_dashboard(now: datetime) -> Dashboard:
    reader = TimeLimitedReader()
    sections = [
        _health_section(),
        # What waits for staff comes first.
        _moderation_section(reader, now),
        _members_section(reader, now),
        _purchases_section(reader, now),
        _ledger_section(reader, now),
        _board_section(reader, now),
    ]
    return Dashboard(sections, reader.read(list_last_runs))


def _health_section() -> Section:
    waiting = read_waiting_commits()
    states = (
        ("PostgreSQL", waiting is not None),
        ("Valkey", redis_client.is_reachable()),
    )
    tiles = [
        Tile(name, gettext("up") if is_up else gettext("down"), is_bad=not is_up)
        for name, is_up in states
    ]
    if waiting:
        text = gettext("they wait for a standby")
        tiles.append(Tile(gettext("Writes"), text, is_bad=True))
    return Section(gettext("Health"), tiles)


def _members_section(reader: TimeLimitedReader, now: datetime) -> Section:
    members = reader.read(lambda: count_members(now))
    premium = reader.read(lambda: count_members(now, plan=Member.Plan.PREMIUM))
    suspended = reader.read(lambda: count_members(now, status=Member.Status.SUSPENDED))
    active = reader.read(lambda: count_active_members(now)) or UNKNOWN_ACTIVE_MEMBERS
    premium_note = ""
    if members and premium is not None:
        premium_note = f"{premium / members:.1%}"
    section = Section(
        gettext("Members"),
        [
            _value_tile(gettext("Members"), members),
            _value_tile(gettext("Premium"), premium, premium_note),
            _value_tile(gettext("Suspended"), suspended),
            _value_tile(
                gettext("Active today"), active.day, gettext("in the last 24 hours")
            ),
            _value_tile(
                gettext("Active this week"), active.week, gettext("in the last 7 days")
            ),
            _value_tile(
                gettext("Active this month"),
                active.month,
                gettext("by existing sessions"),
            ),
        ],
    )

    # Today's bar of a gauge shows the live value.
    today = timezone.localdate(now)
    _add_time_series_chart(
        section, reader, gettext("Sign-ups per day"), MetricName.SIGN_UPS, today
    )

    def get_gauge(name: str, live: int | None) -> Series | None:
        return reader.read(lambda: [*get_time_series(name, today)[:-1], live])

    daily_members = get_gauge(MetricName.MEMBERS, members)
    daily_premium = get_gauge(MetricName.PREMIUM, premium)
    daily_active = get_gauge(MetricName.ACTIVE, active.day)
    shares = _percentages(daily_premium, daily_members)
    for title, values, unit in (
        (gettext("Members"), daily_members, ""),
        (gettext("Premium share"), shares, "%"),
        (gettext("Active members per day"), daily_active, ""),
    ):
        _add_chart(section, title, today, values, unit=unit, is_summable=False)
    return section


def _purchases_section(reader: TimeLimitedReader, now: datetime) -> Section:
    running = reader.read(lambda: list_running_products(now))
    series = reader.read(lambda: get_purchase_series(now))
    ended = reader.read(lambda: count_ended(now))
    received = reader.read(lambda: list_received(now))
    refunded = reader.read(lambda: list_refunded(now))
    days_note = gettext("in {days} days").format(days=WINDOW_DAYS)
    section = Section(gettext("Subscriptions"))
    if running is None:
        section.tiles.append(Tile(gettext("Monthly revenue"), str(NOT_AVAILABLE)))
    else:
        counts = Counter[str]()
        for row in running:
            counts[row.product] += row.running
        section.tiles.extend(
            [
                Tile(
                    gettext("Monthly revenue"),
                    format_amounts(monthly_revenue(running)),
                    gettext("by what was paid, a year as twelve months"),
                ),
                *(
                    _value_tile(str(label), counts[product], gettext("running"))
                    for product, label in PRODUCTS.items()
                ),
                _value_tile(
                    gettext("Cancelled"),
                    sum(row.canceled for row in running),
                    gettext("still running"),
                ),
            ]
        )
    section.tiles.extend(
        [
            _value_tile(gettext("New"), series.new if series else None, days_note),
            _value_tile(
                gettext("Renewed"), sum(series.renewed) if series else None, days_note
            ),
            _value_tile(gettext("Ended"), ended, days_note),
            _payments_tile(gettext("Payments"), received, days_note),
            _payments_tile(gettext("Refunded"), refunded, days_note),
        ]
    )
    _add_chart(
        section,
        gettext("Purchases per day"),
        timezone.localdate(now),
        series.bought if series else None,
        stacked_values=series.renewed if series else None,
        stacked_label=gettext("renewals"),
    )
    return section


def _payments_tile(title: str, payments: list[OrderTotal] | None, note: str) -> Tile:
    if payments is None:
        return Tile(title, str(NOT_AVAILABLE))
    orders = sum(row.orders for row in payments)
    counted = ngettext("{count} order {when}", "{count} orders {when}", orders)
    return Tile(
        title,
        format_amounts(sum_amounts(payments)),
        counted.format(count=orders, when=note),
    )


def _ledger_section(reader: TimeLimitedReader, now: datetime) -> Section:
    today = timezone.localdate(now)
    section = Section(gettext("Ledger"))
    _add_time_series_chart(
        section, reader, gettext("New entries per day"), MetricName.ENTRIES, today
    )
    series = reader.read(lambda: get_notification_series(today))
    if series is not None:
        received, recognized = sum(series.received), sum(series.recognized)
        note = gettext("in {days} days").format(days=WINDOW_DAYS)
        if received:
            share = f"{recognized / received:.1%}"
            note = gettext("{share} recognized").format(share=share)
        section.tiles.append(_value_tile(gettext("Notifications"), received, note))
    _add_chart(
        section,
        gettext("Notifications per day"),
        today,
        series.received if series else None,
        stacked_values=series.recognized if series else None,
        stacked_label=gettext("recognized"),
    )
    return section


def _board_section(reader: TimeLimitedReader, now: datetime) -> Section:
    today = timezone.localdate(now)
    section = Section(gettext("Board"))
    for title, name in (
        (gettext("Posts per day"), MetricName.POSTS),
        (gettext("Comments per day"), MetricName.COMMENTS),
        (gettext("Votes per day"), MetricName.VOTES),
    ):
        _add_time_series_chart(section, reader, title, name, today)
    return section


def _moderation_section(reader: TimeLimitedReader, now: datetime) -> Section:
    figures = reader.read(lambda: get_moderation_figures(now))
    waiting = _value_tile(
        gettext("Open cases"), figures.open_cases if figures else None
    )
    tiles = [
        replace(waiting, url=reverse("admin:board_moderationcase_changelist")),
        _waiting_tile(figures, now),
        _value_tile(gettext("Held posts"), figures.held_posts if figures else None),
    ]
    section = Section(gettext("Moderation"), tiles)
    today = timezone.localdate(now)
    days = figures.days if figures else None
    hidden = [each.hidden for each in days] if days else None
    held = [each.held for each in days] if days else None
    _add_chart(section, gettext("Hidden or deleted per day"), today, hidden)
    _add_chart(section, gettext("Held per day"), today, held)
    return section


def _waiting_tile(figures: ModerationFigures | None, now: datetime) -> Tile:
    """Show how long the oldest case has waited; stores expect an answer in a day."""
    title = gettext("Oldest case")
    if figures is None:
        return Tile(title, str(NOT_AVAILABLE))
    if figures.oldest_opened_at is None:
        return Tile(title, "–")
    hours = int((now - figures.oldest_opened_at) / timedelta(hours=1))
    text = ngettext("{count} hour", "{count} hours", hours).format(count=hours)
    is_late = hours >= MAX_WAITING_HOURS
    return Tile(title, text, gettext("waits for a decision"), is_bad=is_late)


def _value_tile(title: str, value: int | None, note: str = "") -> Tile:
    if value is None:
        return Tile(title, str(NOT_AVAILABLE))
    return Tile(title, f"{value:,}", note)


def _add_time_series_chart(
    section: Section, reader: TimeLimitedReader, title: str, name: str, today: date
) -> None:
    _add_chart(section, title, today, reader.read(lambda: get_time_series(name, today)))


def _add_chart(
    section: Section, title: str, today: date, values: Series | None, **options: Any
) -> None:
    if values is None:
        section.missing.append(title)
        return
    days = list_days(today)
    section.charts.append(build_daily_chart(title, days, values, **options))


def _percentages(parts: Series | None, totals: Series | None) -> Series | None:
    if parts is None or totals is None:
        return None
    return [
        round(100 * part / total) if total and part is not None else None
        for part, total in zip(parts, totals, strict=True)
    ]


def _set_statement_timeout(timeout: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [timeout])
