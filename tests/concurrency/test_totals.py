"""Writers of one member who touch the same totals in different orders."""

from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from ledger.models import Entry
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_wallet
from tests.support.races import run_concurrently, sorted_statuses
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

ENTRIES, STATISTICS = "/api/account/entries", "/api/account/statistics"
BODY = {"type": "expense", "amount": 7, "category": "식비", "tags": ["외식", "회사"]}
ROUNDS = scaled(10, 40)


def test_entries_written_and_deleted_at_once_never_wait_crosswise() -> None:
    # An entry is written before its tags and deleted after them.
    client = JSONClient(make_member(role="ADMIN"))

    def create(day: Any) -> Any:
        return client.send("POST", ENTRIES, BODY | {"date": day})

    for _ in range(ROUNDS):
        first, second = (create(day).data["id"] for day in ("2026-01-05", "2026-02-05"))
        responses = run_concurrently(
            [
                lambda: create("2026-01-05"),
                lambda: create("2026-02-05"),
                partial(client.send, "DELETE", f"{ENTRIES}/{first}"),
                partial(
                    client.send,
                    "PATCH",
                    f"{ENTRIES}/{second}",
                    {"date": "2026-01-05", "tags": ["회사"]},
                ),
            ]
        )
        assert sorted_statuses(responses) == [200, 201, 201, 204]
    assert Entry.objects.count() == 3 * ROUNDS
    assert_rollups_are_right()


def test_answers_of_one_moment_agree_with_themselves_while_others_write() -> None:
    member = make_member(role="ADMIN")
    client, wallet = JSONClient(member), make_wallet(member)
    body = BODY | {"type": "income", "walletId": wallet.pk}
    today = timezone.localdate().isoformat()

    def write() -> None:
        for _ in range(10):
            client.send("POST", ENTRIES, body | {"date": today})

    def read() -> list[Any]:
        found = []
        for _ in range(10):
            month = client.get_json(f"{STATISTICS}/month")
            year = client.get_json(f"{STATISTICS}/year")
            points = client.get_json("/api/account/networth/trend")["points"]
            found += [
                month["income"] == sum(day["income"] for day in month["byDay"]),
                month["income"] == sum(row["amount"] for row in month["byCategory"]),
                year["income"] == sum(row["income"] for row in year["months"]),
                year["income"] == sum(row["amount"] for row in year["byCategory"]),
                points[-2]["netWorth"] == 0,
            ]
        return found

    _, _, *answers = run_concurrently([write, write, read, read])
    assert all(all(found) for found in answers)
