"""The job that books what is due: once, caught up, at what cost, when it fails."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler
from kombu.exceptions import OperationalError

from accounts.models import Member
from config.celery import app
from core.jobs import ranges
from ledger import tasks
from ledger.models import Category, Entry, Occurrence, RecurringRule
from ledger.recurring import occurrences as occurrences_module
from ledger.recurring.occurrences import (
    MAX_RULES_PER_TRANSACTION,
    RecurringRunResult,
    process_due_rules,
)
from tests.support.calendar_oracle import (
    BOOKED,
    RECURRING,
    create_rule,
    days_of_entries,
    list_occurrences,
    make_premium_since,
    next_date_of,
    noon,
    patch_rule,
    run_job,
    run_rule_now,
    set_premium_since,
    travel_to,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_member, make_rule, make_wallet
from tests.support.rollups import assert_rollups_are_right

# The job


def test_job_books_what_is_due_confirmed_and_once(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client)
    assert run_job("2026-11-21") == RecurringRunResult(1, 0, 0)
    entry = Entry.objects.get()
    assert (entry.date, entry.pending) == (date(2026, 11, 21), False)
    assert next_date_of(client, rule) == "2026-12-21"
    for day in ("2026-11-21", "2026-11-22", "2026-12-20"):
        assert run_job(day) == RecurringRunResult(0, 0, 0)
    assert days_of_entries(member) == ["2026-11-21"]
    assert_rollups_are_right()


def test_days_of_downtime_are_caught_up_each_date_once_and_confirmed(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY", anchorDate="2026-11-21")
    assert run_job("2026-11-26") == RecurringRunResult(6, 0, 0)
    days = [f"2026-11-{day}" for day in range(21, 27)]
    assert days_of_entries(member) == days
    assert list_occurrences(client, rule) == [(day, BOOKED) for day in days]
    assert not Entry.objects.filter(pending=True).exists()
    assert run_job("2026-11-26") == RecurringRunResult(0, 0, 0)
    assert_rollups_are_right()


def test_day_31_is_caught_up_as_the_last_day_and_31_again(
    client: JSONClient, member: Member
) -> None:
    create_rule(client, anchorDate="2026-12-31")
    run_job("2027-04-01")
    assert days_of_entries(member) == [
        "2026-12-31",
        "2027-01-31",
        "2027-02-28",
        "2027-03-31",
    ]


def test_home_time_zone_decides_when_a_day_is_due(client: JSONClient) -> None:
    create_rule(client, anchorDate="2026-11-22")
    before_midnight = datetime(2026, 11, 21, 14, 59, 59, tzinfo=UTC)
    assert process_due_rules(before_midnight).booked == 0
    assert process_due_rules(before_midnight + timedelta(seconds=1)).booked == 1


def test_catch_up_stops_at_the_end_date(client: JSONClient, member: Member) -> None:
    rule = create_rule(client, frequency="DAILY", endDate="2026-11-23")
    assert run_job("2026-12-31").booked == 3
    assert next_date_of(client, rule) is None


def test_entries_of_different_members_go_to_their_own_ledgers(
    client: JSONClient, member: Member
) -> None:
    other = make_premium_since()
    create_rule(client, name="mine", category="Food", tags=["x"])
    create_rule(JSONClient(other), amount=5, category="Food", tags=["x"])
    assert run_job("2026-11-21").booked == 2
    for owner, amount in ((member, 700), (other, 5)):
        entry = Entry.objects.select_related("category").get(member=owner)
        assert entry.amount == amount
        assert entry.category.member_id == owner.pk
        assert Occurrence.objects.get(member=owner).entry_id == entry.pk


def test_changed_amount_is_booked_from_the_change_on_and_keeps_the_dates(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY")
    run_job("2026-11-22")
    with travel_to("2026-11-25"):
        assert patch_rule(client, rule, amount=9)["nextDate"] == "2026-11-23"
    run_job("2026-11-25")
    amounts = Entry.objects.order_by("date").values_list("amount", flat=True)
    assert list(amounts) == [700, 700, 9, 9, 9]


def test_new_name_of_a_category_reaches_what_is_booked_later(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, category="Flat")
    category = Category.objects.get(name="Flat")
    path = f"/api/account/categories/{category.pk}"
    client.send("PATCH", path, {"name": "Housing"})
    assert client.get_json(f"{RECURRING}/{rule['id']}")["category"] == "Housing"
    assert run_rule_now(client, rule).data["category"] == "Housing"
    assert Category.objects.count() == 1


def test_category_and_wallet_of_a_rule_are_in_use_and_move(
    client: JSONClient, member: Member
) -> None:
    wallet, target = make_wallet(member), make_wallet(member)
    create_rule(client, category="Flat", walletId=wallet.pk)
    category = Category.objects.get(name="Flat")
    into = make_category(member, name="Housing")
    for path, move_to in (
        (f"/api/account/wallets/{wallet.pk}", target.pk),
        (f"/api/account/categories/{category.pk}", into.pk),
    ):
        assert client.send("DELETE", path).data["code"] == "IN_USE"
        response = client.send("DELETE", f"{path}?moveTo={move_to}")
        assert response.status_code == 204
    run_job("2026-11-21")
    entry = Entry.objects.select_related("category").get()
    assert (entry.category.name, entry.wallet_id) == ("Housing", target.pk)


def test_new_type_takes_the_category_of_that_name_and_type(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, category="Gift")
    assert patch_rule(client, rule, type="income")["category"] == "Gift"
    entry = run_rule_now(client, rule).data
    assert (entry["type"], entry["category"]) == ("income", "Gift")
    assert Category.objects.filter(name="Gift").count() == 2


# What a run costs


def count_queries_of_job(day: Any) -> Any:
    with travel_to(day), CaptureQueriesContext(connection) as queries:
        run = process_due_rules(timezone.now())
    return run, len(queries)


def test_rules_that_are_not_due_cost_one_query_for_all_members(db: None) -> None:
    def add_members(count: Any) -> None:
        for _ in range(count):
            for rule in (
                make_rule(make_premium_since(), anchor_date=date(2026, 11, 22)),
                make_rule(make_premium_since(), active=False),
                make_rule(make_premium_since(), next_date=None),
                make_rule(make_member()),
                make_rule(make_premium_since(status="SUSPENDED")),
                make_rule(make_premium_since(plan_expires_at=noon("2026-11-20"))),
            ):
                assert rule.pk

    add_members(1)
    assert count_queries_of_job("2026-11-21") == (RecurringRunResult(0, 0, 0), 1)
    add_members(5)
    assert count_queries_of_job("2026-11-21") == (RecurringRunResult(0, 0, 0), 1)


def test_rule_costs_the_same_however_many_dates_it_catches_up(
    client: JSONClient, member: Member
) -> None:
    wallet = make_wallet(member)
    for name in ("short", "long"):
        create_rule(
            client,
            name=name,
            frequency="DAILY",
            category="Food",
            tags=["a", "b"],
            walletId=wallet.pk,
            endDate="2026-11-21" if name == "short" else "2027-11-21",
        )
    rules = list(RecurringRule.objects.order_by("pk"))
    RecurringRule.objects.filter(pk=rules[1].pk).update(active=False)
    short, cost = count_queries_of_job("2026-11-21")
    RecurringRule.objects.filter(pk=rules[1].pk).update(active=True)
    long, same = count_queries_of_job("2027-11-21")
    assert (short.booked, long.booked) == (1, 366)
    assert cost == same <= 11
    assert_rollups_are_right()


def test_rules_of_a_member_cost_the_same_however_many_are_due(member: Member) -> None:
    for count in (1, MAX_RULES_PER_TRANSACTION):
        for _ in range(count):
            make_rule(member, anchor_date=date(2026, 11, 21))
        run, cost = count_queries_of_job("2026-11-21")
        assert run == RecurringRunResult(booked=count)
        # Listing, plans, begin, commit mode, lock, two reads, three writes, commit.
        assert cost <= 11
    assert_rollups_are_right()


def test_more_rules_than_one_transaction_holds_are_all_booked(member: Member) -> None:
    for _ in range(2 * MAX_RULES_PER_TRANSACTION + 1):
        make_rule(member, anchor_date=date(2026, 11, 21))
    booked = 2 * MAX_RULES_PER_TRANSACTION + 1
    assert run_job("2026-11-21") == RecurringRunResult(booked=booked)
    assert Occurrence.objects.filter(entry__isnull=False).count() == booked


def test_run_of_a_range_leaves_the_members_outside_of_it(db: None) -> None:
    members = [make_premium_since() for _ in range(4)]
    for member in members:
        make_rule(member, anchor_date=date(2026, 11, 21))
    with travel_to("2026-11-21"):
        limits = members[1].pk, members[2].pk
        assert process_due_rules(timezone.now(), members=limits).booked == 2
    owners = set(Entry.objects.values_list("member_id", flat=True))
    assert owners == {members[1].pk, members[2].pk}


# Failures, the command, the schedule


@pytest.fixture
def broken(member: Member, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a rule that cannot be booked, between two that can."""
    book = occurrences_module.create_booked_entries

    def fail(ledger: Any, booked: Any, now: Any) -> Any:
        entries = book(ledger, booked, now)
        if any(rule.memo == "broken" for rule, _ in booked):
            raise RuntimeError("the disk is full")
        return entries

    rules = [
        make_rule(member, anchor_date=date(2026, 11, 21), memo=memo)
        for memo in ("first", "broken", "last")
    ]
    with monkeypatch.context() as patched:
        patched.setattr(occurrences_module, "create_booked_entries", fail)
        yield rules[1]


