"""Recurring rules: CRUD, and their next due date.

A rule starts at its first due date that is not before the day of its creation. Due
dates that pass while it is inactive are SKIPPED. `ledger.occurrences` processes the
others.
"""

from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import islice, takewhile
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import Member
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError
from ledger.locking import lock_ledger
from ledger.models import (
    Entry,
    Occurrence,
    RecurringLine,
    RecurringRule,
    RecurringTag,
)
from ledger.models.base import OwnedQuerySet
from ledger.occurrences import (
    MAX_DUE_DATES_PER_TRANSACTION,
    create_booked_entries,
    create_occurrences,
    process_rule_until,
    unprocessed_due_dates,
)
from ledger.ownership import get_owned_or_404
from ledger.quotas import require_room
from ledger.schedule import Schedule
from ledger.tags import get_or_create_tags
from ledger.templates import (
    assign_shape,
    replace_lines,
    with_lines_and_tags,
)
from ledger.wallets import raise_on_missing_wallet

_OWNER = "rule_id"
# After a change of one of them, due dates that the job has not posted yet are posted
# under the previous schedule. A new end date applies to those as well.
SCHEDULE_FIELDS = ("frequency", "interval", "anchor_date", "active")


def with_category_and_tags(rows: OwnedQuerySet, member: Member) -> OwnedQuerySet:
    """Return the rules with what their JSON needs."""
    return with_lines_and_tags(rows, member, _OWNER, RecurringLine, RecurringTag)


def get_rule(member: Member, rule_id: int) -> RecurringRule:
    rows = with_category_and_tags(RecurringRule.objects.all(), member)
    rule: RecurringRule = get_owned_or_404(rows, member, rule_id)
    return rule


def list_occurrences(member: Member, rule_id: int) -> QuerySet[Occurrence]:
    """Return the processed due dates of a rule, newest first.

    `existing_entry_id` is the booked entry, None if it has been deleted.
    """
    get_rule(member, rule_id)
    entry = Entry.objects.owned_by(member).filter(pk=OuterRef("entry_id"))
    rows: QuerySet[Occurrence] = Occurrence.objects.owned_by(member)
    return rows.filter(rule_id=rule_id).annotate(
        existing_entry_id=Subquery(entry.values("pk"))
    )


@retry_on_conflict
def create_rule(member: Member, values: dict[str, Any], today: date) -> RecurringRule:
    with transaction.atomic():
        lock_ledger(member)
        require_room(member, RecurringRule)
        rule = RecurringRule(member=member)
        _save(rule, values, today)
    return get_rule(member, rule.pk)


@retry_on_conflict
def update_rule(
    member: Member, rule_id: int, values: dict[str, Any], now: datetime
) -> RecurringRule:
    """Update the fields named in `values`; processed due dates are not affected.

    A new schedule starts at its first due date from today on. When a rule is activated
    again, the due dates since its deactivation are skipped.
    """
    today = timezone.localdate(now)
    with transaction.atomic():
        lock_ledger(member)
        rule: RecurringRule = get_owned_or_404(
            RecurringRule.objects.select_related("category", "wallet", "to_wallet"),
            member,
            rule_id,
        )
        is_schedule_changed = any(
            name in values and values[name] != getattr(rule, name)
            for name in SCHEDULE_FIELDS
        )
        # Post what the job has not yet posted, under the previous schedule.
        if rule.active and is_schedule_changed:
            process_rule_until(rule, today - timedelta(days=1), now)
        _save(rule, values, today)
    return get_rule(member, rule_id)


@retry_on_conflict
def delete_rule(member: Member, rule_id: int) -> None:
    """Delete a rule and its occurrences; the entries that it booked stay."""
    with transaction.atomic():
        lock_ledger(member)
        get_owned_or_404(RecurringRule.objects.all(), member, rule_id).delete()


@retry_on_conflict
def run_now(member: Member, rule_id: int, now: datetime) -> int:
    """Book the next due date now, whenever it is, and return the entry's id."""
    with transaction.atomic():
        lock_ledger(member)
        rule: RecurringRule = get_owned_or_404(
            RecurringRule.objects.all(), member, rule_id
        )
        if rule.next_date is None:
            raise InvalidFieldError("endDate", gettext("The rule has ended."), "ended")
        (entry_id,) = create_booked_entries([(rule, rule.next_date)], now)
        rule.next_date = next(unprocessed_due_dates(rule, rule.next_date), None)
        rule.save(update_fields=["next_date"])
    return entry_id


def _save(rule: RecurringRule, values: dict[str, Any], today: date) -> None:
    """Assign the values and save the rule with its next due date and its tags."""
    values = dict(values)
    previous = (rule.schedule, rule.active) if rule.pk else None
    tags = values.pop("tags", None)
    lines = assign_shape(rule, values, RecurringLine, _OWNER)
    for field, value in values.items():
        setattr(rule, field, value)
    if rule.end_date and rule.end_date < rule.anchor_date:
        raise InvalidFieldError("endDate", gettext("Must not be before `anchorDate`."))
    skipped = _update_next_date(rule, previous, today)
    with (
        raise_on_missing_wallet("account_recurring_wallet_owned"),
        raise_on_missing_wallet("account_recurring_to_wallet_owned", "toWalletId"),
    ):
        rule.save()
    replace_lines(rule, lines, RecurringLine, _OWNER)
    if skipped:
        dates = [(rule, day) for day in skipped]
        create_occurrences(dates, Occurrence.Status.SKIPPED)
    if tags is not None:
        links = RecurringTag.objects.filter(member_id=rule.member_id, rule_id=rule.pk)
        links.delete()
        RecurringTag.objects.bulk_create(
            RecurringTag(
                rule=rule, tag=tag, member_id=rule.member_id, position=position
            )
            for position, tag in enumerate(get_or_create_tags(rule.member, tags))
        )


def _update_next_date(
    rule: RecurringRule, previous: tuple[Schedule, bool] | None, today: date
) -> list[date]:
    """Set `next_date` and return the due dates that passed while the rule was off.

    `previous` holds the schedule and `active` before the update, None for a new rule.
    """
    is_new_schedule = previous is None or (
        replace(previous[0], end=None) != replace(rule.schedule, end=None)
    )
    if previous is None or is_new_schedule:
        rule.next_date = next(unprocessed_due_dates(rule, today), None)
        return []
    previous_schedule, was_active = previous
    if previous_schedule != rule.schedule:
        # Only the end has changed.
        start = rule.next_date or today
        rule.next_date = next(unprocessed_due_dates(rule, start), None)
    is_activated = rule.active and not was_active
    if not is_activated or rule.next_date is None or rule.next_date >= today:
        return []
    due = unprocessed_due_dates(rule, rule.next_date)
    passed = takewhile(lambda day: day < today, due)
    skipped = list(islice(passed, MAX_DUE_DATES_PER_TRANSACTION))
    rule.next_date = next(unprocessed_due_dates(rule, today), None)
    return skipped
