"""Rules of members whose plan lapses, who are suspended or administer."""

from datetime import UTC, date, datetime
from typing import Any

import time_machine
from django.utils import timezone

from accounts.models import Member
from ledger.models import Entry, Occurrence, RecurringRule
from ledger.recurring.occurrences import RecurringRunResult, process_due_rules
from tests.support.calendar_oracle import (
    BOOKED,
    LONG_AGO,
    MISSED,
    create_rule,
    days_of_entries,
    list_occurrences,
    make_premium_since,
    noon,
    run_job,
    run_rule_now,
    set_premium_since,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_rule


def test_rules_wait_while_the_plan_has_lapsed(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY")
    run_job("2026-11-21")
    Member.objects.update(plan="FREE")
    assert run_job("2026-11-24") == RecurringRunResult(0, 0, 0)
    assert Occurrence.objects.count() == 1
    assert RecurringRule.objects.get().next_date == date(2026, 11, 22)

    Member.objects.update(plan="PREMIUM")
    set_premium_since(member, noon("2026-11-24"))

    assert run_job("2026-11-25") == RecurringRunResult(booked=2, missed=2, failed=0)
    assert list_occurrences(client, rule) == [
        ("2026-11-21", BOOKED),
        ("2026-11-22", MISSED),
        ("2026-11-23", MISSED),
        ("2026-11-24", BOOKED),
        ("2026-11-25", BOOKED),
    ]
    assert days_of_entries(member) == ["2026-11-21", "2026-11-24", "2026-11-25"]
    assert run_job("2026-11-25") == RecurringRunResult(0, 0, 0)


def test_day_of_the_return_is_that_of_the_home_time_zone(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY")
    set_premium_since(member, datetime(2026, 11, 22, 15, 0, tzinfo=UTC))
    run_job("2026-11-23")
    assert [status for _, status in list_occurrences(client, rule)] == [
        MISSED,
        MISSED,
        BOOKED,
    ]


def test_rule_of_a_member_who_pays_without_a_break_misses_nothing(
    client: JSONClient,
) -> None:
    rule = create_rule(client, frequency="DAILY")
    assert run_job("2026-12-10") == RecurringRunResult(20, 0, 0)
    assert {status for _, status in list_occurrences(client, rule)} == {BOOKED}


def test_expired_plan_books_nothing_before_any_job_has_seen_it(db: None) -> None:
    member = make_premium_since(plan_expires_at=noon("2126-01-10"))
    make_rule(member, frequency="DAILY", anchor_date=date(2126, 1, 9))
    assert run_job("2126-01-09") == RecurringRunResult(1, 0, 0)
    with time_machine.travel(noon("2126-01-10"), tick=False):
        assert process_due_rules(timezone.now()) == RecurringRunResult(0, 0, 0)
    assert run_job("2126-01-12") == RecurringRunResult(0, 0, 0)
    member.refresh_from_db()
    assert (member.plan, Entry.objects.count()) == ("PREMIUM", 1)


def test_expired_plan_that_renews_itself_goes_on(db: None) -> None:
    member = make_premium_since(
        plan_expires_at=noon("2126-01-10"), plan_auto_renew=True
    )
    make_rule(member, anchor_date=date(2126, 1, 11))
    assert run_job("2126-01-11") == RecurringRunResult(1, 0, 0)


def test_administrator_is_treated_as_premium(db: None) -> None:
    administrator = set_premium_since(make_member(role="ADMIN"), LONG_AGO)
    rule = create_rule(JSONClient(administrator), frequency="DAILY")
    assert run_job("2026-11-23") == RecurringRunResult(3, 0, 0)
    assert run_rule_now(JSONClient(administrator), rule).status_code == 201


def test_administrator_who_becomes_a_free_member_waits(db: None) -> None:
    administrator = make_member(role="ADMIN")
    make_rule(administrator, anchor_date=date(2026, 11, 21))
    Member.objects.update(role="MEMBER")
    assert run_job("2026-11-23") == RecurringRunResult(0, 0, 0)


def test_lapsed_member_who_becomes_an_administrator_catches_up_from_that_day(
    db: None,
) -> None:
    member = make_premium_since()
    rule = create_rule(JSONClient(member), frequency="DAILY")
    Member.objects.update(plan="FREE")
    assert run_job("2026-11-23") == RecurringRunResult(0, 0, 0)
    Member.objects.update(role="ADMIN")
    set_premium_since(member, noon("2026-11-24"))
    assert run_job("2026-11-25") == RecurringRunResult(booked=2, missed=3, failed=0)
    statuses = [status for _, status in list_occurrences(JSONClient(member), rule)]
    assert statuses == [MISSED, MISSED, MISSED, BOOKED, BOOKED]


def test_payer_who_becomes_an_administrator_and_back_misses_nothing(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY")
    for role in ("ADMIN", "MEMBER"):
        Member.objects.update(role=role)
    assert run_job("2026-11-23") == RecurringRunResult(3, 0, 0)
    assert {status for _, status in list_occurrences(client, rule)} == {BOOKED}


def test_rules_of_a_suspended_member_wait_and_are_caught_up(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY")
    run_job("2026-11-21")
    Member.objects.update(status="SUSPENDED")
    assert run_job("2026-11-24") == RecurringRunResult(0, 0, 0)
    assert days_of_entries(member) == ["2026-11-21"]
    Member.objects.update(status="ACTIVE")
    assert run_job("2026-11-25") == RecurringRunResult(4, 0, 0)
    assert {status for _, status in list_occurrences(client, rule)} == {BOOKED}


def test_suspended_administrators_rules_wait_too(db: None) -> None:
    administrator = set_premium_since(
        make_member(role="ADMIN", status="SUSPENDED"), LONG_AGO
    )
    make_rule(administrator, anchor_date=date(2026, 11, 21))
    assert run_job("2026-11-21") == RecurringRunResult(0, 0, 0)


def test_plan_that_lapsed_during_a_suspension_is_not_caught_up(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY")
    Member.objects.update(status="SUSPENDED")
    Member.objects.update(plan="FREE")
    Member.objects.update(status="ACTIVE")
    assert run_job("2026-11-22") == RecurringRunResult(0, 0, 0)
    Member.objects.update(plan="PREMIUM")
    set_premium_since(member, noon("2026-11-23"))
    assert run_job("2026-11-23") == RecurringRunResult(booked=1, missed=2, failed=0)
    assert list_occurrences(client, rule)[-1] == ("2026-11-23", BOOKED)


def test_database_notes_when_the_role_opened_premium(db: None) -> None:
    member = make_member()

    def since(**changes: Any) -> Any:
        Member.objects.filter(pk=member.pk).update(**changes)
        member.refresh_from_db()
        return member.premium_since

    begun = since(role="ADMIN")
    assert begun is not None
    Member.objects.update(premium_since=LONG_AGO)
    assert since(plan="PREMIUM") == LONG_AGO
    assert since(plan="FREE") == LONG_AGO
    assert since(status="SUSPENDED") == LONG_AGO
    assert since(plan="PREMIUM", role="MEMBER") == LONG_AGO
    assert since(plan="FREE") is None
    assert make_member(role="ADMIN").premium_since is None  # as it was sent
    assert Member.objects.latest("id").premium_since == begun


def test_stale_row_that_is_written_back_keeps_when_premium_began(db: None) -> None:
    stale = make_member(plan="PREMIUM")
    assert stale.premium_since is None
    set_premium_since(Member.objects.get(), LONG_AGO)
    stale.display_name = "New name"
    stale.save()
    assert Member.objects.get().premium_since == LONG_AGO


def test_database_notes_when_the_plan_began_without_a_break(db: None) -> None:
    member = make_member()
    assert member.premium_since is None

    def since(**changes: Any) -> Any:
        Member.objects.filter(pk=member.pk).update(**changes)
        member.refresh_from_db()
        return member.premium_since

    begun = since(plan="PREMIUM", plan_expires_at=noon("2126-01-01"))
    assert begun is not None
    Member.objects.update(premium_since=LONG_AGO)
    assert since(plan_expires_at=noon("2127-01-01")) == LONG_AGO
    assert since(plan_expires_at=None, plan_auto_renew=True) == LONG_AGO
    assert since(plan="PREMIUM", display_name="x") == LONG_AGO
    assert since(plan="FREE", plan_auto_renew=False) is None
    assert since(plan="PREMIUM") == begun
    lapsed = noon("2020-01-01")
    assert since(plan_expires_at=lapsed) is None
    assert since(plan_expires_at=lapsed, plan_auto_renew=True) == begun
