"""Moves between own wallets are never income or expense, in any order (spec 4.12).

The samples were labeled by somebody who does not know the code.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Sum

from accounts.models import Member
from ledger.models import Entry
from tests.support.alert_texts import ENTRIES, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.flush import rolled_back
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db

SAMPLES = Path(__file__).parents[2] / "samples"


def load(name: str) -> list[Any]:
    samples = map(json.loads, (SAMPLES / name).read_text().splitlines())
    return [pytest.param(sample, id=sample["id"]) for sample in samples]


def list_orders(sample: dict[str, Any]) -> list[tuple[int, ...]]:
    return list(itertools.permutations(range(len(sample["messages"]))))


def make_client(sample: dict[str, Any]) -> JSONClient:
    """Return the client of a member with the wallets of a sample."""
    member = make_member(plan="PREMIUM", display_name=sample["member"])
    client = JSONClient(member)
    for wallet in sample["wallets"]:
        response = client.send("POST", "/api/account/wallets", wallet)
        assert response.status_code == 201, response.content
    response = client.send(
        "PATCH", f"{ENTRIES}/notification-settings", {"captureBankTexts": True}
    )
    assert response.data == {"captureBankTexts": True}
    return client


def test_null_switches_the_capture_off(premium_member: Member) -> None:
    client, path = JSONClient(premium_member), f"{ENTRIES}/notification-settings"
    for value, is_on in ((True, True), (None, False)):
        response = client.send("PATCH", path, {"captureBankTexts": value})
        assert response.data == {"captureBankTexts": is_on}
    assert client.send("GET", path).data == {"captureBankTexts": False}


def send_all(
    client: JSONClient,
    sample: dict[str, Any],
    order: tuple[int, ...],
    *,
    confirms_at_once: bool = False,
) -> list[Any]:
    """Send the texts of a sample, each twice, and return the answers."""
    answers = []
    for number in order * 2:
        response = client.send("POST", NOTIFICATION, sample["messages"][number])
        assert response.status_code in {200, 201}, response.content
        answers.append(response.data)
        if confirms_at_once:
            confirm_all(client)
    return answers


def confirm_all(client: JSONClient) -> None:
    for entry in Entry.objects.filter(pending=True):
        response = client.send("POST", f"{ENTRIES}/{entry.pk}/confirm")
        assert response.status_code == 200, response.content


def read_flows(client: JSONClient) -> tuple[int, int]:
    """Return income and expense of all samples' time, as the statistics tell them."""
    found = client.get_json(
        "/api/account/statistics/range?from=2025-01-01&to=2027-12-31&groupBy=month"
    )
    return found["income"], found["expense"]


def read_balances(client: JSONClient) -> dict[str, int]:
    """Return the balances that are not 0, by the name of the wallet."""
    wallets = client.get_json("/api/account/wallets")
    return {each["name"]: each["balance"] for each in wallets if each["balance"]}


def sum_of(type_: str) -> int:
    rows = Entry.objects.filter(type=type_).aggregate(total=Sum("amount"))
    return rows["total"] or 0


@pytest.mark.parametrize("sample", load("own_moves.jsonl"))
def test_own_move_is_one_transfer_and_is_counted_once(sample: dict[str, Any]) -> None:
    client = make_client(sample)
    for order in list_orders(sample):
        with rolled_back():
            assert_is_one_transfer(client, sample, order)
        with rolled_back():
            assert_is_counted_once(client, sample, order)


def assert_is_one_transfer(
    client: JSONClient, sample: dict[str, Any], order: tuple[int, ...]
) -> None:
    answers = send_all(client, sample, order)
    assert (sum_of("income"), sum_of("expense")) == (0, 0)
    expected = sample["expected"]
    if None in (expected["from"], expected["to"]):
        # The other account is none of the member's wallets.
        assert {each["reason"] for each in answers} == {expected["reasonIfIgnored"]}
        assert not Entry.objects.exists()
        return
    entry = Entry.objects.select_related("wallet", "to_wallet").get()
    assert (entry.type, entry.pending) == ("transfer", True)
    assert (entry.wallet.name, entry.to_wallet.name) == (
        expected["from"],
        expected["to"],
    )
    # Nothing is counted before it is confirmed.
    assert (read_flows(client), read_balances(client)) == ((0, 0), {})
    confirm_all(client)
    assert read_flows(client) == (0, 0)
    assert read_balances(client) == {
        expected["from"]: -entry.amount,
        expected["to"]: entry.amount,
    }
    assert client.get_json("/api/account/networth")["total"] == 0
    assert_rollups_are_right()


def assert_is_counted_once(
    client: JSONClient, sample: dict[str, Any], order: tuple[int, ...]
) -> None:
    """Confirm each booking at once: a move is never income and expense."""
    answers = send_all(client, sample, order, confirms_at_once=True)
    entries = list(Entry.objects.all())
    assert len(entries) <= 1
    if all(each.type == "transfer" for each in entries):
        assert read_flows(client) == (0, 0)
        return
    # Nothing told the move when the member confirmed an income or expense.
    assert "mirror" in sample["tags"]
    assert 0 in read_flows(client)
    assert answers[1]["reason"] == sample["expected"]["reasonIfIgnored"]


@pytest.mark.parametrize("sample", load("own_moves_controls.jsonl"))
def test_other_booking_is_income_or_expense(sample: dict[str, Any]) -> None:
    client, expected = make_client(sample), sample["expected"]
    for order in list_orders(sample):
        with rolled_back():
            send_all(client, sample, order)
            sums = sum_of("income"), sum_of("expense")
            assert sums == (expected["income"], expected["expense"]), order
