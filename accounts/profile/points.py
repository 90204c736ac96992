"""Points for posts and comments (spec 2.8)."""

from datetime import datetime, time, timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.models import Member, PointHistory
from accounts.models.points import DAILY_AWARD_LIMIT

POINTS_PER_AWARD = 10


@transaction.atomic
def award_points(member: Member, reason: PointHistory.Reason, now: datetime) -> bool:
    """Award points; return False at the daily limit."""
    # Concurrent awards wait for the lock. The unique constraint is the second guard.
    Member.objects.select_for_update(no_key=True).only("id").get(pk=member.pk)
    day = timezone.localdate(now)
    awards = PointHistory.objects.filter(member=member, award_day=day)
    taken = set(awards.values_list("award_number", flat=True))
    award_number = next(
        (n for n in range(1, DAILY_AWARD_LIMIT + 1) if n not in taken), None
    )
    if award_number is None:
        return False
    PointHistory.objects.create(
        member=member,
        points=POINTS_PER_AWARD,
        reason=reason,
        created_at=now,
        award_day=day,
        award_number=award_number,
    )
    Member.objects.filter(pk=member.pk).update(points=F("points") + POINTS_PER_AWARD)
    return True


def list_awards(member: Member) -> QuerySet[PointHistory]:
    return PointHistory.objects.filter(member=member)


def count_awards_today(member: Member, now: datetime) -> int:
    today = timezone.localdate(now)
    start = timezone.make_aware(datetime.combine(today, time.min))
    end = timezone.make_aware(datetime.combine(today + timedelta(days=1), time.min))
    return list_awards(member).filter(created_at__gte=start, created_at__lt=end).count()
