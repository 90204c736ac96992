"""Categories: the list and its order."""

from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_category
from tests.support.ledger_bodies import CATEGORIES, PLAIN_CATEGORY
from tests.support.problems import assert_invalid


def build_tree(member: Member) -> dict[Any, Any]:
    """Create two expense majors with two minors each and an income one, shuffled."""
    b = make_category(member, name="b", sort_order=2)
    a = make_category(member, name="a", sort_order=1)
    i = make_category(member, name="i", type="income", sort_order=1)
    rows = {"a": a, "b": b, "i": i}
    for name, parent, place in (("b2", b, 2), ("a2", a, 2), ("a1", a, 1), ("b1", b, 1)):
        rows[name] = make_category(member, name=name, parent=parent, sort_order=place)
    return {name: row.pk for name, row in rows.items()}


def names_of(rows: Any) -> list[Any]:
    return [row["name"] for row in rows]


def test_list_is_flat_with_each_major_followed_by_its_minor_ones(
    client: JSONClient, free_member: Member
) -> None:
    build_tree(free_member)
    rows = client.get_json(CATEGORIES)
    expense = [row["name"] for row in rows if row["type"] == "expense"]
    assert expense == ["a", "a1", "a2", "b", "b1", "b2"]
    assert len(rows) == 7
    assert names_of(client.get_json(CATEGORIES, type="expense")) == expense
    assert names_of(client.get_json(CATEGORIES, type="income")) == ["i"]


def test_list_of_an_unknown_type_is_refused(client: JSONClient) -> None:
    assert_invalid(client.send("GET", f"{CATEGORIES}?type=transfer"), "type")


def test_new_category_goes_last_among_its_siblings(
    client: JSONClient, free_member: Member
) -> None:
    ids = build_tree(free_member)
    major = client.create_json(CATEGORIES, PLAIN_CATEGORY | {"name": "c"})
    minor = client.create_json(
        CATEGORIES, PLAIN_CATEGORY | {"name": "a3", "parentId": ids["a"]}
    )
    assert (major["sortOrder"], minor["sortOrder"]) == (3, 3)
    names = names_of(client.get_json(CATEGORIES, type="expense"))
    assert names == ["a", "a1", "a2", "a3", "b", "b1", "b2", "c"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (["b", "a"], ["b", "b1", "b2", "a", "a1", "a2"]),
        (["a2", "a1"], ["a", "a2", "a1", "b", "b1", "b2"]),
        (["a", "b"], ["a", "a1", "a2", "b", "b1", "b2"]),
    ],
)
def test_reorder_is_of_one_type_and_one_parent(
    client: JSONClient, free_member: Member, order: list[str], expected: list[str]
) -> None:
    ids = build_tree(free_member)
    body = {"ids": [ids[name] for name in order]}
    response = client.send("PUT", f"{CATEGORIES}/reorder", body)
    assert response.status_code == 200, response.content
    assert client.get_json(CATEGORIES) == response.data
    assert names_of(client.get_json(CATEGORIES, type="expense")) == expected


@pytest.mark.parametrize(
    "order",
    [
        ["a"],
        ["a", "b", "i"],
        ["a", "i"],
        ["a", "b", "a1"],
        ["a1"],
        ["a1", "a2", "b1"],
        ["a1", "b1"],
        ["a", "a"],
        ["a", "b", "b"],
        ["a", "b", "foreign"],
        ["foreign", "a", "b"],
        ["foreign"],
        [],
    ],
    ids=lambda order: " ".join(order) or "empty",
)
def test_reorder_that_is_not_exactly_one_list_is_refused(
    client: JSONClient, free_member: Member, other_member: Member, order: list[Any]
) -> None:
    ids = build_tree(free_member) | {"foreign": make_category(other_member).pk}
    before = client.get_json(CATEGORIES)
    body = {"ids": [ids[name] for name in order]}
    response = client.send("PUT", f"{CATEGORIES}/reorder", body)
    assert response.status_code == 400, response.content
    assert response.data["code"] == "INVALID_ORDER"
    assert client.get_json(CATEGORIES) == before
