"""Recurring transactions: when they start, what a run books, what waits, what ends."""

from datetime import UTC, date, datetime, timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.utils import timezone
from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler

from accounts.models import Member
from config.celery import app
from ledger.models import Category, Entry, Occurrence, RecurringRule, Tag
from ledger.recurring import MAX_CATCH_UP, Run, run_due
from tests.clients import JSONClient
from tests.factories import make_category, make_member, make_rule, make_wallet
from tests.ledger.test_totals import assert_totals_are_right

RECURRING = "/api/account/recurring"
ENTRIES = "/api/account/entries"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
BODY = {
    "name": "Rent",
    "type": "expense",
    "amount": 700,
    "frequency": "MONTHLY",
    "anchorDate": "2026-11-21",
}
BOOKED, SKIPPED, MISSED = Occurrence.Status


def noon(day: str) -> datetime:
    """Noon of the day in Seoul."""
    return datetime.fromisoformat(f"{day}T12:00:00+09:00")


def on(day: str):
    return time_machine.travel(noon(day), tick=False)


@pytest.fixture(autouse=True)
def _today():
    """21 November 2026, a Saturday."""
    with on("2026-11-21"):
        yield


def make_paying(since: datetime = LONG_AGO, **fields) -> Member:
    """A member whose plan runs since then; the database notes its own clock."""
    member = make_member(plan="PREMIUM", **fields)
    return set_since(member, since)


def set_since(member: Member, since: datetime) -> Member:
    Member.objects.filter(pk=member.pk).update(plan_since=since)
    member.refresh_from_db()
    return member


@pytest.fixture
def member(db) -> Member:
    return make_paying()


@pytest.fixture
def client(member) -> JSONClient:
    return JSONClient(member)


def create(client, **fields):
    response = client.send("POST", RECURRING, BODY | fields)
    assert response.status_code == 201, response.content
    return response.data


def patch(client, rule, **fields):
    response = client.send("PATCH", f"{RECURRING}/{rule['id']}", fields)
    assert response.status_code == 200, response.content
    return response.data


def run_now(client, rule):
    return client.send("POST", f"{RECURRING}/{rule['id']}/run")


def next_date_of(client, rule):
    return client.read(f"{RECURRING}/{rule['id']}")["nextDate"]


def occurrences(client, rule):
    """Due date and status, oldest first."""
    body = client.read(f"{RECURRING}/{rule['id']}/occurrences", size=100)
    return [(row["dueDate"], row["status"]) for row in body["results"]][::-1]


def days_of_entries(member):
    rows = Entry.objects.owned_by(member).order_by("date", "pk")
    return [day.isoformat() for day in rows.values_list("date", flat=True)]


def run_job(day: str) -> Run:
    with on(day):
        return run_due(timezone.now())


# The rule


def test_rule_is_made_with_its_defaults(client):
    body = create(client)
    assert body == BODY | {
        "id": body["id"],
        "category": None,
        "walletId": None,
        "memo": "",
        "tags": [],
        "interval": 1,
        "endDate": None,
        "nextDate": "2026-11-21",
        "active": True,
    }
    assert client.read(f"{RECURRING}/{body['id']}") == body
    assert client.read(RECURRING) == [body]


def test_rule_refers_to_category_and_tags_by_name_and_makes_unknown_ones(
    client, member
):
    wallet = make_wallet(member)
    full = {
        "category": "Housing",
        "walletId": wallet.pk,
        "memo": "flat",
        "tags": ["home", "fixed"],
        "interval": 2,
        "endDate": "2027-11-21",
    }
    body = create(client, **full)
    assert body.items() >= full.items()
    assert Category.objects.get(name="Housing").type == "expense"
    assert set(Tag.objects.values_list("name", flat=True)) == {"home", "fixed"}
    again = client.send("PUT", f"{RECURRING}/{body['id']}", body)
    assert (again.status_code, again.data) == (200, body)


def test_rules_are_listed_oldest_first_and_only_the_callers(client, other_member):
    make_rule(other_member)
    ids = [create(client)["id"] for _ in range(3)]
    assert [row["id"] for row in client.read(RECURRING)] == ids


