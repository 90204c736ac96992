"""A ledger holds at most 500,000 entries, however they are written (spec 10.1)."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from ledger.models import Entry, Ledger, Notification, Occurrence, RecurringRule, Tag
from ledger.recurring.occurrences import process_due_rules
from tests.support.alert_texts import APPROVAL, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_entry,
    make_merged_entry,
    make_rule,
    make_wallet,
)
from tests.support.problems import assert_problem

pytestmark = pytest.mark.django_db

A = "/api/account"
ENTRY = {"date": "2026-11-20", "type": "expense", "amount": 1_000}


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def fill(member: Member) -> None:
    """Make the counts of the ledger add up to the limit."""
    rest = 500_000 - Entry.objects.owned_by(member).count()
    Ledger.objects.owned_by(member).update(income_count=rest)


def create(client: JSONClient, member: Member) -> Any:
    fill(member)
    return client.send("POST", f"{A}/entries", ENTRY)


def create_with_new_names(client: JSONClient, member: Member) -> Any:
    fill(member)
    return client.send("POST", f"{A}/entries", ENTRY | {"tags": ["new"]})


def create_split(client: JSONClient, member: Member) -> Any:
    fill(member)
    lines = [{"amount": 400, "category": "A"}, {"amount": 600, "category": "B"}]
    return client.send("POST", f"{A}/entries", ENTRY | {"lines": lines})


def refund(client: JSONClient, member: Member) -> Any:
    entry = make_entry(member)
    fill(member)
    return client.send("POST", f"{A}/entries/{entry.pk}/refund", {})


def unmerge(client: JSONClient, member: Member) -> Any:
    entry = make_merged_entry(member, make_wallet(member), make_wallet(member))
    fill(member)
    return client.send("POST", f"{A}/entries/{entry.pk}/unmerge")


def reconcile(client: JSONClient, member: Member) -> Any:
    wallet = make_wallet(member)
    fill(member)
    body = {"date": "2026-11-20", "balance": 1}
    return client.send("POST", f"{A}/wallets/{wallet.pk}/reconcile", body)


def run_rule(client: JSONClient, member: Member) -> Any:
    rule = make_rule(member, anchor_date=date(2026, 1, 1))
    fill(member)
    return client.send("POST", f"{A}/recurring/{rule.pk}/run")


def notify(client: JSONClient, member: Member) -> Any:
    fill(member)
    return client.send("POST", NOTIFICATION, {"text": APPROVAL})


@pytest.mark.parametrize(
    "write",
    [
        # The statement of a plain entry is a transaction of its own.
        pytest.param(create, marks=pytest.mark.django_db(transaction=True)),
        *(create_with_new_names, create_split, refund, unmerge, reconcile, run_rule),
        notify,
    ],
)
def test_entry_more_than_the_limit_is_refused(
    client: JSONClient,
    premium_member: Member,
    write: Callable[[JSONClient, Member], Any],
) -> None:
    before = set(Entry.objects.values_list("pk", flat=True))
    assert_problem(write(client, premium_member), 409, "LIMIT_REACHED")
    # At most what the test itself made before.
    assert Entry.objects.exclude(pk__in=before).count() <= 1
    assert not Tag.objects.exists()
    # The same text may come again when there is room.
    assert not Notification.objects.exists()


def test_last_entry_is_written(client: JSONClient, premium_member: Member) -> None:
    Ledger.objects.owned_by(premium_member).update(income_count=499_999)
    assert client.send("POST", f"{A}/entries", ENTRY).status_code == 201
    assert_problem(create(client, premium_member), 409, "LIMIT_REACHED")


def test_full_ledger_can_be_changed(client: JSONClient, premium_member: Member) -> None:
    entry = make_entry(premium_member)
    fill(premium_member)
    path = f"{A}/entries/{entry.pk}"
    assert client.send("PATCH", path, {"amount": 5}).status_code == 200
    assert client.send("DELETE", path).status_code == 204
    assert client.send("POST", f"{A}/entries", ENTRY).status_code == 201


def test_due_dates_wait_until_there_is_room(premium_member: Member) -> None:
    now = timezone.now()
    Member.objects.filter(pk=premium_member.pk).update(
        premium_since=now - timedelta(days=400)
    )
    rule = make_rule(premium_member, anchor_date=timezone.localdate(now))
    due = RecurringRule.objects.get(pk=rule.pk).next_date
    fill(premium_member)
    result = process_due_rules(now)
    assert (result.booked, result.missed, result.failed) == (0, 0, 0)
    assert RecurringRule.objects.get(pk=rule.pk).next_date == due
    assert not Occurrence.objects.exists()
    Ledger.objects.owned_by(premium_member).update(income_count=0)
    assert process_due_rules(now).booked == 1


def test_limit_is_shown(client: JSONClient) -> None:
    assert client.get_json("/api/meta")["limits"]["ledger"]["entries"] == 500_000
