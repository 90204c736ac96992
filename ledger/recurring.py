"""Recurring transactions: the rules, and from which day on they book.

A rule starts at its first due date not before the day it is made. Dates that pass while
it is off are SKIPPED. `ledger.occurrences` books what is due.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import islice, takewhile
from typing import Any

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from accounts.models import Member
from core.errors import InvalidFieldError, NotFoundError
from ledger.categories import get_or_create_category
from ledger.locking import lock_ledger_shared
from ledger.models import Occurrence, RecurringRule, RecurringTag
from ledger.models.base import OwnedQuerySet
from ledger.occurrences import (
    MAX_DUE_DATES_PER_RUN,
    create_booked_entries,
    create_occurrences,
    process_rule_until,
    unprocessed_due_dates,
)
from ledger.ownership import get_owned_or_404
from ledger.schedule import Schedule
from ledger.tags import get_or_create_tags
from ledger.wallets import raise_on_missing_wallet

SCHEDULE_FIELDS = ("frequency", "interval", "anchor_date", "active")
"""What decides on which days a rule books; its end is the member's word by itself."""


def list_rules(member: Member) -> OwnedQuerySet:
    """The member's rules, oldest first, with names and tags."""
    links = RecurringTag.objects.select_related("tag").order_by("position")
    return (
        RecurringRule.objects.owned_by(member)
        .select_related("category")
        .prefetch_related(Prefetch("tag_links", queryset=links))
    )


def get_rule(member: Member, rule_id: int) -> RecurringRule:
    found: RecurringRule = get_owned_or_404(list_rules(member), member, rule_id)
    return found


def list_occurrences(member: Member, rule_id: int) -> QuerySet[Occurrence]:
    """What became of the rule's due dates, newest first."""
    get_rule(member, rule_id)
    rows: QuerySet[Occurrence] = Occurrence.objects.owned_by(member)
    return rows.filter(rule_id=rule_id)


def create_rule(member: Member, values: dict[str, Any], today: date) -> RecurringRule:
    with transaction.atomic():
        lock_ledger_shared(member)
        rule = RecurringRule(member=member)
        _save(rule, values, today)
    return get_rule(member, rule.pk)


def update_rule(
    member: Member, rule_id: int, values: dict[str, Any], now: datetime
) -> RecurringRule:
    """Change a rule; what was dealt with stays dealt with.

    New timing starts at its first due date from today on. Switching on again skips
    what passed meanwhile. What the job still owes for the days before today, it books
    as the rule was.
    """
    today = timezone.localdate(now)
    with transaction.atomic():
        lock_ledger_shared(member)
        rule = _lock_rule(member, rule_id)
        if rule.active and _is_schedule_changed(rule, values):
            process_rule_until(rule, today - timedelta(days=1), now)
        _save(rule, values, today)
    return get_rule(member, rule_id)


def delete_rule(member: Member, rule_id: int) -> None:
    """Delete a rule and its occurrences; the entries that it booked stay."""
    with transaction.atomic():
        lock_ledger_shared(member)
        _lock_rule(member, rule_id).delete()


def run_now(member: Member, rule_id: int, now: datetime) -> int:
    """Book the rule's next due date now, whenever it is due; the entry's id."""
    with transaction.atomic():
        lock_ledger_shared(member)
        rule = _lock_rule(member, rule_id)
        if rule.next_date is None:
            raise InvalidFieldError("endDate", "The rule has ended.", "ended")
        (entry_id,) = create_booked_entries(rule, [rule.next_date], now)
        rule.next_date = next(unprocessed_due_dates(rule, rule.next_date), None)
        rule.save(update_fields=["next_date"])
    return entry_id


def _lock_rule(member: Member, rule_id: int) -> RecurringRule:
    rows = RecurringRule.objects.select_for_update(of=("self",))
    rule: RecurringRule | None = rows.owned_by(member).filter(pk=rule_id).first()
    if rule is None:
        raise NotFoundError
    return rule


def _is_schedule_changed(rule: RecurringRule, values: Mapping[str, Any]) -> bool:
    return any(
        name in values and values[name] != getattr(rule, name)
        for name in SCHEDULE_FIELDS
    )


def _save(rule: RecurringRule, values: dict[str, Any], today: date) -> None:
    """A category stays with its name: under a new type it is another category."""
    values = dict(values)
    was = (rule.schedule, rule.active) if rule.pk else None
    tags = values.pop("tags", None)
    kept = rule.category.name if rule.category else None
    name = values.pop("category", kept)
    for field, value in values.items():
        setattr(rule, field, value)
    if rule.end_date and rule.end_date < rule.anchor_date:
        raise InvalidFieldError("endDate", "This lies before the anchor date.")
    rule.category = get_or_create_category(rule.member, rule.type, name)
    skipped = _update_next_date(rule, was, today)
    with raise_on_missing_wallet("account_recurring_wallet_owned"):
        rule.save()
    create_occurrences(rule, skipped, Occurrence.Status.SKIPPED)
    if tags is not None:
        _replace_tags(rule, tags)


def _update_next_date(
    rule: RecurringRule, was: tuple[Any, bool] | None, today: date
) -> list[date]:
    """Set `next_date`; the due dates that passed while the rule was off."""
    if was is None or _without_end(was[0]) != _without_end(rule.schedule):
        rule.next_date = next(unprocessed_due_dates(rule, today), None)
        return []
    if was[0] != rule.schedule:  # only the end changed
        rule.next_date = next(
            unprocessed_due_dates(rule, rule.next_date or today), None
        )
    if was[1] or not rule.active or rule.next_date is None or rule.next_date >= today:
        return []
    passed = takewhile(
        lambda day: day < today, unprocessed_due_dates(rule, rule.next_date)
    )
    skipped = list(islice(passed, MAX_DUE_DATES_PER_RUN))
    rule.next_date = next(unprocessed_due_dates(rule, today), None)
    return skipped


def _without_end(schedule: Schedule) -> Schedule:
    return replace(schedule, end=None)


def _replace_tags(rule: RecurringRule, names: list[str]) -> None:
    RecurringTag.objects.filter(rule=rule).delete()
    RecurringTag.objects.bulk_create(
        RecurringTag(rule=rule, tag=tag, member_id=rule.member_id, position=position)
        for position, tag in enumerate(get_or_create_tags(rule.member, names))
    )
