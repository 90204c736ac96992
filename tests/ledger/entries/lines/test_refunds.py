"""A refund is like its expense, follows it, and exceeds no part of it (contract C4)."""

from typing import Any

import pytest

from ledger.models import Entry
from tests.support.factories import make_entry
from tests.support.households import (
    DAY,
    ENTRIES,
    Body,
    Household,
    category_line,
    wallet_line,
)
from tests.support.problems import assert_invalid, assert_problem
from tests.support.rollups import assert_rollups_are_right

DOLLARS: Body = {"currency": "USD", "originalAmount": 100, "exchangeRate": 1_400}
EARLIER, LATER = "2026-11-17", "2026-11-19"


def buy(household: Household, amount: int = 30_000, **fields: Any) -> Body:
    given = {"category": "의류", "tags": ["선물", "회사"]}
    return household.write("expense", amount, "카드", **given | fields)


def give_back(household: Household, bought: Body, amount: int, **fields: Any) -> Body:
    return household.write("income", amount, "카드", refundOf=bought["id"], **fields)


def refuse(household: Household, field: str, **body: Any) -> Any:
    body = household.resolve({"date": DAY.isoformat(), "type": "income"} | body)
    before = household.client.get_json(ENTRIES)
    response = household.client.send("POST", ENTRIES, body)
    assert response.status_code == 400, response.content
    assert [error["field"] for error in response.json()["errors"]] == [field]
    assert household.client.get_json(ENTRIES) == before
    return response


def place(entry: Body) -> tuple[Any, ...]:
    names = ("category", "categoryType", "tags", "excluded")
    return tuple(entry[name] for name in names)


@pytest.mark.parametrize("path", ["entries", "refund"])
def test_refund_is_like_its_expense(household: Household, path: str) -> None:
    bought = buy(household, excluded=True)
    if path == "entries":
        back = give_back(household, bought, 10_000)
    else:
        path = f"{ENTRIES}/{bought['id']}/refund"
        back = household.expect(201, "POST", path, {"amount": 10_000})
    assert place(back) == ("의류", "expense", ["선물", "회사"], True)


def test_what_is_sent_stays(household: Household) -> None:
    bought = buy(household, excluded=True)
    sent = {"category": "잡화", "tags": ["혼자"], "excluded": False}
    back = give_back(household, bought, 10_000, **sent)
    assert place(back) == ("잡화", "expense", ["혼자"], False)
    assert give_back(household, bought, 10, tags=[])["tags"] == []


def test_income_becomes_a_refund_by_its_reference_alone(household: Household) -> None:
    bought = buy(household, excluded=True)
    income = household.write("income", 9_000, "카드", category="용돈", tags=["나"])
    back = household.patch(income, refundOf=bought["id"])
    assert place(back) == ("의류", "expense", ["나", "선물", "회사"], True)
    assert household.read(bought)["refunded"] == 9_000
    assert_rollups_are_right()


def test_own_category_of_expenses_stays_with_a_reference(household: Household) -> None:
    bought = buy(household)
    income = household.write(
        "income", 9_000, "카드", category="잡화", categoryType="expense"
    )
    assert household.patch(income, refundOf=bought["id"])["category"] == "잡화"


def test_united_tags_are_as_many_as_an_entry_can_have(household: Household) -> None:
    names = [f"tag {number}" for number in range(60)]
    bought = buy(household, tags=names[:40])
    income = household.write("income", 9_000, "카드", tags=names[20:])
    back = household.patch(income, refundOf=bought["id"])
    assert back["tags"] == [*names[20:], *names[:10]]


def test_flat_refunds_follow_a_correction_of_their_expense(
    household: Household,
) -> None:
    bought = buy(household)
    same = give_back(household, bought, 1_000)
    elsewhere = give_back(household, bought, 1_000, category="잡화", tags=["혼자"])
    other_tags = give_back(household, bought, 1_000, tags=["혼자"])
    lines = [category_line(600, "의류"), category_line(400, "잡화")]
    split = give_back(household, bought, 1_000, lines=lines)
    household.patch(bought, category="옷", tags=["회사"])
    found = [household.read(each) for each in (same, elsewhere, other_tags, split)]
    assert [(each["category"], each["tags"]) for each in found] == [
        ("옷", ["회사"]),
        ("잡화", ["혼자"]),
        ("옷", ["혼자"]),
        (None, ["선물", "회사"]),
    ]
    assert found[3]["lines"] == split["lines"]
    assert_rollups_are_right()


def test_refunds_stay_where_their_expense_leaves_the_expenses(
    household: Household,
) -> None:
    bought = buy(household)
    back = give_back(household, bought, 1_000)
    household.patch(bought, category="급여", categoryType="income", tags=[])
    assert place(household.read(back)) == ("의류", "expense", [], False)


