"""Moves between own wallets are never income or expense, whichever text comes first.

The samples were labeled by somebody who does not know the code.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Sum

from ledger.models import Entry
from tests.support.alert_texts import ENTRIES, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import make_member

pytestmark = pytest.mark.django_db

SAMPLES = Path(__file__).parents[2] / "samples"


def load(name: str) -> list[Any]:
    cases = []
    for line in (SAMPLES / name).read_text().splitlines():
        sample = json.loads(line)
        for order in itertools.permutations(range(len(sample["messages"]))):
            name = f"{sample['id']} {''.join(map(str, order))}"
            cases.append(pytest.param(sample, order, id=name))
    return cases


def send_all(sample: dict[str, Any], order: tuple[int, ...]) -> list[Any]:
    """Send the texts of a sample, each twice, and return the answers."""
    member = make_member(plan="PREMIUM", display_name=sample["member"])
    client = JSONClient(member)
    for wallet in sample["wallets"]:
        response = client.send("POST", "/api/account/wallets", wallet)
        assert response.status_code == 201, response.content
    response = client.send(
        "PATCH", f"{ENTRIES}/notification-settings", {"captureBankTexts": True}
    )
    assert response.data == {"captureBankTexts": True}
    answers = []
    for number in (*order, *order):
        response = client.send("POST", NOTIFICATION, sample["messages"][number])
        assert response.status_code in {200, 201}, response.content
        answers.append(response.data)
    return answers


def sum_of(type_: str) -> int:
    rows = Entry.objects.filter(type=type_).aggregate(total=Sum("amount"))
    return rows["total"] or 0


@pytest.mark.parametrize(("sample", "order"), load("own_moves.jsonl"))
def test_own_move_is_neither_income_nor_expense(
    sample: dict[str, Any], order: tuple[int, ...]
) -> None:
    answers = send_all(sample, order)
    assert (sum_of("income"), sum_of("expense")) == (0, 0)
    reasons = {answer["reason"] for answer in answers}
    assert sample["expected"]["reasonIfIgnored"] in reasons


@pytest.mark.parametrize(("sample", "order"), load("own_moves_controls.jsonl"))
def test_other_booking_is_income_or_expense(
    sample: dict[str, Any], order: tuple[int, ...]
) -> None:
    send_all(sample, order)
    expected = sample["expected"]
    assert (sum_of("income"), sum_of("expense")) == (
        expected["income"],
        expected["expense"],
    )
