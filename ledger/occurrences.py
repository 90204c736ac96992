"""Process the due dates of recurring rules (BOOKED, SKIPPED or MISSED).

Each due date is stored as an occurrence, unique in the database, in the transaction
that creates its entry and under the lock of the ledger. Therefore concurrent workers
post a date once, and an entry that the member deletes is not created again.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Member
from core.db.transactions import retry_on_conflict
from core.progress import SILENT_PROGRESS, Progress
from ledger.booked_entries import insert_entries
from ledger.locking import lock_ledger
from ledger.models import Occurrence, RecurringRule
from ledger.models.base import OwnedQuerySet

logger = logging.getLogger(__name__)

# Of one member; the next run continues.
MAX_DUE_DATES_PER_RUN = 4_000
# Both bound a transaction, and so a member's turn.
MAX_DUE_DATES_PER_TRANSACTION = 400
MAX_RULES_PER_TRANSACTION = 20
# Whose plans are read together, a fraction of a second before their rules are booked.
MEMBERS_PER_BATCH = 50

RuleDate = tuple[RecurringRule, date]

# Plain SQL: a million rules may be due on the first of a month, and Django would take
# more time to compile the queries than the database to run them.
_READ_DUE_RULES = """
SELECT * FROM account_recurring
WHERE member_id = %s AND id = ANY(%s) AND active AND next_date <= %s
ORDER BY id
"""
_READ_PROCESSED_DATES = """
SELECT rule_id, due_date FROM account_recurring_occurrence
WHERE member_id = %(member)s AND rule_id = ANY(%(rules)s) AND due_date >= %(first)s
"""
# The entries get the tags of their rules.
_INSERT_OCCURRENCES = """
WITH due AS (
    SELECT * FROM unnest(%(rules)s::bigint[], %(dates)s::date[], %(entries)s::bigint[])
        AS due (rule_id, due_date, entry_id)
), tagged AS (
    INSERT INTO account_entry_tag (entry_id, tag_id, member_id, position)
    SELECT due.entry_id, link.tag_id, link.member_id, link.position
    FROM due JOIN account_recurring_tag link
        ON link.member_id = %(member)s AND link.rule_id = due.rule_id
    WHERE due.entry_id IS NOT NULL
)
INSERT INTO account_recurring_occurrence
    (member_id, rule_id, due_date, status, entry_id, created_at)
