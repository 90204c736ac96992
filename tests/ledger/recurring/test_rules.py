"""Recurring rules: their fields, when they start, what `run` books."""

from datetime import UTC, datetime

import pytest
import time_machine

from accounts.models import Member
from ledger.models import Category, Entry, Occurrence, Tag
from ledger.recurring.occurrences import RecurringRunResult
from tests.support.calendar_oracle import (
    BOOKED,
    ENTRIES,
    RECURRING,
    create_rule,
    days_of_entries,
    list_occurrences,
    next_date_of,
    run_job,
    run_rule_now,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_rule, make_wallet
from tests.support.rollups import assert_rollups_are_right

# The rule


def test_rule_refers_to_category_and_tags_by_name_and_makes_unknown_ones(
    client: JSONClient, member: Member
) -> None:
    wallet = make_wallet(member)
    full = {
        "category": "Housing",
        "walletId": wallet.pk,
        "memo": "flat",
        "tags": ["home", "fixed"],
        "interval": 2,
        "endDate": "2027-11-21",
    }
    body = create_rule(client, **full)
    assert body.items() >= full.items()
    assert Category.objects.get(name="Housing").type == "expense"
    assert set(Tag.objects.values_list("name", flat=True)) == {"home", "fixed"}
    again = client.send("PUT", f"{RECURRING}/{body['id']}", body)
    assert (again.status_code, again.data) == (200, body)


def test_rules_are_listed_oldest_first_and_only_the_callers(
    client: JSONClient, other_member: Member
) -> None:
    make_rule(other_member)
    ids = [create_rule(client)["id"] for _ in range(3)]
    assert [row["id"] for row in client.get_json(RECURRING)] == ids


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
    client: JSONClient, frequency: str, anchor: str, first: str
) -> None:
    rule = create_rule(client, frequency=frequency, anchorDate=anchor)
    assert (rule["anchorDate"], rule["nextDate"]) == (anchor, first)
    run_job("2026-11-21")
    assert list_occurrences(client, rule) == (
        [(first, BOOKED)] if first == "2026-11-21" else []
    )


def test_day_it_is_made_is_that_of_the_home_time_zone(member: Member) -> None:
    with time_machine.travel(datetime(2026, 11, 21, 15, 0, tzinfo=UTC), tick=False):
        rule = create_rule(
            JSONClient(member), frequency="DAILY", anchorDate="2026-11-01"
        )
    assert rule["nextDate"] == "2026-11-22"


def test_rule_that_has_ended_has_no_next_date_and_cannot_be_run(
    client: JSONClient,
) -> None:
    rule = create_rule(client, anchorDate="2026-01-01", endDate="2026-06-01")
    assert rule["nextDate"] is None
    response = run_rule_now(client, rule)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert run_job("2027-11-21") == RecurringRunResult(0, 0, 0)


# Run now


def test_run_books_the_next_due_date_now_and_moves_it_on(
    client: JSONClient, member: Member
) -> None:
    wallet = make_wallet(member, opening_balance=1_000)
    rule = create_rule(
        client,
        anchorDate="2026-12-31",
        walletId=wallet.pk,
        category="Housing",
        memo="flat",
        tags=["b", "a"],
    )
    response = run_rule_now(client, rule)
    assert response.status_code == 201
    entry = response.data
    assert client.get_json(f"{ENTRIES}/{entry['id']}") == entry
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
    balance = client.get_json(f"/api/account/wallets/{wallet.pk}")["balance"]
    assert balance == 300
    assert_rollups_are_right()


def test_date_that_was_run_early_is_not_booked_again_when_it_comes(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, anchorDate="2026-12-31")
    run_rule_now(client, rule)
    assert run_job("2026-12-31") == RecurringRunResult(0, 0, 0)
    assert run_job("2027-01-31") == RecurringRunResult(1, 0, 0)
    assert days_of_entries(member) == ["2026-12-31", "2027-01-31"]


def test_run_again_and_again_books_each_date_until_the_end(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, anchorDate="2027-01-31", endDate="2027-03-31")
    statuses = [run_rule_now(client, rule).status_code for _ in range(4)]
    assert statuses == [201, 201, 201, 400]
    assert days_of_entries(member) == ["2027-01-31", "2027-02-28", "2027-03-31"]
    assert next_date_of(client, rule) is None


# What stays


def test_deleted_entry_leaves_its_occurrence_and_is_not_booked_again(
    client: JSONClient,
) -> None:
    rule = create_rule(client)
    run_job("2026-11-21")
    client.send("DELETE", f"{ENTRIES}/{Entry.objects.get().pk}")
    assert run_job("2026-11-22") == RecurringRunResult(0, 0, 0)
    rows = client.get_json(f"{RECURRING}/{rule['id']}/occurrences")["results"]
    assert [(row["dueDate"], row["status"], row["entryId"]) for row in rows] == [
        ("2026-11-21", BOOKED, None)
    ]


def test_deleted_rule_leaves_the_entries_that_it_booked(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, tags=["home"], category="Flat")
    run_job("2026-12-21")
    before = client.get_json(ENTRIES)
    response = client.send("DELETE", f"{RECURRING}/{rule['id']}")
    assert (response.status_code, response.content) == (204, b"")
    assert client.get_json(ENTRIES) == before
    assert before["count"] == 2
    assert Occurrence.objects.count() == 0
    assert run_job("2027-01-21") == RecurringRunResult(0, 0, 0)


def test_booked_entry_can_be_changed_like_any_other(client: JSONClient) -> None:
    rule = create_rule(client)
    entry = run_rule_now(client, rule).data
    path = f"{ENTRIES}/{entry['id']}"
    assert client.send("PATCH", path, {"date": "2026-11-01"}).status_code == 200
    assert run_job("2026-11-21") == RecurringRunResult(0, 0, 0)


def test_occurrences_are_paged_newest_first(client: JSONClient) -> None:
    rule = create_rule(client, frequency="DAILY")
    run_job("2026-11-25")
    path = f"{RECURRING}/{rule['id']}/occurrences"
    body = client.get_json(path, size=2, page=2)
    assert [row["dueDate"] for row in body["results"]] == ["2026-11-23", "2026-11-22"]
    assert body["count"] == 5
    assert body["next"] is not None
    assert body["previous"] is not None
    entries = dict(Entry.objects.values_list("pk", "date"))
    for row in body["results"]:
        assert entries[row["entryId"]].isoformat() == row["dueDate"]
