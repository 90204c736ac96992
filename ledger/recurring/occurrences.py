"""Process the due dates of recurring rules (BOOKED, SKIPPED or MISSED).

An occurrence is unique, and stored with its entry under the lock of the ledger:
concurrent workers post a date once, and a deleted entry is not created again.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Member
from core.progress import SILENT_PROGRESS, Progress
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.errors import LedgerFullError
from ledger.models import Occurrence, RecurringRule
from ledger.models.base import OwnedQuerySet

logger = logging.getLogger(__name__)

# Limit of a member; the next run continues.
MAX_DUE_DATES_PER_RUN = 4_000
# Limits of one transaction.
MAX_DUE_DATES_PER_TRANSACTION = 400
MAX_RULES_PER_TRANSACTION = 20
# Their plans are read at once, just before their rules are booked.
MEMBERS_PER_BATCH = 50

RuleDate = tuple[RecurringRule, date]

# Django would take longer to compile the queries, for a million rules on the first of a
# month, than the database to run them.
_READ_DUE_RULES = """
SELECT * FROM account_recurring
WHERE member_id = %s AND id = ANY(%s) AND active AND next_date <= %s
ORDER BY id
"""
_READ_PROCESSED_DATES = """
SELECT rule_id, due_date FROM account_recurring_occurrence
WHERE member_id = %(member)s AND rule_id = ANY(%(rules)s) AND due_date >= %(first)s
"""
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
    booked: int = 0
    missed: int = 0
    failed: int = 0

    def __add__(self, other: "RecurringRunResult") -> "RecurringRunResult":
        return RecurringRunResult(
            self.booked + other.booked,
            self.missed + other.missed,
            self.failed + other.failed,
        )


class Batch(NamedTuple):
    """The result of one transaction, and the ids of rules that are still due."""

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
    """Process the dates due by today, of all premium members.

    `members` is a range of member ids, both inclusive. Idempotent and safe to run
    concurrently. A rule that fails is logged and does not stop the others.

    Members take turns, a transaction each: no member waits until another has caught up.
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
            group = owner_ids[start : start + MEMBERS_PER_BATCH]
            # A plan may have ended since the list was read.
            bookable = list_bookable_members(now).filter(pk__in=group)
            premium_since = dict(bookable.values_list("pk", "premium_since"))
            for owner_id in group:
                rule_ids = waiting.pop(owner_id)
                if (since := premium_since.get(owner_id)) is None:
                    continue
                batch = _process_or_log(
                    Member(pk=owner_id),
                    since,
                    rule_ids[:MAX_RULES_PER_TRANSACTION],
                    min(budgets[owner_id], MAX_DUE_DATES_PER_TRANSACTION),
                    now,
                )
                total += batch.result
                budgets[owner_id] -= batch.date_count
                left = [*batch.unfinished, *rule_ids[MAX_RULES_PER_TRANSACTION:]]
                if left and budgets[owner_id]:
                    waiting[owner_id] = left
            left_count = sum(map(len, waiting.values()))
            progress.update(f"{len(rows) - left_count} of {len(rows)} rules")
    return total


def list_due_rules(
    now: datetime, members: tuple[int, int] | None = None
) -> OwnedQuerySet:
    """Return the active rules that are due, of active members with premium."""
    owners = list_bookable_members(now)
    rows: OwnedQuerySet = RecurringRule.objects.filter(
        active=True, next_date__lte=timezone.localdate(now)
    )
    if members is not None:
        # The range is on both sides: both are read if they are on different nodes.
        owners = owners.filter(pk__range=members)
        rows = rows.filter(member_id__gte=members[0], member_id__lte=members[1])
    return rows.filter(member__in=owners)


def list_bookable_members(now: datetime) -> QuerySet[Member]:
    return Member.objects.with_premium(now).filter(status=Member.Status.ACTIVE)


def _process_or_log(
    owner: Member,
    premium_since: datetime,
    rule_ids: list[int],
    max_dates: int,
    now: datetime,
) -> Batch:
    """Process rules of one member together, or one by one if one of them fails."""
    try:
        return _process_rules_if_due(owner, premium_since, rule_ids, max_dates, now)
    except Exception as error:
        if len(rule_ids) == 1:
            if isinstance(error, LedgerFullError):
                # The dates stay due until there is room.
                return Batch()
            logger.exception("recurring rule %s failed", rule_ids[0])
            return Batch(RecurringRunResult(failed=1))
    total = Batch()
    for rule_id in rule_ids:
        left = max_dates - total.date_count
        batch = _process_or_log(owner, premium_since, [rule_id], left, now)
        total = Batch(total.result + batch.result, total.unfinished + batch.unfinished)
    return total


@ledger_write
def _process_rules_if_due(
    ledger: LockedLedger,
    premium_since: datetime,
    rule_ids: list[int],
    max_dates: int,
    now: datetime,
) -> Batch:
    with connection.cursor() as cursor:
        # No wait for the disk: a crash loses `next_date` with the entries, and the next
        # run books them.
        cursor.execute("SET LOCAL synchronous_commit = off")
    # The rules were listed without a lock.
    today = timezone.localdate(now)
    params = [ledger.member.pk, rule_ids, today]
    rules = RecurringRule.objects.raw(_READ_DUE_RULES, params)
    due = [(rule, first_bookable_day(rule, premium_since)) for rule in rules]
    result = process_due_dates(ledger, due, today, now, max_dates)
    unfinished = tuple(
        rule.pk
        for rule, _ in due
        if rule.next_date is not None and rule.next_date <= today
    )
    return Batch(result, unfinished)