def test_put_clears_what_it_leaves_out(client):
    rule = create(client, category="Housing", memo="flat", tags=["a"], interval=3)
    body = client.send("PUT", f"{RECURRING}/{rule['id']}", BODY).data
    cleared = (body["category"], body["memo"], body["tags"], body["interval"])
    assert cleared == (None, "", [], 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "x" * 101),
        ("type", "transfer"),
        ("amount", 0),
        ("amount", 10**12),
        ("amount", "7"),
        ("frequency", "HOURLY"),
        ("frequency", "monthly"),
        ("interval", 0),
        ("interval", 1_001),
        ("interval", True),
        ("anchorDate", "2026-02-30"),
        ("anchorDate", "20261121"),
        ("anchorDate", None),
        ("endDate", "2026-13-01"),
        ("endDate", "2026-11-20"),
        ("active", "true"),
        ("walletId", "1"),
        ("memo", "x" * 501),
        ("category", "a\0b"),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_wrong_field_is_named(client, method, field, value):
    rule = create(client)
    path = RECURRING if method == "POST" else f"{RECURRING}/{rule['id']}"
    body = {field: value} if method == "PATCH" else BODY | {field: value}
    response = client.send(method, path, body)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == [field]
    assert client.read(RECURRING) == [rule]


@pytest.mark.parametrize(
    ("frequency", "anchor", "first"),
    [
        ("MONTHLY", "2026-11-21", "2026-11-21"),
        ("MONTHLY", "2026-11-22", "2026-11-22"),
        ("MONTHLY", "2030-01-31", "2030-01-31"),
        ("MONTHLY", "2026-11-20", "2026-12-20"),
        ("MONTHLY", "2020-01-31", "2026-11-30"),
        ("DAILY", "2020-01-01", "2026-11-21"),
        ("WEEKLY", "2026-11-14", "2026-11-21"),
        ("WEEKLY", "2026-11-15", "2026-11-22"),
        ("YEARLY", "2024-02-29", "2027-02-28"),
        ("DAILY", "0001-01-01", "2026-11-21"),
    ],
)
def test_rule_starts_at_its_first_due_date_not_before_the_day_it_is_made(
    client, frequency, anchor, first
):
    rule = create(client, frequency=frequency, anchorDate=anchor)
    assert (rule["anchorDate"], rule["nextDate"]) == (anchor, first)
    run_job("2026-11-21")
    assert occurrences(client, rule) == (
        [(first, BOOKED)] if first == "2026-11-21" else []
    )


def test_day_it_is_made_is_that_of_the_home_time_zone(member):
    with time_machine.travel(datetime(2026, 11, 21, 15, 0, tzinfo=UTC), tick=False):
        rule = create(JSONClient(member), frequency="DAILY", anchorDate="2026-11-01")
    assert rule["nextDate"] == "2026-11-22"


def test_rule_that_has_ended_has_no_next_date_and_cannot_be_run(client):
    rule = create(client, anchorDate="2026-01-01", endDate="2026-06-01")
    assert rule["nextDate"] is None
    response = run_now(client, rule)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert run_job("2027-11-21") == Run(0, 0, 0)


# Run now


def test_run_books_the_next_due_date_now_and_moves_it_on(client, member):
    wallet = make_wallet(member, opening_balance=1_000)
    rule = create(
        client,
        anchorDate="2026-12-31",
        walletId=wallet.pk,
        category="Housing",
        memo="flat",
        tags=["b", "a"],
    )
    response = run_now(client, rule)
    assert response.status_code == 201
    entry = response.data
    assert client.read(f"{ENTRIES}/{entry['id']}") == entry
    assert entry["wallet"] == {"id": wallet.pk, "name": wallet.name}
    assert (entry["date"], entry["type"], entry["amount"], entry["pending"]) == (
        "2026-12-31",
        "expense",
        700,
        False,
    )
    assert (entry["category"], entry["memo"], entry["tags"]) == (
        "Housing",
        "flat",
        ["b", "a"],
    )
    assert next_date_of(client, rule) == "2027-01-31"
    balance = client.read(f"/api/account/wallets/{wallet.pk}")["balance"]
    assert balance == 300
    assert_totals_are_right()


