"""What a merged transfer was made of keeps its categories in use (spec 3.7, 3.20)."""

from typing import Any

import pytest

from tests.support.households import ENTRIES, A, Household, row_of
from tests.support.problems import assert_problem

CATEGORIES = {"expense": "기타", "income": "용돈"}


@pytest.fixture
def merged(household: Household) -> Any:
    """Return a transfer of an expense and an income with categories of their own."""
    expense = household.write(
        "expense", 500, "통장", category="기타", memo="출금", tags=["현금", "여행"]
    )
    income = household.write("income", 500, "현금", category="용돈", tags=["여행"])
    path = f"{ENTRIES}/{expense['id']}/merge"
    return household.expect(200, "POST", path, {"with": income["id"]})


def unmerge(household: Household, merged: Any) -> Any:
    return household.expect(200, "POST", f"{ENTRIES}/{merged['id']}/unmerge")


def id_of(household: Household, kind: str, **key: Any) -> int:
    rows = household.client.get_json(f"{A}/{kind}")
    found: int = row_of(rows, **key)["id"]
    return found


@pytest.mark.parametrize("type_", list(CATEGORIES))
def test_category_of_a_merged_entry_is_in_use(
    household: Household, merged: Any, type_: str
) -> None:
    name = CATEGORIES[type_]
    path = f"{A}/categories/{id_of(household, 'categories', type=type_, name=name)}"
    assert_problem(household.client.send("DELETE", path), 409, "IN_USE")
    other = "income" if type_ == "expense" else "expense"
    response = household.client.send("PATCH", path, {"type": other})
    assert_problem(response, 409, "IN_USE")
    both = unmerge(household, merged)
    assert [each["category"] for each in both] == ["기타", "용돈"]


def test_category_of_a_merged_entry_moves(household: Household, merged: Any) -> None:
    body = {"type": "expense", "name": "생활"}
    target = household.expect(201, "POST", f"{A}/categories", body)
    source = id_of(household, "categories", type="expense", name="기타")
    path = f"{A}/categories/{source}?moveTo={target['id']}"
    household.expect(204, "DELETE", path)
    both = unmerge(household, merged)
    assert [each["category"] for each in both] == ["생활", "용돈"]


def test_category_is_free_once_the_transfer_is_deleted(
    household: Household, merged: Any
) -> None:
    household.expect(204, "DELETE", f"{ENTRIES}/{merged['id']}")
    source = id_of(household, "categories", type="expense", name="기타")
    household.expect(204, "DELETE", f"{A}/categories/{source}")
    names = [each["name"] for each in household.client.get_json(f"{A}/categories")]
    assert "기타" not in names


def test_category_of_a_reversal_is_in_use_by_its_own_type(
    household: Household,
) -> None:
    expense = household.write("expense", 500, "통장")
    income = household.write(
        "income", 500, "현금", category="외식", categoryType="expense"
    )
    path = f"{ENTRIES}/{expense['id']}"
    household.expect(200, "POST", f"{path}/merge", {"with": income["id"]})
    category = id_of(household, "categories", type="expense", name="외식")
    response = household.client.send("DELETE", f"{A}/categories/{category}")
    assert_problem(response, 409, "IN_USE")
    _, after = unmerge(household, expense)
    assert (after["category"], after["categoryType"]) == ("외식", "expense")


def test_deleted_tag_is_taken_off_merged_entries_as_off_others(
    household: Household, merged: Any
) -> None:
    tag = id_of(household, "tags", name="여행")
    household.expect(204, "DELETE", f"{A}/tags/{tag}")
    assert household.read(merged)["tags"] == ["현금"]
    both = unmerge(household, merged)
    assert [each["tags"] for each in both] == [["현금"], []]


def test_renamed_tag_and_category_come_back_with_their_names(
    household: Household, merged: Any
) -> None:
    tag = id_of(household, "tags", name="현금")
    household.expect(200, "PATCH", f"{A}/tags/{tag}", {"name": "인출"})
    category = id_of(household, "categories", type="expense", name="기타")
    household.expect(200, "PATCH", f"{A}/categories/{category}", {"name": "잡비"})
    expense, _ = unmerge(household, merged)
    assert (expense["category"], expense["tags"]) == ("잡비", ["인출", "여행"])
