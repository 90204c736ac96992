"""Recurring transactions: rules, and the booking of what is due.

Every due date of a rule becomes one stored occurrence, unique in the database and
written in the same transaction as its entry, so that two workers at once book it once.
A rule starts at its first due date not before the day it is made. Dates that pass while
the rule is off are SKIPPED; those before the member's plan returned are MISSED.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from django.db import transaction
from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from accounts.models import Member
from config.errors import InvalidField, NotFound
from ledger.categories import resolve_category
from ledger.entries import Draft, record_entry
from ledger.locking import share_ledger
from ledger.models import Occurrence, RecurringRule, RecurringTag
from ledger.models.base import OwnedQuerySet
from ledger.ownership import find_owned
from ledger.schedule import Schedule
from ledger.tags import resolve_tags
from ledger.wallets import refuse_missing_wallet

logger = logging.getLogger(__name__)

MAX_CATCH_UP = 400
"""Due dates of one rule that are dealt with in one go; the next run goes on."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of the job did."""

    booked: int
    missed: int
    failed: int


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
    member: Member, rule_id: int, values: dict[str, Any], today: date
) -> RecurringRule:
    """Change a rule; what was dealt with stays dealt with.

    New timing starts at its first due date from today on. Switching on again skips
    what passed meanwhile.
    """
    with transaction.atomic():
        share_ledger(member)
        _save(_lock_rule(member, rule_id), values, today)
    return find_rule(member, rule_id)


def delete_rule(member: Member, rule_id: int) -> None:
    """Delete a rule and its occurrences; the entries that it booked stay."""
    with transaction.atomic():
        share_ledger(member)
        _lock_rule(member, rule_id).delete()


def run_now(member: Member, rule_id: int, now: datetime) -> tuple[Occurrence, int]:
    """Book the rule's next due date now, whenever it is due; the entry's id too."""
    with transaction.atomic():
        share_ledger(member)
        rule = _lock_rule(member, rule_id)
        if rule.next_date is None:
            raise InvalidField("endDate", "The rule has ended.", "ended")
        occurrence = _book(rule, rule.next_date, now)
        _advance(rule, rule.next_date)
        rule.save(update_fields=["next_date"])
    return occurrence, int(occurrence.entry_id or 0)


def run_due(now: datetime) -> Run:
    """Book everything that is due by today, of all members whose plan runs.

    Idempotent and safe beside another run: a rule is dealt with under its lock, and
    one that somebody else holds is left to them. A rule that fails is logged and
    does not keep the others waiting.
    """
    today = timezone.localdate(now)
    booked = missed = failed = 0
    for rule_id in _due_rule_ids(today):
        try:
            done = _run_rule(rule_id, now, today)
        except Exception:
            logger.exception("recurring rule %s could not be booked", rule_id)
            failed += 1
            continue
        booked += done.count(Occurrence.Status.BOOKED)
        missed += done.count(Occurrence.Status.MISSED)
    return Run(booked, missed, failed)


def _due_rule_ids(today: date) -> Iterator[int]:
    """Due rules of members whose plan runs, by id; each is asked for once."""
    last = 0
    while True:
        rows = RecurringRule.objects.filter(
            Q(member__plan_since__isnull=False) | Q(member__role=Member.Role.ADMIN),
            active=True,
            next_date__lte=today,
            pk__gt=last,
        )
        found = rows.order_by("pk").values_list("pk", flat=True).first()
        if found is None:
            return
        last = int(found)
        yield last


def _run_rule(rule_id: int, now: datetime, today: date) -> list[str]:
    """Deal with the due dates of one rule; the statuses, oldest first."""
    owner = _owner_of(rule_id)
    if owner is None or not _may_book(owner, now):
        return []
    with transaction.atomic():
        share_ledger(owner)
        rows = RecurringRule.objects.select_for_update(of=("self",), skip_locked=True)
        rule = rows.filter(pk=rule_id, active=True).first()
        if rule is None:
            return []
        since = _plan_day(owner)
        done: list[str] = []
        while rule.next_date and rule.next_date <= today and len(done) < MAX_CATCH_UP:
            done.append(_settle(rule, rule.next_date, since, now))
            _advance(rule, rule.next_date)
        rule.save(update_fields=["next_date"])
    return done