def test_date_that_was_run_early_is_not_booked_again_when_it_comes(client, member):
    rule = create(client, anchorDate="2026-12-31")
    run_now(client, rule)
    assert run_job("2026-12-31") == Run(0, 0, 0)
    assert run_job("2027-01-31") == Run(1, 0, 0)
    assert days_of_entries(member) == ["2026-12-31", "2027-01-31"]


def test_run_again_and_again_books_each_date_until_the_end(client, member):
    rule = create(client, anchorDate="2027-01-31", endDate="2027-03-31")
    statuses = [run_now(client, rule).status_code for _ in range(4)]
    assert statuses == [201, 201, 201, 400]
    assert days_of_entries(member) == ["2027-01-31", "2027-02-28", "2027-03-31"]
    assert next_date_of(client, rule) is None


def test_run_of_a_free_member_is_refused(free_member):
    rule = make_rule(free_member)
    response = JSONClient(free_member).send("POST", f"{RECURRING}/{rule.pk}/run")
    assert (response.status_code, response.data["code"]) == (403, "PREMIUM_REQUIRED")


# The job


def test_job_books_what_is_due_confirmed_and_once(client, member):
    rule = create(client)
    assert run_job("2026-11-21") == Run(1, 0, 0)
    entry = Entry.objects.get()
    assert (entry.date, entry.pending) == (date(2026, 11, 21), False)
    assert next_date_of(client, rule) == "2026-12-21"
    for day in ("2026-11-21", "2026-11-22", "2026-12-20"):
        assert run_job(day) == Run(0, 0, 0)
    assert days_of_entries(member) == ["2026-11-21"]
    assert_totals_are_right()


def test_days_of_downtime_are_caught_up_each_date_once_and_confirmed(client, member):
    rule = create(client, frequency="DAILY", anchorDate="2026-11-21")
    assert run_job("2026-11-26") == Run(6, 0, 0)
    days = [f"2026-11-{day}" for day in range(21, 27)]
    assert days_of_entries(member) == days
    assert occurrences(client, rule) == [(day, BOOKED) for day in days]
    assert not Entry.objects.filter(pending=True).exists()
    assert run_job("2026-11-26") == Run(0, 0, 0)
    assert_totals_are_right()


def test_day_31_is_caught_up_as_the_last_day_and_31_again(client, member):
    create(client, anchorDate="2026-12-31")
    run_job("2027-04-01")
    assert days_of_entries(member) == [
        "2026-12-31",
        "2027-01-31",
        "2027-02-28",
        "2027-03-31",
    ]


def test_home_time_zone_decides_when_a_day_is_due(client):
    create(client, anchorDate="2026-11-22")
    before_midnight = datetime(2026, 11, 21, 14, 59, 59, tzinfo=UTC)
    assert run_due(before_midnight).booked == 0
    assert run_due(before_midnight + timedelta(seconds=1)).booked == 1


def test_long_downtime_is_caught_up_over_several_runs(client, member):
    create(client, frequency="DAILY", anchorDate="2026-11-21")
    day = (date(2026, 11, 21) + timedelta(MAX_CATCH_UP + 4)).isoformat()
    assert run_job(day) == Run(MAX_CATCH_UP, 0, 0)
    assert run_job(day) == Run(5, 0, 0)
    assert run_job(day) == Run(0, 0, 0)
    assert len(set(days_of_entries(member))) == Entry.objects.count() == 405


def test_catch_up_stops_at_the_end_date(client, member):
    rule = create(client, frequency="DAILY", endDate="2026-11-23")
    assert run_job("2026-12-31").booked == 3
    assert next_date_of(client, rule) is None


