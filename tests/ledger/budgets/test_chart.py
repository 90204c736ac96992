"""Budgets of a month beside what was spent: the chart."""

import calendar
from datetime import date

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_budget, make_entry
from tests.support.reports import CHART, NOVEMBER


@pytest.mark.parametrize(("year", "month"), [(2026, 2), (2028, 2), (2026, 11)])
def test_chart_has_every_day_of_the_month_and_ends_with_the_whole_budget(
    client: JSONClient, premium_member: Member, year: int, month: int
) -> None:
    make_budget(premium_member, year=year, month=month, amount=1_000)
    body = client.get_json(CHART, year=year, month=month)
    last = calendar.monthrange(year, month)[1]
    assert [row["date"] for row in body["days"]] == [
        date(year, month, number).isoformat() for number in range(1, last + 1)
    ]
    budgeted = [row["budgeted"] for row in body["days"]]
    assert budgeted == sorted(budgeted)
    assert budgeted[0] > 0
    assert budgeted[-1] == 1_000


def test_chart_is_cumulative(client: JSONClient, premium_member: Member) -> None:
    budget = make_budget(premium_member, amount=30)
    for day, amount in ((1, 5), (3, 7), (3, 1), (30, 100)):
        make_entry(
            premium_member,
            category=budget.category,
            date=date(2026, 11, day),
            amount=amount,
        )
    days = client.get_json(CHART, **NOVEMBER)["days"]
    assert [row["spent"] for row in days] == [5, 5, *[13] * 27, 113]
    assert [row["budgeted"] for row in days] == list(range(1, 31))
