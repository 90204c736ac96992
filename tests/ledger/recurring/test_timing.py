"""Rules that are switched off and on, or get new timing."""

from datetime import date
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, Occurrence
from ledger.recurring.occurrences import (
    MAX_DUE_DATES_PER_TRANSACTION,
    RecurringRunResult,
)
from tests.support.calendar_oracle import (
    BOOKED,
    ENTRIES,
    MISSED,
    RECURRING,
    SKIPPED,
    create_rule,
    days_of_entries,
    list_occurrences,
    next_date_of,
    noon,
    patch_rule,
    run_job,
    run_rule_now,
    set_premium_since,
    travel_to,
)
from tests.support.clients import JSONClient
from tests.support.rollups import assert_rollups_are_right

# Switched off


def test_rule_that_is_off_waits(client: JSONClient) -> None:
    rule = create_rule(client, frequency="DAILY", active=False)
    assert run_job("2026-11-25") == RecurringRunResult(0, 0, 0)
    assert list_occurrences(client, rule) == []


def test_dates_that_passed_while_a_rule_was_off_are_skipped(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY")
    run_job("2026-11-21")
    patch_rule(client, rule, active=False)
    with travel_to("2026-11-25"):
        assert patch_rule(client, rule, active=True)["nextDate"] == "2026-11-25"
    assert run_job("2026-11-26") == RecurringRunResult(2, 0, 0)
    assert list_occurrences(client, rule) == [
        ("2026-11-21", BOOKED),
        ("2026-11-22", SKIPPED),
        ("2026-11-23", SKIPPED),
        ("2026-11-24", SKIPPED),
        ("2026-11-25", BOOKED),
        ("2026-11-26", BOOKED),
    ]
    assert days_of_entries(member) == ["2026-11-21", "2026-11-25", "2026-11-26"]


def test_off_and_on_again_on_the_same_day_skips_nothing(client: JSONClient) -> None:
    rule = create_rule(client, frequency="DAILY")
    patch_rule(client, rule, active=False)
    assert patch_rule(client, rule, active=True)["nextDate"] == "2026-11-21"
    assert run_job("2026-11-21").booked == 1
    assert list_occurrences(client, rule) == [("2026-11-21", BOOKED)]


def test_rule_that_was_run_ahead_keeps_its_next_date_when_switched_on(
    client: JSONClient,
) -> None:
    rule = create_rule(client)
    for _ in range(3):
        run_rule_now(client, rule)
    patch_rule(client, rule, active=False)
    assert patch_rule(client, rule, active=True)["nextDate"] == "2027-02-21"


def test_dates_of_a_downtime_before_the_switching_off_are_booked(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY")
    with travel_to("2026-11-24"):
        patch_rule(client, rule, active=False)
    assert days_of_entries(member) == ["2026-11-21", "2026-11-22", "2026-11-23"]
    with travel_to("2026-11-26"):
        patch_rule(client, rule, active=True)
    run_job("2026-11-26")
    assert list_occurrences(client, rule) == [
        ("2026-11-21", BOOKED),
        ("2026-11-22", BOOKED),
        ("2026-11-23", BOOKED),
        ("2026-11-24", SKIPPED),
        ("2026-11-25", SKIPPED),
        ("2026-11-26", BOOKED),
    ]


def test_pause_skips_no_date_that_was_run_ahead(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client)
    run_rule_now(client, rule)
    run_rule_now(client, rule)
    patch_rule(client, rule, frequency="DAILY", active=False)
    with travel_to("2026-12-23"):
        client = JSONClient(member)
        assert patch_rule(client, rule, active=True)["nextDate"] == "2026-12-23"
    assert run_job("2026-12-23") == RecurringRunResult(1, 0, 0)
    assert days_of_entries(member) == ["2026-11-21", "2026-12-21", "2026-12-23"]
    assert Occurrence.objects.filter(status=SKIPPED).count() == 30


def test_end_that_passes_while_a_rule_is_off_ends_it(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY", endDate="2026-11-23")
    patch_rule(client, rule, active=False)
    with travel_to("2026-11-25"):
        assert patch_rule(client, rule, active=True)["nextDate"] is None
    assert run_job("2026-11-25") == RecurringRunResult(0, 0, 0)
    assert days_of_entries(member) == []


def test_rule_that_is_off_can_be_run_by_hand(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, active=False)
    assert run_rule_now(client, rule).data["date"] == "2026-11-21"
    assert next_date_of(client, rule) == "2026-12-21"
    assert run_job("2026-12-21") == RecurringRunResult(0, 0, 0)


def test_rule_switched_on_after_years_starts_today(client: JSONClient) -> None:
    rule = create_rule(client, frequency="DAILY", active=False)
    with travel_to("2036-01-01"):
        other = JSONClient(Member.objects.get())
        assert patch_rule(other, rule, active=True)["nextDate"] == "2036-01-01"
    assert Occurrence.objects.count() == MAX_DUE_DATES_PER_TRANSACTION
    assert Entry.objects.count() == 0


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
    client: JSONClient, change: dict[str, Any], following: str
) -> None:
    rule = create_rule(client, anchorDate="2026-11-20")
    with travel_to("2026-11-24"):
        assert patch_rule(client, rule, **change)["nextDate"] == following


def test_days_of_a_downtime_before_new_timing_are_booked_as_the_rule_was(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, anchorDate="2026-11-22")
    with travel_to("2026-11-24"):
        changed = patch_rule(client, rule, anchorDate="2026-11-30", amount=9)
    assert changed["nextDate"] == "2026-11-30"
    run_job("2026-11-30")
    booked = Entry.objects.order_by("date").values_list("date", "amount")
    assert list(booked) == [(date(2026, 11, 22), 700), (date(2026, 11, 30), 9)]
    assert_rollups_are_right()


def test_new_timing_on_the_day_a_rule_is_made_books_nothing_of_the_old(
    client: JSONClient,
) -> None:
    rule = create_rule(client)
    assert patch_rule(client, rule, anchorDate="2026-11-25")["nextDate"] == "2026-11-25"
    assert run_job("2026-11-24") == RecurringRunResult(0, 0, 0)


def test_days_missed_in_a_lapse_stay_missed_after_new_timing(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY")
    set_premium_since(member, noon("2026-11-23"))
    with travel_to("2026-11-24"):
        patch_rule(client, rule, frequency="MONTHLY")
    assert list_occurrences(client, rule) == [
        ("2026-11-21", MISSED),
        ("2026-11-22", MISSED),
        ("2026-11-23", BOOKED),
    ]


def test_refused_change_books_nothing(client: JSONClient) -> None:
    rule = create_rule(client, frequency="DAILY")
    with travel_to("2026-11-24"):
        response = client.send(
            "PATCH",
            f"{RECURRING}/{rule['id']}",
            {"anchorDate": "2026-11-25", "endDate": "2026-11-24"},
        )
    assert response.status_code == 400
    assert Entry.objects.count() == 0


def test_next_date_passes_over_what_was_run_ahead_under_other_timing(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, anchorDate="2026-11-22")
    run_rule_now(client, rule)
    deleted = run_rule_now(client, rule).data
    client.send("DELETE", f"{ENTRIES}/{deleted['id']}")
    assert deleted["date"] == "2026-12-22"
    assert patch_rule(client, rule, frequency="DAILY")["nextDate"] == "2026-11-23"
    run_job("2026-12-21")
    assert next_date_of(client, rule) == "2026-12-23"
    response = run_rule_now(client, rule)
    assert (response.status_code, response.data["date"]) == (201, "2026-12-23")
    days = days_of_entries(member)
    assert len(days) == len(set(days)) == 31


def test_same_timing_sent_again_changes_no_date(client: JSONClient) -> None:
    rule = create_rule(client)
    run_rule_now(client, rule)
    body = client.get_json(f"{RECURRING}/{rule['id']}")
    again = client.send("PUT", f"{RECURRING}/{rule['id']}", body | {"nextDate": "x"})
    assert again.data["nextDate"] == "2026-12-21"


def test_date_that_was_booked_is_not_booked_again_after_new_timing(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client)
    run_job("2026-11-21")
    patch_rule(client, rule, interval=2)
    run_job("2026-11-21")
    patch_rule(client, rule, frequency="DAILY", interval=1)
    run_job("2026-11-22")
    assert days_of_entries(member) == ["2026-11-21", "2026-11-22"]


def test_next_date_is_one_that_is_not_dealt_with_yet_after_new_timing(
    client: JSONClient,
) -> None:
    rule = create_rule(client)
    run_rule_now(client, rule)
    assert patch_rule(client, rule, interval=2)["nextDate"] == "2027-01-21"


def test_run_after_new_timing_books_another_date(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client)
    first = run_rule_now(client, rule).data
    client.send("DELETE", f"{ENTRIES}/{first['id']}")
    patch_rule(client, rule, interval=2)
    response = run_rule_now(client, rule)
    assert response.status_code == 201, response.content
    assert days_of_entries(member) == ["2027-01-21"]


def test_end_date_does_not_bring_back_what_was_run_early(client: JSONClient) -> None:
    rule = create_rule(client)
    run_rule_now(client, rule)
    run_rule_now(client, rule)
    assert patch_rule(client, rule, endDate="2027-12-31")["nextDate"] == "2027-01-21"


def test_earlier_end_date_ends_the_rule(client: JSONClient) -> None:
    rule = create_rule(client, anchorDate="2026-11-25")
    assert patch_rule(client, rule, endDate="2026-11-25")["nextDate"] == "2026-11-25"
    run_job("2026-11-25")
    assert next_date_of(client, rule) is None
    assert run_job("2026-12-25") == RecurringRunResult(0, 0, 0)


def test_end_date_taken_away_lets_an_ended_rule_go_on(client: JSONClient) -> None:
    rule = create_rule(client, endDate="2026-11-21")
    run_job("2026-11-21")
    assert next_date_of(client, rule) is None
    assert patch_rule(client, rule, endDate=None)["nextDate"] == "2026-12-21"


def test_end_date_set_during_downtime_loses_none_of_the_dates_before_it(
    client: JSONClient, member: Member
) -> None:
    rule = create_rule(client, frequency="DAILY")
    with travel_to("2026-11-24"):
        patch_rule(client, rule, endDate="2026-11-30")
    run_job("2026-11-24")
    assert days_of_entries(member) == [f"2026-11-{day}" for day in range(21, 25)]
