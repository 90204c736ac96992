"""Recurring rules: CRUD, and their next due date.

A rule starts at its first due date from the day of its creation on. Due dates that pass
while it is inactive are SKIPPED.
"""

from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import islice, takewhile
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import Member
from core.errors import InvalidFieldError, raise_on_constraint_violation
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.ownership import get_owned_or_404
from ledger.base.quotas import require_room
from ledger.entries.rows import OF_RULES
from ledger.entries.templates import assign_values, with_lines_and_tags
from ledger.errors import MissingWalletError
from ledger.models import Entry, Occurrence, RecurringRule
from ledger.models.base import OwnedQuerySet
from ledger.models.schedule import Schedule
from ledger.recurring.occurrences import (
    MAX_DUE_DATES_PER_TRANSACTION,
    create_booked_entries,
    create_occurrences,
    process_rule_until,
    unprocessed_due_dates,
)
from ledger.tags.tags import get_or_create_tags

# A change of these first posts the due dates left by the job under the previous
# schedule. A new end date applies to them as well.
SCHEDULE_FIELDS = ("frequency", "interval", "anchor_date", "active")


def with_category_and_tags(rows: OwnedQuerySet, member: Member) -> OwnedQuerySet:
    return with_lines_and_tags(rows, member, OF_RULES)


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


@ledger_write
def create_rule(
    ledger: LockedLedger, values: dict[str, Any], today: date
) -> RecurringRule:
    require_room(ledger, RecurringRule)
    rule = RecurringRule(member=ledger.member)
    _save(ledger, rule, values, today)
    return get_rule(ledger.member, rule.pk)


@ledger_write
def update_rule(
    ledger: LockedLedger, rule_id: int, values: dict[str, Any], now: datetime
) -> RecurringRule:
    """Update the fields named in `values`; processed due dates are not affected.

    A new schedule starts at its first due date from today on. An activated rule skips
    the due dates since its deactivation.
    """
    today = timezone.localdate(now)
    rows = RecurringRule.objects.select_related("category")
    rule: RecurringRule = get_owned_or_404(rows, ledger.member, rule_id)
    is_schedule_changed = any(
        name in values and values[name] != getattr(rule, name)
        for name in SCHEDULE_FIELDS
    )
    if rule.active and is_schedule_changed:
        process_rule_until(ledger, rule, today - timedelta(days=1), now)
    _save(ledger, rule, values, today)
    return get_rule(ledger.member, rule_id)


@ledger_write
def delete_rule(ledger: LockedLedger, rule_id: int) -> None:
    get_owned_or_404(RecurringRule.objects.all(), ledger.member, rule_id).delete()


@ledger_write
def run_now(ledger: LockedLedger, rule_id: int, now: datetime) -> int:
    """Book the next due date now, and return the entry's id."""
    rule: RecurringRule = get_owned_or_404(
        RecurringRule.objects.all(), ledger.member, rule_id
    )
    if rule.next_date is None:
        raise InvalidFieldError("endDate", gettext("The rule has ended."), "ended")
    (entry_id,) = create_booked_entries(ledger, [(rule, rule.next_date)], now)
    rule.next_date = next(unprocessed_due_dates(rule, rule.next_date), None)
    rule.save(update_fields=["next_date"])
    return entry_id


def _save(
    ledger: LockedLedger, rule: RecurringRule, values: dict[str, Any], today: date
) -> None:
    previous = (rule.schedule, rule.active) if rule.pk else None
    lines = assign_values(ledger, rule, values, OF_RULES)
    if rule.end_date and rule.end_date < rule.anchor_date:
        raise InvalidFieldError("endDate", gettext("Must not be before `anchorDate`."))
    skipped = _update_next_date(rule, previous, today)
    with (
        raise_on_constraint_violation(
            "account_recurring_wallet_owned", MissingWalletError()
        ),
        raise_on_constraint_violation(
            "account_recurring_to_wallet_owned", MissingWalletError("toWalletId")
        ),
    ):
        rule.save()
    if lines is not None:
        OF_RULES.replace_lines(rule, lines)
    if skipped:
        dates = [(rule, day) for day in skipped]
        create_occurrences(dates, Occurrence.Status.SKIPPED)
    if "tags" in values:
        OF_RULES.replace_tags(rule, get_or_create_tags(ledger, values["tags"]))


def _update_next_date(
    rule: RecurringRule, previous: tuple[Schedule, bool] | None, today: date
) -> list[date]:
    """Set `next_date` and return the due dates that passed while the rule was off.

    `previous` is the schedule and `active` before the update, None for a new rule.
    """
    is_new_schedule = previous is None or (
        replace(previous[0], end=None) != replace(rule.schedule, end=None)
    )
    if previous is None or is_new_schedule:
        rule.next_date = next(unprocessed_due_dates(rule, today), None)
        return []
    previous_schedule, was_active = previous
    if previous_schedule != rule.schedule:
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
