"""Members with much to catch up: in turns, within a budget, without a loss."""

from collections import Counter
from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from ledger.models import Entry, Occurrence, RecurringRule
from ledger.recurring import occurrences
from ledger.recurring.occurrences import RecurringRunResult, process_due_rules
from tests.support.calendar_oracle import make_premium_since, run_job, travel_to
from tests.support.factories import make_rule
from tests.support.rollups import assert_rollups_are_right

TODAY = "2026-11-21"
DAYS = 30


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrences, "MAX_DUE_DATES_PER_RUN", 100)
    monkeypatch.setattr(occurrences, "MAX_DUE_DATES_PER_TRANSACTION", 40)
    monkeypatch.setattr(occurrences, "MAX_RULES_PER_TRANSACTION", 2)


def make_overdue(member: Member, count: int) -> list[RecurringRule]:
    """Create rules with thirty due dates each until today."""
    first = date.fromisoformat(TODAY) - timedelta(days=DAYS - 1)
    return [
        make_rule(member, frequency="DAILY", anchor_date=first) for _ in range(count)
    ]


def test_one_member_is_not_kept_waiting_by_what_another_has_to_catch_up(
    member: Member,
) -> None:
    make_overdue(member, 5)
    others = [make_premium_since() for _ in range(3)]
    for other in others:
        make_rule(other, anchor_date=date.fromisoformat(TODAY))
    run_job(TODAY)
    owners = list(Entry.objects.order_by("id").values_list("member_id", flat=True))
    # One turn of the first, one of each of the others, then the first again.
    assert owners[:43] == [member.pk] * 40 + [other.pk for other in others]


def test_long_downtime_is_caught_up_over_several_runs(member: Member) -> None:
    rules = make_overdue(member, 7)
    for booked in (100, 100, 10, 0):
        assert run_job(TODAY) == RecurringRunResult(booked)
    days = Counter(Occurrence.objects.values_list("rule_id", flat=True))
    assert days == dict.fromkeys((rule.pk for rule in rules), DAYS)
    assert Entry.objects.count() == 7 * DAYS
    assert_rollups_are_right()


def test_missed_dates_count_towards_the_budget_too(member: Member) -> None:
    make_overdue(member, 5)
    RecurringRule.objects.update(created_at=timezone.now() - timedelta(days=9_999))
    Member.objects.filter(pk=member.pk).update(premium_since=timezone.now())
    with travel_to(TODAY):
        run = process_due_rules(timezone.now())
    assert run.booked + run.missed == 100


def test_rule_that_fails_is_left_to_the_next_run_and_the_others_are_not(
    member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, *others = make_overdue(member, 3)
    book = occurrences.create_booked_entries

    def fail(ledger: Any, booked: list[occurrences.RuleDate], now: Any) -> list[int]:
        if any(rule.pk == broken.pk for rule, _ in booked):
            raise RuntimeError("the disk is full")
        return book(ledger, booked, now)

    monkeypatch.setattr(occurrences, "create_booked_entries", fail)
    assert run_job(TODAY) == RecurringRunResult(booked=2 * DAYS, failed=1)
    found = set(Occurrence.objects.values_list("rule_id", flat=True))
    assert found == {rule.pk for rule in others}
