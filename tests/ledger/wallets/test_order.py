"""Wallets: their order."""

from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_wallet
from tests.support.problems import assert_invalid
from tests.support.wallets import PLAIN, WALLETS


def test_new_wallet_goes_last(
    client: JSONClient, free_member: Member, other_member: Member
) -> None:
    make_wallet(other_member, sort_order=99)
    make_wallet(free_member, sort_order=8, name="A")
    make_wallet(free_member, sort_order=3, name="B")
    assert client.create_json(WALLETS, PLAIN)["sortOrder"] == 9
    assert [row["name"] for row in client.get_json(WALLETS)] == ["B", "A", "Cash"]


def test_reorder_gives_the_wallets_the_order_of_the_ids(
    client: JSONClient, free_member: Member
) -> None:
    first, second, third = (make_wallet(free_member).pk for _ in range(3))
    response = client.send("PUT", f"{WALLETS}/reorder", {"ids": [third, first, second]})
    assert response.status_code == 200, response.content
    assert [row["id"] for row in response.data] == [third, first, second]
    assert client.get_json(WALLETS) == response.data
    orders = [row["sortOrder"] for row in response.data]
    assert orders == sorted(set(orders))
    assert client.create_json(WALLETS, PLAIN)["sortOrder"] > orders[-1]


def test_reorder_of_an_empty_list_is_empty(client: JSONClient) -> None:
    response = client.send("PUT", f"{WALLETS}/reorder", {"ids": []})
    assert (response.status_code, response.data) == (200, [])


@pytest.mark.parametrize(
    "pick",
    [
        lambda a, b, foreign: [a],
        lambda a, b, foreign: [a, b, foreign],
        lambda a, b, foreign: [a, foreign],
        lambda a, b, foreign: [a, a],
        lambda a, b, foreign: [a, b, b],
        lambda a, b, foreign: [a, b, 2**63 - 1],
        lambda a, b, foreign: [a, b, 2**80],
        lambda a, b, foreign: [a, -b],
        lambda a, b, foreign: [],
    ],
    ids=[
        "missing",
        "foreign",
        "foreign instead",
        "double instead",
        "double",
        "unknown",
        "huge",
        "negative",
        "empty",
    ],
)
def test_reorder_that_is_not_exactly_the_list_is_refused(
    client: JSONClient, free_member: Member, other_member: Member, pick: Any
) -> None:
    first, second = make_wallet(free_member), make_wallet(free_member)
    ids = pick(first.pk, second.pk, make_wallet(other_member).pk)
    before = client.get_json(WALLETS)
    response = client.send("PUT", f"{WALLETS}/reorder", {"ids": ids})
    assert response.status_code == 400, response.content
    assert response.data["code"] == "INVALID_ORDER"
    assert client.get_json(WALLETS) == before


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "ids"),
        ({"ids": None}, "ids"),
        ({"ids": "1,2"}, "ids"),
        ({"ids": {"0": 1}}, "ids"),
        ({"ids": ["1"]}, "ids.0"),
        ({"ids": [True]}, "ids.0"),
        ({"ids": [None]}, "ids.0"),
        ({"ids": [1.5]}, "ids.0"),
        ({"ids": [[]]}, "ids.0"),
    ],
)
def test_reorder_body_that_is_no_list_of_ids_is_refused(
    client: JSONClient, body: dict[str, Any], field: str
) -> None:
    assert_invalid(client.send("PUT", f"{WALLETS}/reorder", body), field)
