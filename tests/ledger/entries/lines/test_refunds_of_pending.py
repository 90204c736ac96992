"""A refund does not count before its expense (spec 3.19, 4.6)."""

from typing import Any

import pytest

from tests.support.alert_texts import APPROVAL, CANCELLATION, NOTIFICATION, PARTIAL
from tests.support.households import DAY, ENTRIES, Household
from tests.support.problems import assert_problem

# What the texts say.
PAID, PAID_BACK = 4_800, 1_000


def announce(household: Household, text: str) -> Any:
    response = household.client.send("POST", NOTIFICATION, {"text": text})
    assert response.status_code in {200, 201}, response.content
    return response.data


def confirm(household: Household, entry: Any, **corrections: Any) -> Any:
    path = f"{ENTRIES}/{entry['id']}/confirm"
    return household.expect(200, "POST", path, corrections)


@pytest.fixture
def pending(household: Household) -> Any:
    """Return a pending expense."""
    return announce(household, APPROVAL)["entry"]


@pytest.fixture
def income(household: Household, pending: Any) -> Any:
    """Return a confirmed income on an expense category that refunds no entry."""
    return household.write("income", 500, "카드", categoryType="expense")


def assert_refused(response: Any) -> None:
    assert_problem(response, 400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == ["refundOf"]


def test_pending_expense_is_refunded_once_it_is_confirmed(
    household: Household, pending: Any
) -> None:
    path = f"{ENTRIES}/{pending['id']}/refund"
    assert_refused(household.client.send("POST", path, {}))
    assert household.client.get_json(ENTRIES)["count"] == 1
    household.assert_flows(0, 0)
    confirm(household, pending, date=DAY.isoformat())
    refund = household.expect(201, "POST", path, {"date": DAY.isoformat()})
    assert (refund["amount"], refund["refundOf"]) == (PAID, pending["id"])
    household.assert_flows(0, 0)


def test_confirmed_entry_does_not_refer_to_a_pending_expense(
    household: Household, pending: Any, income: Any
) -> None:
    body = household.body("income", 100, "카드", refundOf=pending["id"])
    assert_refused(household.client.send("POST", ENTRIES, body))
    path = f"{ENTRIES}/{income['id']}"
    changes = {"refundOf": pending["id"]}
    assert_refused(household.client.send("PATCH", path, changes))
    assert household.read(income) == income
    confirm(household, pending)
    assert household.patch(income, **changes)["refundOf"] == pending["id"]


def test_pending_entry_may_refer_to_a_pending_expense(
    household: Household, pending: Any
) -> None:
    refund = announce(household, PARTIAL)["entry"]
    assert refund["refundOf"] == pending["id"]
    household.patch(refund, refundOf=None)
    again = household.patch(refund, refundOf=pending["id"])
    assert (again["pending"], again["refundOf"]) == (True, pending["id"])
    household.assert_flows(0, 0)
    assert household.read(pending)["refunded"] == 0


def test_pending_refund_is_not_confirmed_with_another_pending_expense(
    household: Household, pending: Any
) -> None:
    refund = announce(household, PARTIAL)["entry"]
    household.patch(refund, refundOf=None)
    path = f"{ENTRIES}/{refund['id']}/confirm"
    body = {"refundOf": pending["id"]}
    assert_refused(household.client.send("POST", path, body))
    assert household.read(refund)["pending"]


@pytest.mark.parametrize("is_refund_first", [True, False])
def test_announced_refund_is_confirmed_before_or_after_its_expense(
    household: Household, pending: Any, is_refund_first: bool
) -> None:
    refund = announce(household, PARTIAL)["entry"]
    both = [refund, pending] if is_refund_first else [pending, refund]
    for each in both:
        confirm(household, each)
        # As clients send it back.
        household.expect(
            200, "PUT", f"{ENTRIES}/{refund['id']}", household.read(refund)
        )
    assert household.read(refund)["refundOf"] == pending["id"]
    assert household.read(pending)["refunded"] == PAID_BACK
    month = household.month()
    assert (month["income"], month["expense"]) == (0, PAID - PAID_BACK)


def test_cancellation_of_a_pending_approval_takes_it_away(
    household: Household, pending: Any
) -> None:
    refund = announce(household, PARTIAL)["entry"]
    body = announce(household, CANCELLATION)
    assert (body["action"], body["entry"]) == ("CANCELLED", None)
    path = f"{ENTRIES}/{pending['id']}"
    assert household.client.send("GET", path).status_code == 404
    assert household.read(refund)["refundOf"] is None