def test_refund_of_a_foreign_expense_is_in_its_currency(household: Household) -> None:
    bought = buy(household, **DOLLARS | {"amount": None})
    assert bought["amount"] == 140_000
    back = give_back(household, bought, None, originalAmount=40)  # type: ignore[arg-type]
    assert (back["currency"], back["amount"]) == ("USD", 56_000)
    path = f"{ENTRIES}/{bought['id']}/refund"
    rest = household.expect(201, "POST", path, {})
    assert (rest["originalAmount"], rest["amount"]) == (60, 84_000)
    assert_problem(household.client.send("POST", path, {}), 400, "REFUND_EXCEEDS")


@pytest.mark.parametrize("extra", [{}, {"currency": "USD"}, {"amount": None}])
def test_income_that_becomes_a_foreign_refund_takes_the_rate(
    household: Household, extra: dict[str, object]
) -> None:
    bought = buy(household, **DOLLARS | {"amount": None})
    income = household.write("income", 2_000, "카드")
    changes = {"refundOf": bought["id"], "originalAmount": 2} | extra
    back = household.patch(income, **changes)
    assert (back["exchangeRate"], back["amount"]) == (bought["exchangeRate"], 2_800)


def test_foreign_expense_comes_back_at_another_rate(household: Household) -> None:
    bought = buy(household, **DOLLARS | {"amount": None})
    other_rate = {"originalAmount": 50, "exchangeRate": 1_900}
    back = give_back(household, bought, None, **other_rate)  # type: ignore[arg-type]
    assert back["amount"] == 95_000
    # Of the 50 dollars that are left, at the rate of the expense: 70,000.
    ids = {"refundOf": bought["id"], "walletId": "카드"}
    refuse(household, "amount", amount=84_001, **ids)
    assert give_back(household, bought, 84_000)["currency"] is None
    refuse(household, "amount", originalAmount=1, **ids)


def test_currency_beyond_the_expense_is_refused(household: Household) -> None:
    bought = buy(household, **DOLLARS | {"amount": None})
    ids = {"refundOf": bought["id"], "walletId": "카드"}
    response = refuse(household, "amount", originalAmount=100.01, **ids)
    assert response.json()["code"] == "REFUND_EXCEEDS"
    give_back(household, bought, None, originalAmount=60)  # type: ignore[arg-type]
    path = f"{ENTRIES}/{bought['id']}"
    body = {"originalAmount": 59, "amount": 82_600}
    response = household.client.send("PATCH", path, body)
    assert_problem(response, 400, "REFUND_EXCEEDS")


def test_refund_before_its_expense_is_refused(household: Household) -> None:
    bought = buy(household)
    ids = {"refundOf": bought["id"], "walletId": "카드"}
    refuse(household, "date", amount=1, **ids | {"date": EARLIER})
    back = give_back(household, bought, 1)
    path = f"{ENTRIES}/{back['id']}"
    assert_invalid(household.client.send("PATCH", path, {"date": EARLIER}), "date")
    path = f"{ENTRIES}/{bought['id']}"
    assert_invalid(household.client.send("PATCH", path, {"date": LATER}), "date")
    body = {"amount": 1, "date": EARLIER}
    assert_invalid(household.client.send("POST", f"{path}/refund", body), "date")
    household.patch(back, date=LATER)
    household.patch(bought, date=LATER)


def test_early_refund_of_before_can_be_changed_otherwise(household: Household) -> None:
    bought = buy(household)
    back = give_back(household, bought, 1)
    Entry.objects.filter(pk=back["id"]).update(date=EARLIER)
    assert household.patch(back, memo="반품")["memo"] == "반품"
    path, body = f"{ENTRIES}/{back['id']}", household.read(back)
    assert household.expect(200, "PUT", path, body)["date"] == EARLIER


def refund_line(amount: int, bought: Body, category: str | None = None) -> Body:
    line: Body = category_line(amount, category)
    return line | {"refundOf": bought["id"]}


def test_one_deposit_brings_several_expenses_back(household: Household) -> None:
    coat, shoes = buy(household, 30_000), buy(household, 20_000, category="신발")
    lines = [refund_line(10_000, coat), refund_line(20_000, shoes, "환급")]
    back = household.write(
        "income", 31_000, "통장", lines=[*lines, category_line(1_000, "이자", "income")]
    )
    assert back["refundOf"] is None
    assert [(each["category"], each["refundOf"]) for each in back["lines"]] == [
        ("의류", coat["id"]),
        ("환급", shoes["id"]),
        ("이자", None),
    ]
    assert household.read(coat)["refunded"] == 10_000
    assert household.read(shoes)["refunded"] == 20_000
    found = household.client.get_json(ENTRIES, refundOf=coat["id"])
    assert [each["id"] for each in found["results"]] == [back["id"]]
    # Sent back as it was read.
    path = f"{ENTRIES}/{back['id']}"
    again = household.expect(200, "PUT", path, back)
    assert again["lines"] == back["lines"]
    # With its expense the reference goes, and the line stays.
    household.expect(204, "DELETE", f"{ENTRIES}/{coat['id']}")
    assert [each["refundOf"] for each in household.read(back)["lines"]] == [
        None,
        shoes["id"],
        None,
    ]
    assert_rollups_are_right()