def test_entries_of_different_members_go_to_their_own_ledgers(client, member):
    other = make_paying()
    create(client, name="mine", category="Food", tags=["x"])
    create(JSONClient(other), amount=5, category="Food", tags=["x"])
    assert run_job("2026-11-21").booked == 2
    for owner, amount in ((member, 700), (other, 5)):
        entry = Entry.objects.select_related("category").get(member=owner)
        assert entry.amount == amount
        assert entry.category.member_id == owner.pk
        assert Occurrence.objects.get(member=owner).entry_id == entry.pk


def test_changed_amount_is_booked_from_the_change_on_and_keeps_the_dates(
    client, member
):
    rule = create(client, frequency="DAILY")
    run_job("2026-11-22")
    with on("2026-11-25"):
        assert patch(client, rule, amount=9)["nextDate"] == "2026-11-23"
    run_job("2026-11-25")
    amounts = Entry.objects.order_by("date").values_list("amount", flat=True)
    assert list(amounts) == [700, 700, 9, 9, 9]


def test_new_name_of_a_category_reaches_what_is_booked_later(client, member):
    rule = create(client, category="Flat")
    category = Category.objects.get(name="Flat")
    path = f"/api/account/categories/{category.pk}"
    client.send("PATCH", path, {"name": "Housing"})
    assert client.read(f"{RECURRING}/{rule['id']}")["category"] == "Housing"
    assert run_now(client, rule).data["category"] == "Housing"
    assert Category.objects.count() == 1


def test_category_and_wallet_of_a_rule_are_in_use_and_move(client, member):
    wallet, target = make_wallet(member), make_wallet(member)
    create(client, category="Flat", walletId=wallet.pk)
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


def test_new_type_takes_the_category_of_that_name_and_type(client, member):
    rule = create(client, category="Gift")
    assert patch(client, rule, type="income")["category"] == "Gift"
    entry = run_now(client, rule).data
    assert (entry["type"], entry["category"]) == ("income", "Gift")
    assert Category.objects.filter(name="Gift").count() == 2


# Switched off


def test_rule_that_is_off_waits(client):
    rule = create(client, frequency="DAILY", active=False)
    assert run_job("2026-11-25") == Run(0, 0, 0)
    assert occurrences(client, rule) == []


def test_dates_that_passed_while_a_rule_was_off_are_skipped(client, member):
    rule = create(client, frequency="DAILY")
    run_job("2026-11-21")
    patch(client, rule, active=False)
    with on("2026-11-25"):
        assert patch(client, rule, active=True)["nextDate"] == "2026-11-25"
    assert run_job("2026-11-26") == Run(2, 0, 0)
    assert occurrences(client, rule) == [
        ("2026-11-21", BOOKED),
        ("2026-11-22", SKIPPED),
        ("2026-11-23", SKIPPED),
        ("2026-11-24", SKIPPED),
        ("2026-11-25", BOOKED),
        ("2026-11-26", BOOKED),
    ]
    assert days_of_entries(member) == ["2026-11-21", "2026-11-25", "2026-11-26"]


def test_off_and_on_again_on_the_same_day_skips_nothing(client):
    rule = create(client, frequency="DAILY")
    patch(client, rule, active=False)
    assert patch(client, rule, active=True)["nextDate"] == "2026-11-21"
    assert run_job("2026-11-21").booked == 1
    assert occurrences(client, rule) == [("2026-11-21", BOOKED)]


def test_rule_that_was_run_ahead_keeps_its_next_date_when_switched_on(client):
    rule = create(client)
    for _ in range(3):
        run_now(client, rule)
    patch(client, rule, active=False)
    assert patch(client, rule, active=True)["nextDate"] == "2027-02-21"


def test_rule_switched_on_after_years_starts_today(client):
    rule = create(client, frequency="DAILY", active=False)
    with on("2036-01-01"):
        other = JSONClient(Member.objects.get())
        assert patch(other, rule, active=True)["nextDate"] == "2036-01-01"
    assert Occurrence.objects.count() == MAX_CATCH_UP
    assert Entry.objects.count() == 0


# The plan


