"""Activity points: what a member has, and how many awards today still brings."""

from datetime import datetime, time, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Member, PointHistory

POINTS_PER_AWARD = 10
DAILY_AWARD_LIMIT = 3


def list_awards(member: Member) -> QuerySet[PointHistory]:
    """The member's awards, newest first."""
    return PointHistory.objects.filter(member=member)


def count_awards_today(member: Member, now: datetime) -> int:
    """Awards since midnight in the home time zone, of posts and comments together."""
    today = timezone.localdate(now)
    start = timezone.make_aware(datetime.combine(today, time.min))
    end = timezone.make_aware(datetime.combine(today + timedelta(days=1), time.min))
    return list_awards(member).filter(created_at__gte=start, created_at__lt=end).count()
