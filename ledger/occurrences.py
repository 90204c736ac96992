"""Process the due dates of recurring rules (BOOKED, SKIPPED or MISSED).

Each due date is stored as an occurrence, unique in the database, in the transaction
that creates its entry and under the lock of the rule. Therefore concurrent workers post
a date once, and an entry that the member deletes is not created again.
"""

import logging
from collections.abc import Iterator, Sequence
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

# Per rule, to bound its transaction; the next run continues.
MAX_DUE_DATES_PER_RUN = 400


@dataclass(frozen=True, slots=True)
class RecurringRunResult:
    """The numbers of due dates booked and missed, and of rules that failed."""

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
    """Process everything that is due by today, of all premium members.

    Idempotent and safe to run concurrently: each rule is processed under its lock, and
    rules locked by another run are skipped. A rule that fails is logged and does not
    stop the others.
    """
    due = list_due_rules(now).order_by("pk")
    total = RecurringRunResult()
    rules = due.values_list("pk", "member_id")
    for number, (rule_id, owner_id) in enumerate(rules, start=1):
        try:
            total += _process_rule_if_due(rule_id, Member(pk=owner_id), now)
        except Exception:
            logger.exception("recurring rule %s failed", rule_id)
            total += RecurringRunResult(failed=1)
        progress.update(f"{number} of {len(rules)} rules")
    return total


def list_due_rules(now: datetime) -> OwnedQuerySet:
    """Return the active rules that are due, of active members with premium.

    Rules of lapsed or suspended members are processed when the plan returns.
    """
    rows: OwnedQuerySet = RecurringRule.objects.filter(
        member__in=Member.objects.with_premium(now).filter(status=Member.Status.ACTIVE),
        active=True,
        next_date__lte=timezone.localdate(now),
    )
    return rows


def _process_rule_if_due(
    rule_id: int, owner: Member, now: datetime
) -> RecurringRunResult:
    """Process one rule, unless it is locked or no longer due."""
    with transaction.atomic():
        lock_ledger_shared(owner)
        # The rule was listed without a lock: check again that it is due.
        rows = list_due_rules(now).select_for_update(of=("self",), skip_locked=True)
        rule = rows.filter(pk=rule_id).first()
        if rule is None:
            return RecurringRunResult()
        return process_rule_until(rule, timezone.localdate(now), now)


def process_rule_until(
    rule: RecurringRule, until: date, now: datetime
) -> RecurringRunResult:
    """Process the rule's due dates up to this day.

    Due dates before the day on which the owner's premium plan began or returned are
    MISSED. Call in a transaction, with the owner's ledger and the rule locked.
    """
    owner = Member.objects.filter(pk=rule.member_id)
    premium_since = owner.values_list("premium_since", flat=True).first()
    if premium_since is None:
        return RecurringRunResult()
    # A rule that is younger than the plan was never without it: a restored rule may
    # have due dates before it was created here.
    if rule.created_at >= premium_since:
        book_from = date.min
    else:
        book_from = timezone.localdate(premium_since)
    return process_due_dates(rule, book_from, until, now)


def process_due_dates(
    rule: RecurringRule, book_from: date, until: date, now: datetime
) -> RecurringRunResult:
    """Book the due dates from `book_from` to `until`; earlier ones are MISSED."""
    if rule.next_date is None or rule.next_date > until:
        return RecurringRunResult()
    due: list[date] = []
    next_date = None
    for day in unprocessed_due_dates(rule, rule.next_date):
        if day > until or len(due) == MAX_DUE_DATES_PER_RUN:
            next_date = day
            break
        due.append(day)
    missed = [day for day in due if day < book_from]
    create_occurrences(rule, missed, Occurrence.Status.MISSED)
    booked = create_booked_entries(rule, due[len(missed) :], now)
    rule.next_date = next_date
    rule.save(update_fields=["next_date"])
    return RecurringRunResult(booked=len(booked), missed=len(missed))


def unprocessed_due_dates(rule: RecurringRule, start: date) -> Iterator[date]:
    """Yield the rule's due dates from `start` on that have no occurrence yet."""
    rows = Occurrence.objects.filter(rule_id=rule.pk, due_date__gte=start)
    processed = set(rows.values_list("due_date", flat=True))
    days = rule.schedule.due_dates(start, date.max)
    return (day for day in days if day not in processed)


def create_booked_entries(
    rule: RecurringRule, days: Sequence[date], now: datetime
) -> list[int]:
    """Create the entries of these days, with their occurrences; return their ids."""
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


def create_occurrences(
    rule: RecurringRule, days: Sequence[date], status: Occurrence.Status
) -> None:
    """Record due dates that are SKIPPED or MISSED."""
    Occurrence.objects.bulk_create(
        Occurrence(rule=rule, member_id=rule.member_id, due_date=day, status=status)
        for day in days
    )