SELECT %(member)s, rule_id, due_date, %(status)s, entry_id, %(now)s FROM due
"""
_UPDATE_NEXT_DATES = """
UPDATE account_recurring rule SET next_date = due.next_date
FROM unnest(%s::bigint[], %s::date[]) AS due (id, next_date)
WHERE rule.member_id = %s AND rule.id = due.id
"""


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


class Turn(NamedTuple):
    """The result of one transaction, and the ids of rules that are due still."""

    result: RecurringRunResult = RecurringRunResult()
    unfinished: tuple[int, ...] = ()

    @property
    def date_count(self) -> int:
        return self.result.booked + self.result.missed


def process_due_rules(
    now: datetime,
    progress: Progress = SILENT_PROGRESS,
    members: tuple[int, int] | None = None,
) -> RecurringRunResult:
    """Process what is due by today, of all premium members.

    `members` limits the run to a range of member ids, both inclusive. Idempotent and
    safe to run concurrently. A rule that fails is logged and does not stop the others.

    The members take turns of one transaction each, so that nobody waits for all that
    another one has to catch up. What exceeds `MAX_DUE_DATES_PER_RUN` of a member is
    left to the next run.
    """
    due = list_due_rules(now, members)
    rows = list(due.order_by("member_id", "pk").values_list("member_id", "pk"))
    waiting = {
        owner_id: [rule_id for _, rule_id in pairs]
        for owner_id, pairs in groupby(rows, key=itemgetter(0))
    }
    budgets = dict.fromkeys(waiting, MAX_DUE_DATES_PER_RUN)
    total = RecurringRunResult()
    while waiting:
        owner_ids = list(waiting)
        for start in range(0, len(owner_ids), MEMBERS_PER_BATCH):
            batch = owner_ids[start : start + MEMBERS_PER_BATCH]
            # The list may be minutes old: a plan may have ended since.
            bookable = list_bookable_members(now).filter(pk__in=batch)
            premium_since = dict(bookable.values_list("pk", "premium_since"))
            for owner_id in batch:
                rule_ids = waiting.pop(owner_id)
                if (since := premium_since.get(owner_id)) is None:
                    continue
                turn = _process_or_log(
                    Member(pk=owner_id),
                    since,
                    rule_ids[:MAX_RULES_PER_TRANSACTION],
                    min(budgets[owner_id], MAX_DUE_DATES_PER_TRANSACTION),
                    now,
                )
                total += turn.result
                budgets[owner_id] -= turn.date_count
                left = [*turn.unfinished, *rule_ids[MAX_RULES_PER_TRANSACTION:]]
                if left and budgets[owner_id]:
                    waiting[owner_id] = left
            left_count = sum(map(len, waiting.values()))
            progress.update(f"{len(rows) - left_count} of {len(rows)} rules")
    return total


def list_due_rules(
    now: datetime, members: tuple[int, int] | None = None
) -> OwnedQuerySet:
    """Return the active rules that are due, of active members with premium.

    Rules of lapsed or suspended members are processed when the plan returns.
    """
    owners = list_bookable_members(now)
    rows: OwnedQuerySet = RecurringRule.objects.filter(
        active=True, next_date__lte=timezone.localdate(now)
    )
    if members is not None:
        # On both sides: where they are on different nodes, both are read.
        owners = owners.filter(pk__range=members)
        rows = rows.filter(member_id__gte=members[0], member_id__lte=members[1])
    return rows.filter(member__in=owners)


def list_bookable_members(now: datetime) -> QuerySet[Member]:
    """Return the active members with premium."""
    return Member.objects.with_premium(now).filter(status=Member.Status.ACTIVE)


def _process_or_log(
    owner: Member,
    premium_since: datetime,
    rule_ids: list[int],
    max_dates: int,
    now: datetime,
) -> Turn:
    """Process rules of one member together, or one by one if one of them fails."""
    try:
        return _process_rules_if_due(owner, premium_since, rule_ids, max_dates, now)
    except Exception:
        if len(rule_ids) == 1:
            logger.exception("recurring rule %s failed", rule_ids[0])
            return Turn(RecurringRunResult(failed=1))
    total = Turn()
    for rule_id in rule_ids:
        left = max_dates - total.date_count
        turn = _process_or_log(owner, premium_since, [rule_id], left, now)
        total = Turn(total.result + turn.result, total.unfinished + turn.unfinished)
    return total


@retry_on_conflict
def _process_rules_if_due(
    owner: Member,
    premium_since: datetime,
    rule_ids: list[int],
    max_dates: int,
    now: datetime,
) -> Turn:
    """Process those of the rules that are still due, up to a number of due dates."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            # The commit need not wait for the disk: what a crash loses is lost with its
            # `next_date`, and the next run books it.
            cursor.execute("SET LOCAL synchronous_commit = off")
        lock_ledger(owner)
        # The rules were listed without a lock: check again that they are due.
        today = timezone.localdate(now)
        rules = RecurringRule.objects.raw(_READ_DUE_RULES, [owner.pk, rule_ids, today])
        due = [(rule, first_bookable_day(rule, premium_since)) for rule in rules]
        result = process_due_dates(due, today, now, max_dates)
        return Turn(
            result,
            tuple(
                rule.pk
                for rule, _ in due
                if rule.next_date is not None and rule.next_date <= today
            ),
        )


def process_rule_until(
    rule: RecurringRule, until: date, now: datetime
) -> RecurringRunResult:
    """Process the rule's due dates up to this day.

    Call under `lock_ledger`.
    """
    owner = Member.objects.filter(pk=rule.member_id)
    premium_since = owner.values_list("premium_since", flat=True).first()
    book_from = first_bookable_day(rule, premium_since)
    return process_due_dates([(rule, book_from)], until, now)