def _owner_of(rule_id: int) -> Member | None:
    rule = RecurringRule.objects.select_related("member").filter(pk=rule_id).first()
    return rule.member if rule else None


def _may_book(member: Member, now: datetime) -> bool:
    return member.current_plan(now) == Member.Plan.PREMIUM or member.is_administrator


def _plan_day(member: Member) -> date:
    """The day from which due dates are caught up: that of the plan's return."""
    if member.is_administrator or member.plan_since is None:
        return date.min
    return timezone.localdate(member.plan_since)


def _settle(rule: RecurringRule, due: date, since: date, now: datetime) -> str:
    if due < since:
        return _note(rule, due, Occurrence.Status.MISSED)
    return _book(rule, due, now).status


def _note(rule: RecurringRule, due: date, status: Occurrence.Status) -> str:
    Occurrence.objects.get_or_create(
        rule=rule,
        due_date=due,
        defaults={"member_id": rule.member_id, "status": status},
    )
    return status


def _book(rule: RecurringRule, due: date, now: datetime) -> Occurrence:
    """Write the occurrence first: it is unique, so that the entry is too."""
    occurrence, is_new = Occurrence.objects.get_or_create(
        rule=rule,
        due_date=due,
        defaults={"member_id": rule.member_id, "status": Occurrence.Status.BOOKED},
    )
    if not is_new and occurrence.status == Occurrence.Status.BOOKED:
        return occurrence
    tags = RecurringTag.objects.filter(rule=rule).order_by("position")
    draft = Draft(
        date=due,
        type=rule.type,
        amount=rule.amount,
        category=rule.category.name if rule.category else None,
        wallet=rule.wallet,
        memo=rule.memo,
        tags=tuple(tags.values_list("tag__name", flat=True)),
    )
    occurrence.entry_id = record_entry(rule.member, draft, now)
    occurrence.status = Occurrence.Status.BOOKED
    occurrence.save(update_fields=["entry_id", "status"])
    return occurrence


def _advance(rule: RecurringRule, dealt_with: date) -> None:
    rule.next_date = rule.schedule.next_due(dealt_with)


def _lock_rule(member: Member, rule_id: int) -> RecurringRule:
    rows = RecurringRule.objects.select_for_update(of=("self",))
    rule: RecurringRule | None = rows.owned_by(member).filter(pk=rule_id).first()
    if rule is None:
        raise NotFound
    return rule


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
    for due in skipped:
        _note(rule, due, Occurrence.Status.SKIPPED)
    if tags is not None:
        _replace_tags(rule, tags)


def _plan_next_date(
    rule: RecurringRule, was: tuple[Any, bool] | None, today: date
) -> list[date]:
    """Set `next_date`; the due dates that passed while the rule was off."""
    if was is None or _timing_of(was[0]) != _timing_of(rule.schedule):
        rule.next_date = _first_open(rule, today)
        return []
    if was[0] != rule.schedule:  # only the end changed
        rule.next_date = _first_open(rule, rule.next_date or today)
    if was[1] or not rule.active or rule.next_date is None:
        return []
    passed = [
        due
        for due, _ in zip(
            rule.schedule.dues(rule.next_date, today), range(MAX_CATCH_UP), strict=False
        )
        if due < today
    ]
    rule.next_date = rule.schedule.first_due(max(today, rule.next_date))
    return passed


def _timing_of(schedule: Schedule) -> Schedule:
    return replace(schedule, end=None)


def _first_open(rule: RecurringRule, start: date) -> date | None:
    """The first due date from this day on that is not booked yet."""
    booked = Occurrence.objects.filter(
        rule_id=rule.pk, due_date__gte=start, status=Occurrence.Status.BOOKED
    )
    dealt_with = set(booked.values_list("due_date", flat=True))
    due = rule.schedule.first_due(start)
    while due is not None and due in dealt_with:
        due = rule.schedule.next_due(due)
    return due


def _replace_tags(rule: RecurringRule, names: list[str]) -> None:
    RecurringTag.objects.filter(rule=rule).delete()
    RecurringTag.objects.bulk_create(
        RecurringTag(rule=rule, tag=tag, member_id=rule.member_id, position=position)
        for position, tag in enumerate(resolve_tags(rule.member, names))
    )