def test_rules_wait_while_the_plan_has_lapsed(client, member):
    rule = create(client, frequency="DAILY")
    run_job("2026-11-21")
    Member.objects.update(plan="FREE")
    assert run_job("2026-11-24") == Run(0, 0, 0)
    assert Occurrence.objects.count() == 1
    assert RecurringRule.objects.get().next_date == date(2026, 11, 22)

    Member.objects.update(plan="PREMIUM")
    set_since(member, noon("2026-11-24"))

    assert run_job("2026-11-25") == Run(booked=2, missed=2, failed=0)
    assert occurrences(client, rule) == [
        ("2026-11-21", BOOKED),
        ("2026-11-22", MISSED),
        ("2026-11-23", MISSED),
        ("2026-11-24", BOOKED),
        ("2026-11-25", BOOKED),
    ]
    assert days_of_entries(member) == ["2026-11-21", "2026-11-24", "2026-11-25"]
    assert run_job("2026-11-25") == Run(0, 0, 0)


def test_day_of_the_return_is_that_of_the_home_time_zone(client, member):
    rule = create(client, frequency="DAILY")
    set_since(member, datetime(2026, 11, 22, 15, 0, tzinfo=UTC))
    run_job("2026-11-23")
    assert [status for _, status in occurrences(client, rule)] == [
        MISSED,
        MISSED,
        BOOKED,
    ]


def test_rule_of_a_member_who_pays_without_a_break_misses_nothing(client):
    rule = create(client, frequency="DAILY")
    assert run_job("2026-12-10") == Run(20, 0, 0)
    assert {status for _, status in occurrences(client, rule)} == {BOOKED}


def test_expired_plan_books_nothing_before_any_job_has_seen_it(db):
    member = make_paying(plan_expires_at=noon("2126-01-10"))
    make_rule(member, frequency="DAILY", anchor_date=date(2126, 1, 9))
    assert run_job("2126-01-09") == Run(1, 0, 0)
    with time_machine.travel(noon("2126-01-10"), tick=False):
        assert run_due(timezone.now()) == Run(0, 0, 0)
    assert run_job("2126-01-12") == Run(0, 0, 0)
    member.refresh_from_db()
    assert (member.plan, Entry.objects.count()) == ("PREMIUM", 1)


def test_expired_plan_that_renews_itself_goes_on(db):
    member = make_paying(plan_expires_at=noon("2126-01-10"), plan_auto_renew=True)
    make_rule(member, anchor_date=date(2126, 1, 11))
    assert run_job("2126-01-11") == Run(1, 0, 0)


def test_administrator_is_treated_as_premium(db):
    administrator = make_member(role="ADMIN")
    rule = create(JSONClient(administrator), frequency="DAILY")
    assert run_job("2026-11-23") == Run(3, 0, 0)
    assert run_now(JSONClient(administrator), rule).status_code == 201


def test_administrator_who_becomes_a_free_member_waits(db):
    administrator = make_member(role="ADMIN")
    make_rule(administrator, anchor_date=date(2026, 11, 21))
    Member.objects.update(role="MEMBER")
    assert run_job("2026-11-23") == Run(0, 0, 0)


def test_database_notes_when_the_plan_began_without_a_break(db):
    member = make_member()
    assert member.plan_since is None

    def since(**changes):
        Member.objects.filter(pk=member.pk).update(**changes)
        member.refresh_from_db()
        return member.plan_since

    begun = since(plan="PREMIUM", plan_expires_at=noon("2126-01-01"))
    assert begun is not None
    Member.objects.update(plan_since=LONG_AGO)
    assert since(plan_expires_at=noon("2127-01-01")) == LONG_AGO
    assert since(plan_expires_at=None, plan_auto_renew=True) == LONG_AGO
    assert since(plan="PREMIUM", display_name="x") == LONG_AGO
    assert since(plan="FREE", plan_auto_renew=False) is None
    assert since(plan="PREMIUM") == begun
    lapsed = noon("2020-01-01")
    assert since(plan_expires_at=lapsed) is None
    assert since(plan_expires_at=lapsed, plan_auto_renew=True) == begun


# Edits of the timing


