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
from core.progress import SILENT_PROGRESS, Progress
from ledger.locking import lock_ledger_shared
from ledger.models import Entry, EntryTag, Occurrence, RecurringRule, RecurringTag
from ledger.models.base import OwnedQuerySet

logger = logging.getLogger(__name__)

MAX_DUE_DATES_PER_RUN = 400
"""Due dates of one rule that are dealt with in one go; the next run goes on."""


@dataclass(frozen=True, slots=True)
class RecurringRunResult:
    """What a run of the job did."""

    booked: int = 0
    missed: int = 0
    failed: int = 0

    def __add__(self, other: "RecurringRunResult") -> "RecurringRunResult":
        return RecurringRunResult(
            self.booked + other.booked,
            self.missed + other.missed,
            self.failed + other.failed,
        )


def process_due_rules(
    now: datetime, progress: Progress = SILENT_PROGRESS
) -> RecurringRunResult:
    """Book everything that is due by today, of all members whose plan runs.

    Idempotent and safe beside another run: a rule is dealt with under its lock, and
    one that somebody else holds is left to them. A rule that fails is logged and
    does not keep the others waiting.
    """
    due = list_due_rules(now).order_by("pk")
    total = RecurringRunResult()
    rules = due.values_list("pk", "member_id")
    for number, (rule_id, owner_id) in enumerate(rules, start=1):
        try:
            total += _process_rule_if_due(rule_id, Member(pk=owner_id), now)
        except Exception:
            logger.exception("recurring rule %s could not be booked", rule_id)
            total += RecurringRunResult(failed=1)
        progress.update(f"{number} of {len(rules)} rules")
    return total


def list_due_rules(now: datetime) -> OwnedQuerySet:
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


def _process_rule_if_due(
    rule_id: int, owner: Member, now: datetime
) -> RecurringRunResult:
    """Deal with the due dates of one rule, if it still waits."""
    with transaction.atomic():
        lock_ledger_shared(owner)
        rows = list_due_rules(now).select_for_update(of=("self",), skip_locked=True)
        rule = rows.filter(pk=rule_id).first()
        if rule is None:
            return RecurringRunResult()
        return process_rule_until(rule, timezone.localdate(now), now)


def process_rule_until(
    rule: RecurringRule, until: date, now: datetime
) -> RecurringRunResult:
    """Book the rule's due dates up to this day, and move it on.

    Those before the day on which the owner's plan returned are MISSED, unless the rule
    came with them: a restored one was never without a plan here. Call in a transaction
    that holds the owner's ledger and the rule.
    """
    since = get_premium_start(rule.member_id)
    if since is None:
        return RecurringRunResult()
    paid_from = date.min if rule.created_at >= since else timezone.localdate(since)
    return process_due_dates(rule, paid_from, until, now)


def process_due_dates(
    rule: RecurringRule, since: date, until: date, now: datetime
) -> RecurringRunResult:
    """Book from one day to the other; what is due before them is MISSED."""
    if rule.next_date is None or rule.next_date > until:
        return RecurringRunResult()
    due: list[date] = []
    following = None
    for day in unprocessed_due_dates(rule, rule.next_date):
        if day > until or len(due) == MAX_DUE_DATES_PER_RUN:
            following = day
            break
        due.append(day)
    missed = [day for day in due if day < since]
    create_occurrences(rule, missed, Occurrence.Status.MISSED)
    booked = create_booked_entries(rule, due[len(missed) :], now)
    rule.next_date = following
    rule.save(update_fields=["next_date"])
    return RecurringRunResult(booked=len(booked), missed=len(missed))


def unprocessed_due_dates(rule: RecurringRule, start: date) -> Iterator[date]:
    """The rule's due dates from this day on that are not dealt with yet."""
    rows = Occurrence.objects.filter(rule_id=rule.pk, due_date__gte=start)
    dealt_with = set(rows.values_list("due_date", flat=True))
    days = rule.schedule.due_dates(start, date.max)
    return (day for day in days if day not in dealt_with)


def get_premium_start(member_id: int) -> datetime | None:
    """When premium began for the member, without a break since."""
    rows = Member.objects.filter(pk=member_id).values_list("plan_since", flat=True)
    return rows.first()


def create_booked_entries(
    rule: RecurringRule, days: Sequence[date], now: datetime
) -> list[int]:
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
        _copy_tags(rule, entries)
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


def _copy_tags(rule: RecurringRule, entries: Iterable[Entry]) -> None:
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


def create_occurrences(
    rule: RecurringRule, days: Sequence[date], status: Occurrence.Status
) -> None:
    """Write down what became of days that are not booked."""
    Occurrence.objects.bulk_create(
        Occurrence(rule=rule, member_id=rule.member_id, due_date=day, status=status)
        for day in days
    )
