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
from core.errors import InvalidField, NotFound
from ledger.categories import resolve_category
from ledger.locking import share_ledger
from ledger.models import Occurrence, RecurringRule, RecurringTag
from ledger.models.base import OwnedQuerySet
from ledger.occurrences import MAX_CATCH_UP, book, note, open_days, settle
from ledger.ownership import find_owned
from ledger.schedule import Schedule
from ledger.tags import resolve_tags
from ledger.wallets import refuse_missing_wallet

COURSE = ("frequency", "interval", "anchor_date", "active")
"""What decides on which days a rule books; its end is the member's word by itself."""


def list_rules(member: Member) -> OwnedQuerySet:
    """The member's rules, oldest first, with names and tags."""
    links = RecurringTag.objects.select_related("tag").order_by("position")
    return (
        RecurringRule.objects.owned_by(member)
        .select_related("category")
        .prefetch_related(Prefetch("tag_links", queryset=links))
    )


def find_rule(member: Member, rule_id: int) -> RecurringRule:
    found: RecurringRule = find_owned(list_rules(member), member, rule_id)
    return found


def list_occurrences(member: Member, rule_id: int) -> QuerySet[Occurrence]:
    """What became of the rule's due dates, newest first."""
    find_rule(member, rule_id)
    rows: QuerySet[Occurrence] = Occurrence.objects.owned_by(member)
    return rows.filter(rule_id=rule_id)


def create_rule(member: Member, values: dict[str, Any], today: date) -> RecurringRule:
    with transaction.atomic():
        share_ledger(member)
        rule = RecurringRule(member=member)
        _save(rule, values, today)
    return find_rule(member, rule.pk)


def change_rule(
    member: Member, rule_id: int, values: dict[str, Any], now: datetime
) -> RecurringRule:
    """Change a rule; what was dealt with stays dealt with.

    New timing starts at its first due date from today on. Switching on again skips
    what passed meanwhile. What the job still owes for the days before today, it books
    as the rule was.
    """
    today = timezone.localdate(now)
    with transaction.atomic():
        share_ledger(member)
        rule = _lock_rule(member, rule_id)
        if rule.active and _changes_course(rule, values):
            settle(rule, today - timedelta(days=1), now)
        _save(rule, values, today)
    return find_rule(member, rule_id)


def delete_rule(member: Member, rule_id: int) -> None:
    """Delete a rule and its occurrences; the entries that it booked stay."""
    with transaction.atomic():
        share_ledger(member)
        _lock_rule(member, rule_id).delete()


def run_now(member: Member, rule_id: int, now: datetime) -> int:
    """Book the rule's next due date now, whenever it is due; the entry's id."""
    with transaction.atomic():
        share_ledger(member)
        rule = _lock_rule(member, rule_id)
        if rule.next_date is None:
            raise InvalidField("endDate", "The rule has ended.", "ended")
        (entry_id,) = book(rule, [rule.next_date], now)
        rule.next_date = next(open_days(rule, rule.next_date), None)
        rule.save(update_fields=["next_date"])
    return entry_id


def _lock_rule(member: Member, rule_id: int) -> RecurringRule:
    rows = RecurringRule.objects.select_for_update(of=("self",))
    rule: RecurringRule | None = rows.owned_by(member).filter(pk=rule_id).first()
    if rule is None:
        raise NotFound
    return rule


def _changes_course(rule: RecurringRule, values: Mapping[str, Any]) -> bool:
    return any(
        name in values and values[name] != getattr(rule, name) for name in COURSE
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
        raise InvalidField("endDate", "This lies before the anchor date.")
    rule.category = resolve_category(rule.member, rule.type, name)
    skipped = _plan_next_date(rule, was, today)
    with refuse_missing_wallet("account_recurring_wallet_owned"):
        rule.save()
    note(rule, skipped, Occurrence.Status.SKIPPED)
    if tags is not None:
        _replace_tags(rule, tags)


def _plan_next_date(
    rule: RecurringRule, was: tuple[Any, bool] | None, today: date
) -> list[date]:
    """Set `next_date`; the due dates that passed while the rule was off."""
    if was is None or _timing_of(was[0]) != _timing_of(rule.schedule):
        rule.next_date = next(open_days(rule, today), None)
        return []
    if was[0] != rule.schedule:  # only the end changed
        rule.next_date = next(open_days(rule, rule.next_date or today), None)
    if was[1] or not rule.active or rule.next_date is None or rule.next_date >= today:
        return []
    passed = takewhile(lambda day: day < today, open_days(rule, rule.next_date))
    skipped = list(islice(passed, MAX_CATCH_UP))
    rule.next_date = next(open_days(rule, today), None)
    return skipped


def _timing_of(schedule: Schedule) -> Schedule:
    return replace(schedule, end=None)


def _replace_tags(rule: RecurringRule, names: list[str]) -> None:
    RecurringTag.objects.filter(rule=rule).delete()
    RecurringTag.objects.bulk_create(
        RecurringTag(rule=rule, tag=tag, member_id=rule.member_id, position=position)
        for position, tag in enumerate(resolve_tags(rule.member, names))
    )
