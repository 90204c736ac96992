"""Figures of the dashboard for the days before the demo, from the rows of the demo."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from hashlib import sha256
from operator import itemgetter
from random import Random

from django.conf import settings
from django.db.models import Model
from django.utils import timezone

from accounts.models import AuthSession, Member
from administration.daily_metrics import SOURCE_TABLES, list_days, start_of
from administration.models import DailyMetric
from billing.models import Purchase
from board.models import Comment, CommentVote, Post, PostVote
from ledger.demo.neighbors import create_small_ledger
from ledger.models import Entry, NotificationCount
from ledger.models.entries import EntrySource

MetricName = DailyMetric.Name

# Rows that members write, each with `member` and `created_at`.
WRITTEN: tuple[type[Model], ...] = (Entry, Post, Comment, PostVote, CommentVote)
# Of a hundred days, on how many a member keeps the books.
MIN_ACTIVITY, MAX_ACTIVITY = 15, 70
# One text of so many is not recognized.
UNKNOWN_STEP = 12


def create_activity(members: Sequence[Member], now: datetime, rng: Random) -> int:
    """Let the members keep books in the 30 days; return the number of entries."""
    days = list_days(timezone.localdate(now))
    entries = 0
    for member in members:
        joined = timezone.localdate(member.created_at)
        activity = rng.randint(MIN_ACTIVITY, MAX_ACTIVITY)
        active = [
            day
            for day in days
            # After the hours in which entries are written.
            if joined < day and rng.randrange(100) < activity
        ]
        if active:
            entries += create_small_ledger(member, active, now, rng)
    return entries


def create_figures(now: datetime) -> None:
    """Store what the daily job would have stored, and the sessions of who wrote.

    Counts (sign-ups, entries, posts, comments, votes) are counted from their rows.
    """
    today = timezone.localdate(now)
    past = list_days(today)[:-1]
    # The job may have run before these rows were created.
    DailyMetric.objects.filter(day__in=past, name__in=SOURCE_TABLES).delete()
    written = list(_list_written_times(past[0]))
    active: dict[date, set[int]] = defaultdict(set)
    for member_id, time in written:
        active[timezone.localdate(time)].add(member_id)
    joined = [
        timezone.localdate(time)
        for time in Member.objects.values_list("created_at", flat=True)
    ]
    paid = list(_list_paid_days())
    figures = []
    for day in past:
        values = {
            MetricName.MEMBERS: sum(first <= day for first in joined),
            MetricName.PREMIUM: sum(first <= day < end for first, end in paid),
            MetricName.ACTIVE: len(active[day]),
        }
        figures += [DailyMetric(day=day, name=n, value=v) for n, v in values.items()]
    DailyMetric.objects.bulk_create(
        figures,
        update_conflicts=True,
        unique_fields=["day", "name"],
        update_fields=["value"],
    )
    _create_sessions(dict(sorted(written, key=itemgetter(1))), now)
    _create_notification_counts(past[0])


def _list_written_times(first: date) -> Iterator[tuple[int, datetime]]:
    for model in WRITTEN:
        rows = model._default_manager.filter(created_at__gte=start_of(first))
        yield from rows.values_list("member_id", "created_at")


def _list_paid_days() -> Iterator[tuple[date, date]]:
    """Yield the first day of each paid membership, and the day after its end."""
    purchases = Purchase.objects.values_list("member__created_at", "expires_at")
    for joined_at, ends_at in purchases:
        yield timezone.localdate(joined_at), timezone.localdate(ends_at)
    granted = Member.objects.filter(plan=Member.Plan.PREMIUM, plan_expires_at=None)
    for joined_at in granted.values_list("created_at", flat=True):
        yield timezone.localdate(joined_at), date.max


def _create_sessions(last_times: Mapping[int, datetime], now: datetime) -> None:
    """Create a session of each member who has written; nobody has its key."""
    lifetime = timedelta(days=settings.SESSION_TTL_DAYS)
    members = Member.objects.in_bulk(
        [pk for pk, time in last_times.items() if time + lifetime > now]
    )
    AuthSession.objects.bulk_create(
        AuthSession(
            key_hash=sha256(secrets.token_bytes()).hexdigest(),
            member=member,
            plan=member.plan,
            display_name=member.display_name,
            created_at=last_times[pk],
            last_seen_at=last_times[pk],
            expires_at=last_times[pk] + lifetime,
        )
        for pk, member in members.items()
    )


def _create_notification_counts(first: date) -> None:
    """Count the texts behind the entries, and a few that were not recognized."""
    entries = Entry.objects.filter(
        source=EntrySource.NOTIFICATION, created_at__gte=start_of(first)
    )
    received = Counter(
        timezone.localdate(time)
        for time in entries.values_list("created_at", flat=True)
    )
    NotificationCount.objects.bulk_create(
        (
            NotificationCount(day=day, is_recognized=known, shard=0, count=count)
            for day, recognized in received.items()
            for known, count in (
                (True, recognized),
                (False, recognized // UNKNOWN_STEP),
            )
        ),
        ignore_conflicts=True,
    )