@pytest.mark.parametrize(
    ("change", "following"),
    [
        ({"frequency": "WEEKLY"}, "2026-11-27"),
        ({"frequency": "DAILY"}, "2026-11-24"),
        ({"anchorDate": "2026-11-24"}, "2026-11-24"),
        ({"anchorDate": "2026-11-23"}, "2026-12-23"),
        ({"interval": 3}, "2027-02-20"),
        ({"anchorDate": "2027-05-31"}, "2027-05-31"),
    ],
)
def test_new_timing_starts_at_its_first_due_date_from_today_on(
    client, change, following
):
    rule = create(client, anchorDate="2026-11-20")
    with on("2026-11-24"):
        assert patch(client, rule, **change)["nextDate"] == following


def test_same_timing_sent_again_changes_no_date(client):
    rule = create(client)
    run_now(client, rule)
    body = client.read(f"{RECURRING}/{rule['id']}")
    again = client.send("PUT", f"{RECURRING}/{rule['id']}", body | {"nextDate": "x"})
    assert again.data["nextDate"] == "2026-12-21"


def test_date_that_was_booked_is_not_booked_again_after_new_timing(client, member):
    rule = create(client)
    run_job("2026-11-21")
    patch(client, rule, interval=2)
    run_job("2026-11-21")
    patch(client, rule, frequency="DAILY", interval=1)
    run_job("2026-11-22")
    assert days_of_entries(member) == ["2026-11-21", "2026-11-22"]


def test_next_date_is_one_that_is_not_dealt_with_yet_after_new_timing(client):
    rule = create(client)
    run_now(client, rule)
    assert patch(client, rule, interval=2)["nextDate"] == "2027-01-21"


def test_run_after_new_timing_books_another_date(client, member):
    rule = create(client)
    first = run_now(client, rule).data
    client.send("DELETE", f"{ENTRIES}/{first['id']}")
    patch(client, rule, interval=2)
    response = run_now(client, rule)
    assert response.status_code == 201, response.content
    assert days_of_entries(member) == ["2027-01-21"]


def test_end_date_does_not_bring_back_what_was_run_early(client):
    rule = create(client)
    run_now(client, rule)
    run_now(client, rule)
    assert patch(client, rule, endDate="2027-12-31")["nextDate"] == "2027-01-21"


def test_earlier_end_date_ends_the_rule(client):
    rule = create(client, anchorDate="2026-11-25")
    assert patch(client, rule, endDate="2026-11-25")["nextDate"] == "2026-11-25"
    run_job("2026-11-25")
    assert next_date_of(client, rule) is None
    assert run_job("2026-12-25") == Run(0, 0, 0)


def test_end_date_taken_away_lets_an_ended_rule_go_on(client):
    rule = create(client, endDate="2026-11-21")
    run_job("2026-11-21")
    assert next_date_of(client, rule) is None
    assert patch(client, rule, endDate=None)["nextDate"] == "2026-12-21"


def test_end_date_set_during_downtime_loses_none_of_the_dates_before_it(client, member):
    rule = create(client, frequency="DAILY")
    with on("2026-11-24"):
        patch(client, rule, endDate="2026-11-30")
    run_job("2026-11-24")
    assert days_of_entries(member) == [f"2026-11-{day}" for day in range(21, 25)]


# What stays


def test_deleted_entry_leaves_its_occurrence_and_is_not_booked_again(client):
    rule = create(client)
    run_job("2026-11-21")
    client.send("DELETE", f"{ENTRIES}/{Entry.objects.get().pk}")
    assert run_job("2026-11-22") == Run(0, 0, 0)
    rows = client.read(f"{RECURRING}/{rule['id']}/occurrences")["results"]
    assert [(row["dueDate"], row["status"], row["entryId"]) for row in rows] == [
        ("2026-11-21", BOOKED, None)
    ]