def test_rule_that_fails_does_not_keep_the_others_waiting(
    broken: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert run_job("2026-11-21") == RecurringRunResult(booked=2, missed=0, failed=1)
    assert set(Entry.objects.values_list("memo", flat=True)) == {"first", "last"}
    assert not Occurrence.objects.filter(rule=broken).exists()
    broken.refresh_from_db()
    assert broken.next_date == date(2026, 11, 21)
    assert [record.exc_info is not None for record in caplog.records] == [True]
    assert str(broken.pk) in caplog.text


def test_rule_that_failed_is_booked_by_the_next_run(
    broken: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_job("2026-11-21")
    RecurringRule.objects.filter(pk=broken.pk).update(memo="mended")
    assert run_job("2026-11-22") == RecurringRunResult(1, 0, 0)
    assert Entry.objects.get(memo="mended").date == date(2026, 11, 21)


def test_command_prints_what_it_did(client: JSONClient, member: Member) -> None:
    create_rule(client, frequency="DAILY")
    RecurringRule.objects.update(created_at=noon("2026-11-20"))
    set_premium_since(member, noon("2026-11-22"))
    out = StringIO()
    with travel_to("2026-11-23"):
        call_command("run_recurring", stdout=out)
        assert out.getvalue() == "2 booked, 1 missed, 0 bills paid.\n"
        call_command("run_recurring", stdout=out)
    assert out.getvalue().splitlines()[-1] == "0 booked, 0 missed, 0 bills paid."


def test_command_fails_if_a_rule_could_not_be_booked(
    broken: Any, caplog: pytest.LogCaptureFixture
) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match="1 rule") as caught:
        call_command("run_recurring", stdout=out)
    assert caught.value.returncode == 1
    assert out.getvalue() == "2 booked, 0 missed, 0 bills paid.\n"


def test_task_books_what_is_due(client: JSONClient) -> None:
    create_rule(client)
    app.loader.import_default_modules()
    app.tasks["ledger.tasks.run_recurring"].apply(throw=True)
    assert Entry.objects.count() == 1


@pytest.mark.parametrize("is_queue_there", [True, False])
@pytest.mark.django_db(transaction=True)
def test_task_of_several_ranges_calls_helpers_if_it_can(
    is_queue_there: bool,
    client: JSONClient,
    member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def send(**options: Any) -> None:
        calls.append(options)
        if not is_queue_there:
            raise OperationalError("Valkey is down")

    monkeypatch.setattr(ranges, "RANGE_SIZE", member.pk)
    monkeypatch.setattr(tasks.help_run_recurring, "apply_async", send)
    make_member()
    create_rule(client)
    tasks.run_recurring()
    assert len(calls) == 1
    assert Entry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_beat_runs_the_job_hourly_by_the_stored_schedule() -> None:
    DatabaseScheduler(app=app, lazy=False)
    stored = PeriodicTask.objects.get(task="ledger.tasks.run_recurring")
    assert stored.interval.schedule.run_every == timedelta(hours=1)
    assert stored.expire_seconds < 60 * 60
    assert stored.enabled
