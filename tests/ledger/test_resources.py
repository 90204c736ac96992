"""What all lists of a ledger have in common: fields, PUT and PATCH, names, order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_category,
    make_quick_entry,
    make_rule,
    make_stock,
    make_tag,
    make_wallet,
)
from tests.support.problems import assert_invalid, assert_problem

ACCOUNT = "/api/account"
NOTHING: dict[str, Any] = {}
# They follow from other fields.
FOLLOWING = {
    *("id", "sortOrder", "categoryId", "categoryType", "toWallet", "balance"),
    *("priceAt", "nextDate", "version"),
}
NAMES = ["", "  ", None, "x" * 101, 5, ["a"], "nul\x00"]
TYPES: list[Any] = ["EXPENSE", "loan", None, True, []]
IDS = ["1", 0, -1, 1.5, True, 2**63, 10**30, [], {}]
NO_LISTS: list[Any] = [None, "1,2", {"0": 1}]
NO_IDS: list[Any] = ["1", True, None, 1.5, []]
AMOUNTS = [0, -1, 1.5, "5", True, MAX_AMOUNT + 1, 10**30]
SIGNED = ["5", 1.5, True, MAX_AMOUNT + 1, -MAX_AMOUNT - 1, 10**30]
FLAGS = ["true", "yes", 0, 1]
MEMOS = ["x" * 501, 5, "nul\x00"]
TEMPLATE: dict[str, Any] = {
    "category": None,
    "categoryId": None,
    "categoryType": "expense",
    "walletId": None,
    "toWalletId": None,
    "toWallet": None,
    "lines": [],
    "memo": "",
    "tags": [],
}
# The category and the wallet are made for the test.
FULL_TEMPLATE: dict[str, Any] = {
    "amount": 9_000,
    "category": "Food",
    "walletId": make_wallet,
    "memo": "a\nb",
    "tags": ["work", "daily"],
}
WRONG_TEMPLATE: dict[str, list[Any]] = {
    "type": TYPES,
    "amount": AMOUNTS,
    "category": ["", "x" * 101, 5, "a\0b"],
    "walletId": ["1", 0, 2**63, True],
    "memo": MEMOS,
    "tags": ["a", {}],
}

NO_LOOK: dict[str, Any] = {"icon": None, "color": None}
LOOK: dict[str, Any] = {"icon": "👨‍👩‍👧‍👦", "color": "#00aaff"}
WRONG_LOOK: dict[str, list[Any]] = {
    "icon": ["", "  ", "x" * 41, 5, ["a"], "nul\x00"],
    "color": ["", "#12345", "#1234567", "1a2b3c", "#12345g", "red", 5, "#12345\n6"],
}
# A PUT without them keeps them: clients of before do not know them.
KEPT_BY_PUT = set(NO_LOOK)


@dataclass(frozen=True)
class Resource:
    """A list: its least and its fullest body, what it answers, what it refuses."""

    make: Callable[..., Any]
    plain: dict[str, Any]
    defaults: dict[str, Any]
    full: dict[str, Any]
    wrong: dict[str, list[Any]]
    kept: dict[str, list[Any]] = field(default_factory=dict)
    # The field in which two rows of a member may not be equal.
    unique: str = ""
    is_ordered: bool = True

    def fill(self, member: Member) -> dict[str, Any]:
        return {
            name: value(member).pk if callable(value) else value
            for name, value in self.full.items()
        }


RESOURCES = {
    "wallets": Resource(
        make_wallet,
        {"name": "Cash", "kind": "CASH"},
        {
            "institution": "",
            "accountNumber": None,
            "openingBalance": 0,
            "balance": 0,
            "manualValuation": False,
            "currentValue": None,
            "archived": False,
            "memo": "",
        }
        | NO_LOOK,
        {
            "name": "연금",
            "kind": "PENSION",
            "institution": "국민연금",
            "accountNumber": "110-123-456789",
            "openingBalance": -5,
            "manualValuation": True,
            "currentValue": -7,
            "archived": True,
            "memo": "a\nb",
        }
        | LOOK,
        {
            "name": NAMES,
            "kind": ["cash", "WALLET", None, True, [], {}],
            "institution": ["x" * 101, 5],
            "openingBalance": SIGNED,
            "accountNumber": [110123456789, "x" * 65, "1\x002", ["1"]],
            "currentValue": SIGNED,
            "manualValuation": FLAGS,
            "archived": FLAGS,
            "memo": MEMOS,
            **WRONG_LOOK,
        },
        {
            "name": ["가" * 100],
            "institution": ["가" * 100],
            "memo": ["가" * 500],
            "kind": [
                "CASH",
                "BANK",
                "CARD",
                "CHECK_CARD",
                "INVESTMENT",
                "LOAN",
                "OTHER",
            ],
            "openingBalance": [MAX_AMOUNT, -MAX_AMOUNT, -1],
            "icon": ["x" * 40, "🍎", None],
            "color": ["#000000", None],
        },
        unique="name",
    ),
    "categories": Resource(
        make_category,
        {"name": "Food", "type": "expense"},
        {"parentId": None} | NO_LOOK,
        {"name": "Pay", "type": "income"} | LOOK,
        {"name": NAMES, "type": [*TYPES, "transfer"], "parentId": IDS, **WRONG_LOOK},
        {"name": ["가" * 100], "icon": [None], "color": [None]},
        unique="name",
    ),
    "tags": Resource(
        make_tag,
        {"name": "여행"},
        NO_LOOK,
        {"name": "work"} | LOOK,
        {"name": [*NAMES, "a,b"]} | WRONG_LOOK,
        {"icon": [None], "color": [None]},
        unique="name",
    ),
    "quick-entries": Resource(
        make_quick_entry,
        {"name": "Lunch", "type": "expense"},
        TEMPLATE | {"amount": None},
        {"name": "점심", "type": "expense"} | FULL_TEMPLATE,
        {"name": NAMES} | WRONG_TEMPLATE,
    ),
    "recurring": Resource(
        make_rule,
        {
            "name": "Rent",
            "type": "expense",
            "amount": 7,
            "frequency": "MONTHLY",
            "anchorDate": "2026-11-21",
        },
        TEMPLATE
        | {"interval": 1, "endDate": None, "nextDate": "2026-11-21", "active": True},
        {
            **{"name": "월세", "type": "expense"} | FULL_TEMPLATE,
            "frequency": "YEARLY",
            "anchorDate": "2026-12-01",
            "interval": 2,
            "endDate": "2027-11-21",
            "active": False,
        },
        {"name": NAMES}
        | WRONG_TEMPLATE
        | {
            "frequency": ["HOURLY", "monthly"],
            "interval": [0, 1_001, True],
            "anchorDate": ["2026-02-30", "20261121", None],
            "endDate": ["2026-13-01", "2026-11-20"],
            "active": ["true"],
        },
        is_ordered=False,
    ),
    "stocks": Resource(
        make_stock,
        {"code": "005930", "name": "삼성전자"},
        {"market": "", "currentPrice": None, "priceAt": None},
        {"code": "AAPL", "name": "Apple", "market": "NASDAQ", "currentPrice": 5},
        {
            "code": ["", " ", "X" * 21, None, 5930, "A\0"],
            "currentPrice": [-1, 10**12, 1.5, "5", True],
        },
        unique="code",
    ),
}
ORDERED = [name for name, each in RESOURCES.items() if each.is_ordered]
UNIQUE = [name for name, each in RESOURCES.items() if each.unique]
each_resource = pytest.mark.parametrize("name", RESOURCES)
each_ordered = pytest.mark.parametrize("name", ORDERED)


@pytest.fixture(autouse=True)
def _noon() -> Iterator[None]:
    with time_machine.travel("2026-11-21T12:00:00+09:00", tick=False):
        yield


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def without_following(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {k: v for k, v in row.items() if k not in {*FOLLOWING, *names}}


@each_resource
def test_row_needs_only_a_few_fields(client: JSONClient, name: str) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    row = client.create_json(path, each.plain)
    order = {"sortOrder": 1} if each.is_ordered else {}
    assert row == each.defaults | each.plain | {"id": row["id"], "version": 1} | order
    assert client.get_json(f"{path}/{row['id']}") == row
    assert client.get_json(path) == [row]


@each_resource
def test_row_keeps_what_is_written_and_can_be_sent_back_as_it_was_read(
    client: JSONClient, premium_member: Member, name: str
) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    body = each.fill(premium_member)
    row = client.create_json(path, body)
    assert row.items() >= body.items()
    assert client.get_json(f"{path}/{row['id']}") == row
    assert client.change_json("PUT", f"{path}/{row['id']}", row) == row
    assert client.change_json("PATCH", f"{path}/{row['id']}", {}) == row
    for key, values in each.kept.items():
        for value in values:
            changed = client.change_json("PATCH", f"{path}/{row['id']}", {key: value})
            assert changed[key] == value


@each_resource
def test_missing_field_is_refused(
    client: JSONClient, premium_member: Member, name: str
) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    row = each.make(premium_member)
    for key in each.plain:
        body = {other: value for other, value in each.plain.items() if other != key}
        assert_invalid(client.send("POST", path, body), key)
        assert_invalid(client.send("PUT", f"{path}/{row.pk}", body), key)


@each_resource
def test_value_that_does_not_fit_is_refused(client: JSONClient, name: str) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    row = client.create_json(path, each.plain)
    own = f"{path}/{row['id']}"
    for key, values in each.wrong.items():
        for value in values:
            whole = each.plain | {key: value}
            assert_invalid(client.send("POST", path, whole), key)
            assert_invalid(client.send("PUT", own, whole), key)
            assert_invalid(client.send("PATCH", own, {key: value}), key)
    assert client.get_json(path) == [row]


@each_resource
def test_put_clears_what_it_leaves_out(
    client: JSONClient, premium_member: Member, name: str
) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    row = client.create_json(path, each.fill(premium_member))
    changed = client.change_json("PUT", f"{path}/{row['id']}", each.plain)
    different = {each.unique: "0"} if each.unique else {}
    empty = client.create_json(path, each.plain | different)
    assert without_following(changed, *different, *KEPT_BY_PUT) == without_following(
        empty, *different, *KEPT_BY_PUT
    )
    for key in KEPT_BY_PUT & set(row):
        assert changed[key] == row[key]
    assert changed.get("sortOrder") == row.get("sortOrder")


@each_resource
def test_patch_changes_one_field_and_leaves_the_others(
    client: JSONClient, premium_member: Member, name: str
) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    for key, value in each.fill(premium_member).items():
        base = {"manualValuation": True} if name == "wallets" else {}
        row = client.create_json(path, each.plain | base)
        changed = client.change_json("PATCH", f"{path}/{row['id']}", {key: value})
        assert without_following(changed) == without_following(row | {key: value})
        assert client.send("DELETE", f"{path}/{row['id']}").status_code == 204


@each_resource
def test_deleted_row_and_one_that_cannot_be_are_404(
    client: JSONClient, premium_member: Member, name: str
) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    deleted = client.create_json(path, each.fill(premium_member))["id"]
    assert client.send("DELETE", f"{path}/{deleted}").status_code == 204
    assert client.get_json(path) == []
    for number in (deleted, 0, 2**63, 10**30):
        for method in ("GET", "PUT", "PATCH", "DELETE"):
            body = each.plain if method.startswith("P") else None
            response = client.send(method, f"{path}/{number}", body)
            assert_problem(response, 404, "NOT_FOUND")


@each_resource
def test_id_and_order_of_a_body_have_no_effect_and_unknown_names_are_refused(
    client: JSONClient, other_member: Member, name: str
) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    row = client.create_json(path, each.plain)
    own = f"{path}/{row['id']}"
    forged = {"id": 1, "sortOrder": 70, "balance": 99}
    known = each.plain | {key: forged[key] for key in forged if key in row}
    unknown = {"member": other_member.pk, "memberId": 1, "sort_order": 70, "level": 2}
    for method in ("PUT", "PATCH"):
        assert client.change_json(method, own, known) == row
        assert_invalid(client.send(method, own, known | unknown), *unknown)
    assert_invalid(client.send("POST", path, known | unknown), *unknown)
    assert client.get_json(path) == [row]


@pytest.mark.parametrize("name", UNIQUE)
def test_name_is_taken_once_by_each_member(
    client: JSONClient, premium_member: Member, other_member: Member, name: str
) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    key = each.unique
    each.make(other_member, **{key: each.plain[key]})
    row = client.create_json(path, each.plain)
    assert client.change_json("PUT", f"{path}/{row['id']}", each.plain) == row
    other = client.create_json(path, each.plain | {key: "0"})
    for method, address, body in (
        ("POST", path, each.plain),
        ("PUT", f"{path}/{other['id']}", each.plain),
        ("PATCH", f"{path}/{other['id']}", {key: f" {each.plain[key]} "}),
    ):
        assert_problem(client.send(method, address, body), 409, "DUPLICATE")
    assert client.get_json(f"{path}/{other['id']}") == other


@pytest.mark.parametrize("name", [each for each in RESOURCES if each not in UNIQUE])
def test_two_templates_may_have_one_name(client: JSONClient, name: str) -> None:
    path = f"{ACCOUNT}/{name}"
    ids = [client.create_json(path, RESOURCES[name].plain)["id"] for _ in range(2)]
    assert [row["id"] for row in client.get_json(path)] == ids


@each_ordered
def test_new_row_goes_last(
    client: JSONClient, premium_member: Member, other_member: Member, name: str
) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    each.make(other_member, sort_order=99)
    ids = [each.make(premium_member, sort_order=place).pk for place in (8, 3)][::-1]
    row = client.create_json(path, each.plain)
    assert row["sortOrder"] == 9
    assert [row["id"] for row in client.get_json(path)] == [*ids, row["id"]]


@each_ordered
def test_reorder_gives_the_rows_the_order_of_the_ids(
    client: JSONClient, premium_member: Member, name: str
) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    assert client.change_json("PUT", f"{path}/reorder", {"ids": []}) == []
    first, second, third = (each.make(premium_member).pk for _ in range(3))
    ids = [third, first, second]
    rows = client.change_json("PUT", f"{path}/reorder", {"ids": ids})
    assert [(row["id"], row["sortOrder"]) for row in rows] == list(
        zip(ids, (1, 2, 3), strict=True)
    )
    assert client.get_json(path) == rows
    assert client.create_json(path, each.plain)["sortOrder"] == 4


@each_ordered
def test_reorder_that_is_not_exactly_the_list_is_refused(
    client: JSONClient, premium_member: Member, other_member: Member, name: str
) -> None:
    each, path = RESOURCES[name], f"{ACCOUNT}/{name}"
    a, b = (each.make(premium_member).pk for _ in range(2))
    theirs, before = each.make(other_member).pk, client.get_json(path)
    for ids in (
        *([a], [a, b, theirs], [a, theirs], [theirs], [a, a], [a, b, b], []),
        *([a, b, 2**63 - 1], [a, b, 2**80], [a, -b], [0]),
    ):
        response = client.send("PUT", f"{path}/reorder", {"ids": ids})
        assert_problem(response, 400, "INVALID_ORDER")
    for value in NO_LISTS:
        assert_invalid(client.send("PUT", f"{path}/reorder", {"ids": value}), "ids")
    for value in NO_IDS:
        response = client.send("PUT", f"{path}/reorder", {"ids": [value]})
        assert_invalid(response, "ids.0")
    assert_invalid(client.send("PUT", f"{path}/reorder", {}), "ids")
    assert client.get_json(path) == before