def test_deleted_rule_leaves_the_entries_that_it_booked(client, member):
    rule = create(client, tags=["home"], category="Flat")
    run_job("2026-12-21")
    before = client.read(ENTRIES)
    response = client.send("DELETE", f"{RECURRING}/{rule['id']}")
    assert (response.status_code, response.content) == (204, b"")
    assert client.read(ENTRIES) == before
    assert before["count"] == 2
    assert Occurrence.objects.count() == 0
    assert run_job("2027-01-21") == Run(0, 0, 0)


def test_booked_entry_can_be_changed_like_any_other(client):
    rule = create(client)
    entry = run_now(client, rule).data
    path = f"{ENTRIES}/{entry['id']}"
    assert client.send("PATCH", path, {"date": "2026-11-01"}).status_code == 200
    assert run_job("2026-11-21") == Run(0, 0, 0)


def test_occurrences_are_paged_newest_first(client):
    rule = create(client, frequency="DAILY")
    run_job("2026-11-25")
    path = f"{RECURRING}/{rule['id']}/occurrences"
    body = client.read(path, size=2, page=2)
    assert [row["dueDate"] for row in body["results"]] == ["2026-11-23", "2026-11-22"]
    assert body["count"] == 5
    assert body["next"] is not None
    assert body["previous"] is not None
    entries = dict(Entry.objects.values_list("pk", "date"))
    for row in body["results"]:
        assert entries[row["entryId"]].isoformat() == row["dueDate"]


# Failures, the command, the schedule


@pytest.fixture
def broken(member, monkeypatch):
    """A rule that cannot be booked, between two that can."""
    from ledger import recurring

    record = recurring.record_entry

    def fail(owner, draft, now):
        if draft.memo == "broken":
            raise RuntimeError("the disk is full")
        return record(owner, draft, now)

    rules = [
        make_rule(member, anchor_date=date(2026, 11, 21), memo=memo)
        for memo in ("first", "broken", "last")
    ]
    with monkeypatch.context() as patched:
        patched.setattr(recurring, "record_entry", fail)
        yield rules[1]


def test_rule_that_fails_does_not_keep_the_others_waiting(broken, caplog):
    assert run_job("2026-11-21") == Run(booked=2, missed=0, failed=1)
    assert set(Entry.objects.values_list("memo", flat=True)) == {"first", "last"}
    assert not Occurrence.objects.filter(rule=broken).exists()
    broken.refresh_from_db()
    assert broken.next_date == date(2026, 11, 21)
    assert [record.exc_info is not None for record in caplog.records] == [True]
    assert str(broken.pk) in caplog.text


def test_rule_that_failed_is_booked_by_the_next_run(broken, caplog, monkeypatch):
    run_job("2026-11-21")
    RecurringRule.objects.filter(pk=broken.pk).update(memo="mended")
    assert run_job("2026-11-22") == Run(1, 0, 0)
    assert Entry.objects.get(memo="mended").date == date(2026, 11, 21)


def test_command_prints_what_it_did(client, member):
    create(client, frequency="DAILY")
    set_since(member, noon("2026-11-22"))
    out = StringIO()
    with on("2026-11-23"):
        call_command("run_recurring", stdout=out)
        assert out.getvalue() == "2 booked, 1 missed.\n"
        call_command("run_recurring", stdout=out)
    assert out.getvalue().splitlines()[-1] == "0 booked, 0 missed."


def test_command_fails_if_a_rule_could_not_be_booked(broken, caplog):
    out = StringIO()
    with pytest.raises(CommandError, match="1 rule") as caught:
        call_command("run_recurring", stdout=out)
    assert caught.value.returncode == 1
    assert out.getvalue() == "2 booked, 0 missed.\n"


def test_task_books_what_is_due(client):
    create(client)
    app.loader.import_default_modules()
    app.tasks["ledger.tasks.run_recurring"].apply(throw=True)
    assert Entry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_beat_runs_the_job_hourly_by_the_stored_schedule():
    DatabaseScheduler(app=app, lazy=False)
    stored = PeriodicTask.objects.get(task="ledger.tasks.run_recurring")
    assert stored.interval.schedule.run_every == timedelta(hours=1)
    assert stored.expire_seconds < 60 * 60
    assert stored.enabled