def process_rule_until(
    ledger: LockedLedger, rule: RecurringRule, until: date, now: datetime
) -> RecurringRunResult:
    owner = Member.objects.filter(pk=rule.member_id)
    premium_since = owner.values_list("premium_since", flat=True).first()
    book_from = first_bookable_day(rule, premium_since)
    return process_due_dates(ledger, [(rule, book_from)], until, now)


def first_bookable_day(
    rule: RecurringRule, premium_since: datetime | None
) -> date | None:
    """Return the day before which due dates are MISSED; None without premium.

    The premium plan of the owner began or returned on this day.
    """
    if premium_since is None:
        return None
    # A rule younger than the plan was never without it; a restored rule may have due
    # dates before its creation here.
    if rule.created_at >= premium_since:
        return date.min
    return timezone.localdate(premium_since)


def process_due_dates(
    ledger: LockedLedger,
    rules: Sequence[tuple[RecurringRule, date | None]],
    until: date,
    now: datetime,
    max_dates: int = MAX_DUE_DATES_PER_TRANSACTION,
) -> RecurringRunResult:
    """Process due dates up to `until` of rules of one member, up to a number.

    Due dates before the day of a rule are MISSED; without a day the rule waits. The
    number of statements is the same for one date and many.
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
        create_booked_entries(ledger, booked, now)
    if due:
        _save_next_dates(list(due))
    return RecurringRunResult(booked=len(booked), missed=len(missed))


def unprocessed_due_dates(rule: RecurringRule, start: date) -> Iterator[date]:
    rows = Occurrence.objects.filter(
        member_id=rule.member_id, rule_id=rule.pk, due_date__gte=start
    )
    processed = set(rows.values_list("due_date", flat=True))
    days = rule.schedule.due_dates(start, date.max)
    return (day for day in days if day not in processed)


def _list_processed_dates(rules: Sequence[RecurringRule]) -> dict[int, set[date]]:
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


def create_booked_entries(
    ledger: LockedLedger, booked: Sequence[RuleDate], now: datetime
) -> list[int]:
    """Create the entries of due dates, with tags and occurrences; return their ids."""
    entry_ids = _insert_entries(ledger, booked, now)
    create_occurrences(booked, Occurrence.Status.BOOKED, entry_ids)
    return entry_ids


def create_occurrences(
    dates: Sequence[RuleDate],
    status: Occurrence.Status,
    entry_ids: Sequence[int] | None = None,
) -> None:
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


# Entries of rules with lines count only with their lines.
_INSERT_ENTRIES = """
INSERT INTO account_entry (member_id, date, type, amount, category_id, wallet_id, memo,
    to_wallet_id, is_reversal, line_count, source, pending, created_at, updated_at)
SELECT %(member)s, date, type, amount, category_id, wallet_id, memo, to_wallet_id,
    is_reversal,
    CASE WHEN EXISTS (
        SELECT FROM account_recurring_line line
        WHERE line.member_id = %(member)s AND line.rule_id = due.rule_id
    ) THEN NULL ELSE 0 END,
    'RECURRING', false, %(now)s, %(now)s
FROM unnest(
    %(rules)s::bigint[], %(dates)s::date[], %(types)s::text[], %(amounts)s::bigint[],
    %(categories)s::bigint[], %(wallets)s::bigint[], %(memos)s::text[],
    %(to_wallets)s::bigint[], %(reversals)s::boolean[]
) AS due (rule_id, date, type, amount, category_id, wallet_id, memo, to_wallet_id,
    is_reversal)
RETURNING id, line_count
"""


_INSERT_LINES = """
INSERT INTO account_entry_line (member_id, entry_id, position, amount, category_id,
    category_type, wallet_id, memo)
SELECT line.member_id, due.entry_id, line.position, line.amount, line.category_id,
    line.category_type, line.wallet_id, line.memo
FROM unnest(%(rules)s::bigint[], %(entries)s::bigint[]) AS due (rule_id, entry_id)
JOIN account_recurring_line line
    ON line.member_id = %(member)s AND line.rule_id = due.rule_id
"""


_BOOK_LINES = """
UPDATE account_entry entry SET line_count = (
    SELECT count(*) FROM account_entry_line line
    WHERE line.member_id = %(member)s AND line.entry_id = entry.id
)
WHERE entry.member_id = %(member)s AND entry.id = ANY(%(entries)s)
"""


def _insert_entries(
    ledger: LockedLedger, booked: Sequence[RuleDate], now: datetime
) -> list[int]:
    rules = [rule for rule, _ in booked]
    params: dict[str, Any] = {
        "member": ledger.member.pk,
        "now": now,
        "rules": [rule.pk for rule in rules],
        "dates": [day for _, day in booked],
        "types": [rule.type for rule in rules],
        "amounts": [rule.amount for rule in rules],
        "categories": [rule.category_id for rule in rules],
        "wallets": [rule.wallet_id for rule in rules],
        "memos": [rule.memo for rule in rules],
        "to_wallets": [rule.to_wallet_id for rule in rules],
        "reversals": [rule.is_reversal for rule in rules],
    }
    with connection.cursor() as cursor:
        cursor.execute(_INSERT_ENTRIES, params)
        rows = cursor.fetchall()
        split = [
            (rule.pk, row[0])
            for rule, row in zip(rules, rows, strict=True)
            if row[1] is None
        ]
        if split:
            of_split: dict[str, Any] = {
                "member": ledger.member.pk,
                "rules": [rule_id for rule_id, _ in split],
                "entries": [entry_id for _, entry_id in split],
            }
            cursor.execute(_INSERT_LINES, of_split)
            cursor.execute(_BOOK_LINES, of_split)
    return [int(row[0]) for row in rows]
