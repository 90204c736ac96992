"""The days of the tests of recurring transactions, and what is done on them."""

from datetime import UTC, datetime
from typing import Any

import time_machine
from django.utils import timezone

from accounts.models import Member
from ledger.models import Entry, Occurrence, RecurringRule
from ledger.recurring.occurrences import RecurringRunResult, process_due_rules
from tests.support.clients import JSONClient
from tests.support.factories import make_member

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
    """Return noon of the day in Seoul."""
    return datetime.fromisoformat(f"{day}T12:00:00+09:00")


def travel_to(day: str) -> Any:
    return time_machine.travel(noon(day), tick=False)


def make_premium_since(since: datetime = LONG_AGO, **fields: Any) -> Member:
    """Create a member whose plan runs since then; the database notes its own clock."""
    member = make_member(plan="PREMIUM", **fields)
    return set_premium_since(member, since)


def set_premium_since(member: Member, since: datetime) -> Member:
    Member.objects.filter(pk=member.pk).update(premium_since=since)
    member.refresh_from_db()
    return member


def create_rule(client: JSONClient, **fields: Any) -> Any:
    response = client.send("POST", RECURRING, BODY | fields)
    assert response.status_code == 201, response.content
    # The database's clock stands at today; these tests live in November 2026.
    rule = RecurringRule.objects.filter(pk=response.data["id"])
    rule.update(created_at=noon("2026-11-20"))
    return response.data


def patch_rule(client: JSONClient, rule: Any, **fields: Any) -> Any:
    response = client.send("PATCH", f"{RECURRING}/{rule['id']}", fields)
    assert response.status_code == 200, response.content
    return response.data


def run_rule_now(client: JSONClient, rule: Any) -> Any:
    return client.send("POST", f"{RECURRING}/{rule['id']}/run")


def next_date_of(client: JSONClient, rule: Any) -> Any:
    return client.get_json(f"{RECURRING}/{rule['id']}")["nextDate"]


def list_occurrences(client: JSONClient, rule: Any) -> Any:
    """Return due dates and statuses, oldest first."""
    body = client.get_json(f"{RECURRING}/{rule['id']}/occurrences", size=100)
    return [(row["dueDate"], row["status"]) for row in body["results"]][::-1]


def days_of_entries(member: Member) -> list[Any]:
    rows = Entry.objects.owned_by(member).order_by("date", "pk")
    return [day.isoformat() for day in rows.values_list("date", flat=True)]


def run_job(day: str) -> RecurringRunResult:
    with travel_to(day):
        return process_due_rules(timezone.now())