def test_expense_that_all_lines_name_is_that_of_the_entry(
    household: Household,
) -> None:
    bought = buy(household)
    lines = [refund_line(1_000, bought), refund_line(2_000, bought, "잡화")]
    back = household.write("income", 3_000, "카드", lines=lines)
    assert back["refundOf"] == bought["id"]
    assert [each["refundOf"] for each in back["lines"]] == [bought["id"]] * 2
    plain = [category_line(1_500, "의류"), category_line(1_500, "잡화")]
    same = household.write("income", 3_000, "카드", lines=plain, refundOf=bought["id"])
    assert [each["refundOf"] for each in same["lines"]] == [bought["id"]] * 2
    assert household.read(bought)["refunded"] == 6_000


def test_lines_of_a_refund_can_be_sent_back_alone(household: Household) -> None:
    parts = [category_line(60, "외식"), wallet_line(40, "받을 돈")]
    bought = household.write("expense", 100, "카드", lines=parts)
    path = f"{ENTRIES}/{bought['id']}/refund"
    back = household.expect(201, "POST", path, {})
    assert [each["refundOf"] for each in back["lines"]] == [bought["id"], None]
    again = household.patch(back, lines=back["lines"])
    assert (again["refundOf"], again["lines"]) == (back["refundOf"], back["lines"])
    # With null beside them, the lines decide.
    household.patch(back, lines=back["lines"], refundOf=None)
    assert household.read(back)["refundOf"] is None
    assert household.read(bought)["refunded"] == 60


def test_lines_together_exceed_no_expense(household: Household) -> None:
    bought = buy(household, 30_000)
    first = [refund_line(20_000, bought), category_line(1, "이자", "income")]
    household.write("income", 20_001, "카드", lines=first)
    lines = [
        refund_line(6_000, bought),
        category_line(1, "이자", "income"),
        refund_line(4_001, bought),
    ]
    response = refuse(household, "lines.2.refundOf", amount=10_002, lines=lines)
    assert response.json()["code"] == "REFUND_EXCEEDS"
    refuse(household, "amount", amount=10_001, refundOf=bought["id"])
    path = f"{ENTRIES}/{bought['id']}"
    response = household.client.send("PATCH", path, {"amount": 19_999})
    assert_problem(response, 400, "REFUND_EXCEEDS")
    body = {"type": "income", "category": None}
    response = household.client.send("PATCH", path, body)
    assert_problem(response, 409, "IN_USE")


def test_reference_of_a_line_that_fits_nothing_is_refused(
    household: Household, other_member: Any
) -> None:
    bought, income = buy(household), household.write("income", 5, "카드")
    theirs = {"id": make_entry(other_member, amount=500).pk}
    rest = category_line(10, "이자", "income")
    name = "lines.0.refundOf"
    for other in (income, theirs, {"id": 0}):
        refuse(household, name, amount=15, lines=[refund_line(5, other), rest])
    negative = refund_line(-5, bought)
    refuse(household, name, amount=5, lines=[negative, rest])
    of_income = refund_line(5, bought) | {"categoryType": "income"}
    refuse(household, name, amount=15, lines=[of_income, rest])
    of_wallet = wallet_line(5, "현금") | {"refundOf": bought["id"]}
    refuse(household, name, amount=15, walletId="카드", lines=[of_wallet, rest])
    spent = [refund_line(5, bought), category_line(10, "식비")]
    refuse(household, name, type="expense", amount=15, lines=spent)
    other = buy(household)
    lines = [refund_line(5, bought), refund_line(10, other)]
    refuse(household, name, amount=15, lines=lines, refundOf=other["id"])


def test_line_can_be_given_its_expense_later(household: Household) -> None:
    bought = buy(household)
    lines = [category_line(5, "의류"), category_line(10, "이자", "income")]
    back = household.write("income", 15, "카드", lines=lines)
    lines[0] = refund_line(5, bought)
    assert household.patch(back, lines=lines)["lines"][0]["refundOf"] == bought["id"]
    assert household.read(bought)["refunded"] == 5


def test_templates_have_no_refunds(household: Household) -> None:
    bought = buy(household)
    lines = [refund_line(5, bought), category_line(10, "식비")]
    body = {"name": "환불", "type": "income", "amount": 15, "lines": lines}
    response = household.client.send("POST", "/api/account/quick-entries", body)
    assert_invalid(response, "lines.0.refundOf")
