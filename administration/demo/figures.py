"""Figures of the dashboard for the days before the demo."""

from collections.abc import Iterable
from datetime import date, datetime
from random import Random

from django.utils import timezone

from accounts.models import Member
from administration.daily_metrics import SOURCE_TABLES, list_days
from administration.models import DailyMetric
from ledger.models import NotificationCount

MetricName = DailyMetric.Name


def create_figures(members: list[Member], now: datetime, rng: Random) -> None:
    """Store the figures of the daily job; keep existing figures.

    Sign-ups, posts, comments and votes are counted from their rows.
    """
    today = timezone.localdate(now)
    days = list_days(today)[:-1]
    # The job may have run before these rows were created.
    DailyMetric.objects.filter(day__in=days, name__in=SOURCE_TABLES, value=0).delete()
    joined = sorted(timezone.localdate(member.created_at) for member in members)
    figures = []
    counts: list[NotificationCount] = []
    for day in days:
        count = sum(each <= day for each in joined)
        active = count * rng.randrange(35, 60) // 100
        values = {
            MetricName.MEMBERS: count,
            MetricName.PREMIUM: count // 5,
            MetricName.ACTIVE: active,
            MetricName.ENTRIES: active * rng.randrange(2, 5),
        }
        figures += [DailyMetric(day=day, name=n, value=v) for n, v in values.items()]
        counts += _count_notifications(day, active, rng)
    DailyMetric.objects.bulk_create(figures, ignore_conflicts=True)
    NotificationCount.objects.bulk_create(counts, ignore_conflicts=True)


def _count_notifications(
    day: date, active: int, rng: Random
) -> Iterable[NotificationCount]:
    received = active * rng.randrange(3, 6)
    unknown = received * rng.randrange(2, 9) // 100
    for is_recognized, count in ((True, received - unknown), (False, unknown)):
        yield NotificationCount(
            day=day, is_recognized=is_recognized, shard=0, count=count
        )
