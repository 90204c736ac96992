"""The expected income of a month."""

from accounts.models import Member
from ledger.models import BudgetIncome
from tests.support.clients import JSONClient
from tests.support.reports import INCOME, MOST, NOVEMBER


def test_expected_income_is_0_until_it_is_set(client: JSONClient) -> None:
    unset = {"amount": 0, "version": None}
    assert client.get_json(INCOME, **NOVEMBER) == NOVEMBER | unset
    for amount in (5_000, 0, MOST):
        response = client.send("PUT", INCOME, NOVEMBER | {"amount": amount})
        assert response.status_code == 200
        assert response.data == NOVEMBER | {
            "amount": amount,
            "version": response.data["version"],
        }
        assert client.get_json(INCOME, **NOVEMBER) == response.data
    assert client.get_json(INCOME, year=2026, month=12)["amount"] == 0
    assert BudgetIncome.objects.count() == 1


def test_expected_income_is_the_members_own(
    client: JSONClient, other_member: Member
) -> None:
    BudgetIncome.objects.create(member=other_member, year=2026, month=11, amount=9)
    assert client.get_json(INCOME, **NOVEMBER)["amount"] == 0
    client.send("PUT", INCOME, NOVEMBER | {"amount": 1})
    assert BudgetIncome.objects.get(member=other_member).amount == 9