def first_bookable_day(
    rule: RecurringRule, premium_since: datetime | None
) -> date | None:
    """Return the day before which due dates are MISSED; None without premium.

    It is the day on which the owner's premium plan began or returned.
    """
    if premium_since is None:
        return None
    # A rule that is younger than the plan was never without it: a restored rule may
    # have due dates before it was created here.
    if rule.created_at >= premium_since:
        return date.min
    return timezone.localdate(premium_since)


def process_due_dates(
    rules: Sequence[tuple[RecurringRule, date | None]],
    until: date,
    now: datetime,
    max_dates: int = MAX_DUE_DATES_PER_TRANSACTION,
) -> RecurringRunResult:
    """Process the due dates up to `until` of rules of one member, up to a number.

    Each rule comes with the day from which its due dates are booked; earlier ones are
    MISSED, and without a day the rule waits. The number of statements depends neither
    on the number of rules nor on that of their dates.
    """
    due = {
        rule: book_from
        for rule, book_from in rules
        if book_from and rule.next_date and rule.next_date <= until
    }
    processed = _list_processed_dates(list(due))
    missed: list[RuleDate] = []
    booked: list[RuleDate] = []
    for rule, book_from in due.items():
        days: list[date] = []
        start, rule.next_date = rule.next_date or until, None
        for day in rule.schedule.due_dates(start, date.max):
            if day in processed[rule.pk]:
                continue
            if day > until or len(days) == max_dates:
                rule.next_date = day
                break
            days.append(day)
        max_dates -= len(days)
        missed += [(rule, day) for day in days if day < book_from]
        booked += [(rule, day) for day in days if day >= book_from]
    if missed:
        create_occurrences(missed, Occurrence.Status.MISSED)
    if booked:
        create_booked_entries(booked, now)
    if due:
        _save_next_dates(list(due))
    return RecurringRunResult(booked=len(booked), missed=len(missed))


def unprocessed_due_dates(rule: RecurringRule, start: date) -> Iterator[date]:
    """Yield the rule's due dates from `start` on that have no occurrence yet."""
    rows = Occurrence.objects.filter(
        member_id=rule.member_id, rule_id=rule.pk, due_date__gte=start
    )
    processed = set(rows.values_list("due_date", flat=True))
    days = rule.schedule.due_dates(start, date.max)
    return (day for day in days if day not in processed)


def _list_processed_dates(rules: Sequence[RecurringRule]) -> dict[int, set[date]]:
    """Return the dates from `next_date` on that have an occurrence, by rule."""
    processed: dict[int, set[date]] = {rule.pk: set() for rule in rules}
    if not rules:
        return processed
    first = min(rule.next_date for rule in rules if rule.next_date)
    with connection.cursor() as cursor:
        cursor.execute(
            _READ_PROCESSED_DATES,
            {"member": rules[0].member_id, "rules": list(processed), "first": first},
        )
        for rule_id, day in cursor.fetchall():
            processed[rule_id].add(day)
    return processed


def _save_next_dates(rules: Sequence[RecurringRule]) -> None:
    ids, dates = [rule.pk for rule in rules], [rule.next_date for rule in rules]
    with connection.cursor() as cursor:
        cursor.execute(_UPDATE_NEXT_DATES, [ids, dates, rules[0].member_id])


def create_booked_entries(booked: Sequence[RuleDate], now: datetime) -> list[int]:
    """Create the entries of due dates of one member's rules; return their ids.

    Their tags and occurrences are created with them.
    """
    entry_ids = insert_entries(booked, now)
    create_occurrences(booked, Occurrence.Status.BOOKED, entry_ids)
    return entry_ids


def create_occurrences(
    dates: Sequence[RuleDate],
    status: Occurrence.Status,
    entry_ids: Sequence[int] | None = None,
) -> None:
    """Record due dates of one member's rules, those that are BOOKED with entries.

    The entries get their tags.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_OCCURRENCES,
            {
                "member": dates[0][0].member_id,
                "status": status.value,
                "now": timezone.now(),
                "rules": [rule.pk for rule, _ in dates],
                "dates": [day for _, day in dates],
                "entries": list(entry_ids) if entry_ids else [None] * len(dates),
            },
        )
