"""Recurring transactions under concurrent workers: each due date is booked once."""

from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Category, Entry, Occurrence, RecurringRule
from ledger.recurring.occurrences import process_due_rules
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_member, make_rule, make_wallet
from tests.support.races import caller, run_concurrently, sorted_statuses
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

RECURRING = "/api/account/recurring"
CATEGORIES = "/api/account/categories"
WALLETS = "/api/account/wallets"
NOW = datetime.fromisoformat("2026-11-21T12:00:00+09:00")
LONG_AGO = datetime.fromisoformat("2020-01-01T00:00:00+09:00")
FIRST = date(2026, 11, 17)
DAYS = 5
ROUNDS = scaled(3, 20)


@pytest.fixture
def member() -> Member:
    return make_administrator()


def make_administrator() -> Member:
    """Create an administrator of long ago, so that no due date before today is missed."""
    member = make_member(role="ADMIN")
    Member.objects.filter(pk=member.pk).update(premium_since=LONG_AGO)
    return member


def work() -> Any:
    """Run the job as a worker does when Beat sends the task."""
    return process_due_rules(NOW)


def make_daily(member: Member, **fields: Any) -> RecurringRule:
    """Create a rule with five due dates that wait."""
    return make_rule(member, frequency="DAILY", anchor_date=FIRST, **fields)


def assert_each_date_is_booked_once() -> None:
    """Assert that each occurrence has one entry, each rule and date one occurrence."""
    occurrences = Occurrence.objects.values_list("rule_id", "due_date", "entry_id")
    keys = Counter((rule, due) for rule, due, _ in occurrences)
    assert set(keys.values()) <= {1}
    entries = [entry for _, _, entry in occurrences]
    assert None not in entries
    assert sorted(entries) == sorted(Entry.objects.values_list("pk", flat=True))


def end_all_rules() -> None:
    RecurringRule.objects.update(next_date=None)


@pytest.mark.parametrize("workers", [2, 8])
def test_workers_at_once_book_each_date_once(workers: int, member: Member) -> None:
    for number in range(ROUNDS):
        rules = [make_daily(member, name=f"{number}") for _ in range(2)]
        runs = run_concurrently([work] * workers)
        assert sum(run.booked for run in runs) == DAYS * len(rules)
        assert sum(run.failed for run in runs) == 0
        booked = Occurrence.objects.filter(rule__in=rules).count()
        assert booked == DAYS * len(rules)
        assert_each_date_is_booked_once()
    assert Entry.objects.count() == ROUNDS * 2 * DAYS
    assert_rollups_are_right()


def test_workers_at_once_make_an_unknown_name_once(member: Member) -> None:
    # The rule's category and tags are shared, so no other worker creates them.
    for number in range(5):
        category = make_category(member, name=f"Rent {number}")
        for _ in range(3):
            make_daily(member, category=category, wallet=make_wallet(member))
        runs = run_concurrently([work] * 4)
        assert sum(run.failed for run in runs) == 0
    assert Category.objects.count() == 5
    assert Entry.objects.count() == 5 * 3 * DAYS
    assert_each_date_is_booked_once()


def test_run_now_racing_the_job_books_no_date_twice_and_loses_none(
    client: JSONClient, member: Member
) -> None:
    for _ in range(ROUNDS):
        rule = make_daily(member)
        responses = run_concurrently(
            [
                caller(client, "POST", f"{RECURRING}/{rule.pk}/run"),
                work,
                caller(client, "POST", f"{RECURRING}/{rule.pk}/run"),
            ]
        )
        assert sorted_statuses([responses[0], responses[2]]) == [201, 201]
        assert responses[0].data["id"] != responses[2].data["id"]
        work()
        assert_each_date_is_booked_once()
        rows = Occurrence.objects.filter(rule=rule).order_by("due_date")
        days = list(rows.values_list("due_date", flat=True))
        assert days == [date(2026, 11, 17 + n) for n in range(len(days))]
        assert DAYS <= len(days) <= DAYS + 2
        end_all_rules()
    assert_rollups_are_right()


def test_many_presses_of_run_at_once_book_different_dates(
    client: JSONClient, member: Member
) -> None:
    for _ in range(5):
        rule = make_rule(member, anchor_date=date(2026, 12, 31))
        responses = run_concurrently(
            [caller(client, "POST", f"{RECURRING}/{rule.pk}/run")] * 6
        )
        assert sorted_statuses(responses) == [201] * 6
        assert len({response.data["date"] for response in responses}) == 6
    assert_each_date_is_booked_once()


