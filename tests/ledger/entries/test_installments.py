"""Installments belong to expenses by card."""

from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES, PLAIN, create_entry, update_entry
from tests.support.factories import make_wallet
from tests.support.problems import assert_invalid


@pytest.mark.parametrize("months", [2, 3, 24, None])
def test_expense_by_card_may_be_paid_in_installments(
    client: JSONClient, free_member: Member, months: int | None
) -> None:
    card = make_wallet(free_member, kind="CARD")
    body = PLAIN | {"walletId": card.pk, "installmentMonths": months}
    assert create_entry(client, body)["installmentMonths"] == months


@pytest.mark.parametrize(
    "kind", ["CASH", "BANK", "CHECK_CARD", "INVESTMENT", "PENSION", "LOAN", "OTHER"]
)
def test_installments_on_another_kind_of_wallet_are_refused(
    client: JSONClient, free_member: Member, kind: str
) -> None:
    wallet = make_wallet(free_member, kind=kind)
    body = PLAIN | {"walletId": wallet.pk, "installmentMonths": 3}
    assert_invalid(client.send("POST", ENTRIES, body), "installmentMonths")


def test_installments_without_a_wallet_are_refused(client: JSONClient) -> None:
    body = PLAIN | {"installmentMonths": 3}
    assert_invalid(client.send("POST", ENTRIES, body), "installmentMonths")


def test_installments_on_income_are_refused(
    client: JSONClient, free_member: Member
) -> None:
    card = make_wallet(free_member, kind="CARD")
    body = {**PLAIN, "type": "income", "walletId": card.pk, "installmentMonths": 3}
    assert_invalid(client.send("POST", ENTRIES, body), "installmentMonths")


@pytest.mark.parametrize("change_to", ["income", "cash", "no wallet"])
def test_patch_that_leaves_installments_without_a_card_expense_is_refused(
    client: JSONClient, free_member: Member, change_to: str
) -> None:
    card = make_wallet(free_member, kind="CARD")
    cash = make_wallet(free_member, kind="CASH")
    entry = create_entry(client, PLAIN | {"walletId": card.pk, "installmentMonths": 3})
    bodies: dict[str, dict[str, Any]] = {
        "income": {"type": "income"},
        "cash": {"walletId": cash.pk},
        "no wallet": {"walletId": None},
    }
    body = bodies[change_to]
    path = f"{ENTRIES}/{entry['id']}"
    assert_invalid(client.send("PATCH", path, body), "installmentMonths")
    assert client.get_json(path) == entry
    changed = update_entry(
        client, "PATCH", entry["id"], body | {"installmentMonths": None}
    )
    assert changed["installmentMonths"] is None


def test_put_without_installments_clears_them(
    client: JSONClient, free_member: Member
) -> None:
    card = make_wallet(free_member, kind="CARD")
    entry = create_entry(client, PLAIN | {"walletId": card.pk, "installmentMonths": 3})
    changed = update_entry(client, "PUT", entry["id"], PLAIN | {"walletId": card.pk})
    assert changed["installmentMonths"] is None
