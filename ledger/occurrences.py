"""What becomes of the due dates of recurring rules: booked, skipped or missed.

Every due date becomes one stored occurrence, unique in the database and written in the
transaction of its entry; whoever writes one holds the rule's lock. So two workers at
once book a date once, and a deleted entry is not booked again.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from core.progress import UNSEEN, Progress
from ledger.locking import share_ledger
from ledger.models import Entry, EntryTag, Occurrence, RecurringRule, RecurringTag
from ledger.models.base import OwnedQuerySet

logger = logging.getLogger(__name__)

MAX_CATCH_UP = 400
"""Due dates of one rule that are dealt with in one go; the next run goes on."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of the job did."""

    booked: int = 0
    missed: int = 0
    failed: int = 0

    def __add__(self, other: "Run") -> "Run":
        return Run(
            self.booked + other.booked,
            self.missed + other.missed,
            self.failed + other.failed,
        )


def run_due(now: datetime, progress: Progress = UNSEEN) -> Run:
    """Book everything that is due by today, of all members whose plan runs.

    Idempotent and safe beside another run: a rule is dealt with under its lock, and
    one that somebody else holds is left to them. A rule that fails is logged and
    does not keep the others waiting.
    """
    due = find_due_rules(now).order_by("pk")
    total = Run()
    rules = due.values_list("pk", "member_id")
    for number, (rule_id, owner_id) in enumerate(rules, start=1):
        try:
            total += _run_rule(rule_id, Member(pk=owner_id), now)
        except Exception:
            logger.exception("recurring rule %s could not be booked", rule_id)
            total += Run(failed=1)
        progress.tell(f"{number} of {len(rules)} rules")
    return total


def find_due_rules(now: datetime) -> OwnedQuerySet:
    """The rules that wait to be booked.

    Those of a member whose plan has lapsed, or who is suspended, are left until it
    returns.
    """
    rows: OwnedQuerySet = RecurringRule.objects.filter(
        member__in=Member.objects.with_premium(now),
        active=True,
        next_date__lte=timezone.localdate(now),
    )
    return rows


def _run_rule(rule_id: int, owner: Member, now: datetime) -> Run:
    """Deal with the due dates of one rule, if it still waits."""
    with transaction.atomic():
        share_ledger(owner)
        rows = find_due_rules(now).select_for_update(of=("self",), skip_locked=True)
        rule = rows.filter(pk=rule_id).first()
        if rule is None:
            return Run()
        return settle(rule, timezone.localdate(now), now)


def settle(rule: RecurringRule, until: date, now: datetime) -> Run:
    """Book the rule's due dates up to this day, and move it on.

    Those before the day on which the owner's plan returned are MISSED, unless the rule
    came with them: a restored one was never without a plan here. Call in a transaction
    that holds the owner's ledger and the rule.
    """
    since = read_plan_start(rule.member_id)
    if since is None:
        return Run()
    paid_from = date.min if rule.created_at >= since else timezone.localdate(since)
    return catch_up(rule, paid_from, until, now)


def catch_up(rule: RecurringRule, since: date, until: date, now: datetime) -> Run:
    """Book from one day to the other; what is due before them is MISSED."""
    if rule.next_date is None or rule.next_date > until:
        return Run()
    due: list[date] = []
    following = None
    for day in open_days(rule, rule.next_date):
        if day > until or len(due) == MAX_CATCH_UP:
            following = day
            break
        due.append(day)
    missed = [day for day in due if day < since]
    note(rule, missed, Occurrence.Status.MISSED)
    booked = book(rule, due[len(missed) :], now)
    rule.next_date = following
    rule.save(update_fields=["next_date"])
    return Run(booked=len(booked), missed=len(missed))


def open_days(rule: RecurringRule, start: date) -> Iterator[date]:
    """The rule's due dates from this day on that are not dealt with yet."""
    rows = Occurrence.objects.filter(rule_id=rule.pk, due_date__gte=start)
    dealt_with = set(rows.values_list("due_date", flat=True))
    days = rule.schedule.dues(start, date.max)
    return (day for day in days if day not in dealt_with)


def read_plan_start(member_id: int) -> datetime | None:
    """When premium began for the member, without a break since."""
    rows = Member.objects.filter(pk=member_id).values_list("plan_since", flat=True)
    return rows.first()


def book(rule: RecurringRule, days: Sequence[date], now: datetime) -> list[int]:
    """Write the confirmed entries of these days; their ids."""
    entries = Entry.objects.bulk_create(
        Entry(
            member_id=rule.member_id,
            date=day,
            type=rule.type,
            amount=rule.amount,
            category_id=rule.category_id,
            wallet_id=rule.wallet_id,
            memo=rule.memo,
            created_at=now,
            updated_at=now,
        )
        for day in days
    )
    if entries:
        _tag(rule, entries)
    Occurrence.objects.bulk_create(
        Occurrence(
            rule=rule,
            member_id=rule.member_id,
            due_date=entry.date,
            status=Occurrence.Status.BOOKED,
            entry=entry,
        )
        for entry in entries
    )
    return [int(entry.pk) for entry in entries]


def _tag(rule: RecurringRule, entries: Iterable[Entry]) -> None:
    links = list(RecurringTag.objects.filter(rule=rule))
    EntryTag.objects.bulk_create(
        EntryTag(
            entry=entry,
            tag_id=link.tag_id,
            member_id=rule.member_id,
            position=link.position,
        )
        for entry in entries
        for link in links
    )


def note(rule: RecurringRule, days: Sequence[date], status: Occurrence.Status) -> None:
    """Write down what became of days that are not booked."""
    Occurrence.objects.bulk_create(
        Occurrence(rule=rule, member_id=rule.member_id, due_date=day, status=status)
        for day in days
    )