def test_job_racing_the_end_of_its_category_neither_deadlocks_nor_loses_one(
    client: JSONClient, member: Member
) -> None:
    for number in range(ROUNDS):
        source = make_category(member, name=f"from {number}")
        target = make_category(member, name=f"to {number}")
        wallet, into = make_wallet(member), make_wallet(member)
        make_daily(member, category=source, wallet=wallet)
        category, moved, first, second = run_concurrently(
            [
                caller(
                    client, "DELETE", f"{CATEGORIES}/{source.pk}?moveTo={target.pk}"
                ),
                caller(client, "DELETE", f"{WALLETS}/{wallet.pk}?moveTo={into.pk}"),
                work,
                work,
            ]
        )
        assert (category.status_code, moved.status_code) == (204, 204)
        assert (first.failed, second.failed) == (0, 0)
        work()
        found = Entry.objects.filter(wallet=into).values_list("category__name")
        assert list(found) == [(target.name,)] * DAYS
    assert_each_date_is_booked_once()
    assert_rollups_are_right()


def test_job_racing_a_change_of_its_rule_books_no_date_twice(
    client: JSONClient, member: Member
) -> None:
    for number in range(ROUNDS):
        rule = make_daily(member)
        body = {"amount": number + 1, "category": f"New {number}", "tags": ["new"]}
        change, run = run_concurrently(
            [caller(client, "PATCH", f"{RECURRING}/{rule.pk}", body), work]
        )
        assert change.status_code == 200, change.content
        assert run.failed == 0
        work()
        assert Occurrence.objects.filter(rule=rule).count() == DAYS
        assert_each_date_is_booked_once()
    assert_rollups_are_right()


@pytest.mark.parametrize(
    "body", [{"active": False}, {"interval": 3}, {"anchorDate": "2026-11-20"}]
)
def test_job_racing_a_change_of_course_books_no_date_twice_and_loses_none(
    client: JSONClient, member: Member, body: dict[str, Any]
) -> None:
    # The job or the change books the earlier due dates, never both.
    for _ in range(ROUNDS):
        rule = make_daily(member, end_date=FIRST + timedelta(days=DAYS - 1))
        change, first, second = run_concurrently(
            [caller(client, "PATCH", f"{RECURRING}/{rule.pk}", body), work, work]
        )
        assert change.status_code == 200, change.content
        assert (first.failed, second.failed) == (0, 0)
        assert_each_date_is_booked_once()
        days = Occurrence.objects.filter(rule=rule).values_list("due_date", flat=True)
        assert {FIRST + timedelta(days=n) for n in range(DAYS - 1)} <= set(days)
    assert_rollups_are_right()


def test_job_racing_the_end_of_its_rule_leaves_whole_entries_only(
    client: JSONClient, member: Member
) -> None:
    for _ in range(ROUNDS):
        rule = make_daily(member)
        before = Entry.objects.count()
        delete, run = run_concurrently(
            [caller(client, "DELETE", f"{RECURRING}/{rule.pk}"), work]
        )
        assert (delete.status_code, run.failed) == (204, 0)
        assert Entry.objects.count() - before in {0, DAYS}
        assert run.booked == Entry.objects.count() - before
    assert not RecurringRule.objects.exists()
    assert_rollups_are_right()


def test_job_racing_the_end_of_its_member_leaves_nothing_and_fails_nowhere(
    member: Member,
) -> None:
    for _ in range(10):
        leaving = make_administrator()
        make_daily(leaving)
        client = JSONClient(leaving)
        delete, run = run_concurrently([caller(client, "DELETE", "/api/auth/me"), work])
        assert (delete.status_code, run.failed) == (204, 0)
        assert not Entry.objects.filter(member_id=leaving.pk).exists()


def test_run_now_racing_the_end_of_its_member_is_never_a_500() -> None:
    for _ in range(10):
        leaving = make_administrator()
        rule = make_daily(leaving)
        clients = [JSONClient(leaving) for _ in range(3)]
        path = f"{RECURRING}/{rule.pk}"
        responses = run_concurrently(
            [
                caller(clients[0], "DELETE", "/api/auth/me"),
                caller(clients[1], "POST", f"{path}/run"),
                caller(clients[2], "PATCH", path, {"category": "New", "tags": ["new"]}),
            ]
        )
        assert responses[0].status_code == 204
        assert max(sorted_statuses(responses)) < 500
        assert not RecurringRule.objects.filter(member_id=leaving.pk).exists()
