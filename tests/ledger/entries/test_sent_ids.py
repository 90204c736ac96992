"""Categories and tags that a request names by id (C2, spec 3.24)."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Category, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_tag, make_wallet
from tests.support.problems import assert_invalid

pytestmark = pytest.mark.django_db

ACCOUNT = "/api/account"
NEW: dict[str, dict[str, Any]] = {
    "entries": {"date": "2026-11-02", "type": "expense", "amount": 10},
    "quick-entries": {"name": "q", "type": "expense", "amount": 10},
    "recurring": {"name": "r", "type": "expense", "amount": 10}
    | {"frequency": "MONTHLY", "anchorDate": "2027-01-01"},
    "budgets": {"year": 2026, "month": 11, "amount": 10},
}
SHAPED = [kind for kind in NEW if kind != "budgets"]


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


@pytest.fixture
def food(premium_member: Member) -> Category:
    return make_category(premium_member, name="Food")


@pytest.fixture
def rent(premium_member: Member) -> Category:
    return make_category(premium_member, name="Rent")


def create(client: JSONClient, kind: str, **values: Any) -> Any:
    return client.send("POST", f"{ACCOUNT}/{kind}", NEW[kind] | values)


@pytest.mark.parametrize("kind", NEW)
def test_an_id_alone_makes_nothing_new(
    kind: str, client: JSONClient, food: Category, rent: Category
) -> None:
    row = create(client, kind, categoryId=food.pk).data
    assert (row["category"], row["categoryId"]) == ("Food", food.pk)
    path = f"{ACCOUNT}/{kind}/{row['id']}"
    # Its new name counts, and the old one makes no second category.
    client.change_json("PATCH", f"{ACCOUNT}/categories/{food.pk}", {"name": "Meals"})
    for method in ("PATCH", "PUT"):
        changed = client.change_json(method, path, NEW[kind] | {"categoryId": food.pk})
        assert (changed["category"], changed["categoryId"]) == ("Meals", food.pk)
    changed = client.change_json("PATCH", path, {"categoryId": rent.pk})
    assert (changed["category"], changed["categoryId"]) == ("Rent", rent.pk)
    assert Category.objects.count() == 2


@pytest.mark.parametrize("kind", SHAPED)
def test_null_clears(kind: str, client: JSONClient, food: Category) -> None:
    for method, body in (
        ("PATCH", {"categoryId": None}),
        ("PUT", NEW[kind] | {"categoryId": None}),
        ("PATCH", {"categoryId": None, "category": None}),
    ):
        row = create(client, kind, categoryId=food.pk).data
        path = f"{ACCOUNT}/{kind}/{row['id']}"
        changed = client.change_json(method, path, body)
        assert (changed["category"], changed["categoryId"]) == (None, None)


@pytest.mark.parametrize("kind", NEW)
def test_unknown_ids_are_refused(
    kind: str, client: JSONClient, food: Category, other_member: Member
) -> None:
    foreign, deleted = make_category(other_member), make_category(food.member)
    deleted.delete()
    row = create(client, kind, categoryId=food.pk).data
    path = f"{ACCOUNT}/{kind}/{row['id']}"
    wrong: Any
    for wrong in (foreign.pk, deleted.pk, 0, -1, 2**63, 10**30, "1", True, [], 1.5):
        for answer in (
            create(client, kind, categoryId=wrong),
            client.send("PATCH", path, {"categoryId": wrong}),
        ):
            assert_invalid(answer, "categoryId")
    assert client.get_json(path)["categoryId"] == food.pk


@pytest.mark.parametrize("kind", NEW)
def test_on_creation_both_must_agree(
    kind: str, client: JSONClient, food: Category, rent: Category
) -> None:
    row = create(client, kind, category="Food", categoryId=food.pk)
    assert row.data["categoryId"] == food.pk
    for name in ("Rent", "food", "New"):
        answer = create(client, kind, category=name, categoryId=food.pk)
        assert_invalid(answer, "categoryId")
        assert answer.data["errors"][0]["code"] == "mismatch"
    assert Category.objects.count() == 2


@pytest.mark.parametrize("kind", SHAPED)
def test_on_creation_null_beside_the_other_says_nothing(
    kind: str, client: JSONClient, food: Category
) -> None:
    for body in (
        {"category": None, "categoryId": food.pk},
        {"category": "Food", "categoryId": None},
    ):
        assert create(client, kind, **body).data["categoryId"] == food.pk
    nothing = create(client, kind, category=None, categoryId=None).data
    assert nothing["categoryId"] is None


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("kind", NEW)
def test_in_a_change_the_one_that_differs_decides(
    kind: str, method: str, client: JSONClient, food: Category, rent: Category
) -> None:
    row = create(client, kind, categoryId=food.pk).data
    path = f"{ACCOUNT}/{kind}/{row['id']}"
    # A client of before sends the id back as it was read.
    by_name = client.change_json(method, path, row | {"category": "Rent"})
    assert by_name["categoryId"] == rent.pk
    by_id = client.change_json(method, path, by_name | {"categoryId": food.pk})
    assert by_id["category"] == "Food"
    both = by_id | {"category": "Rent", "categoryId": rent.pk}
    assert client.change_json(method, path, both)["categoryId"] == rent.pk
    new = client.change_json(
        method, path, row | {"category": "New", "categoryId": rent.pk}
    )
    assert new["category"] == "New"
    wrong = new | {"category": "Rent", "categoryId": food.pk}
    answer = client.send(method, path, wrong)
    assert_invalid(answer, "categoryId")
    assert answer.data["errors"][0]["code"] == "mismatch"


@pytest.mark.parametrize("kind", SHAPED)
def test_type_is_that_of_the_category(
    kind: str, client: JSONClient, food: Category, premium_member: Member
) -> None:
    pay = make_category(premium_member, name="Pay", type="income")
    row = create(client, kind, type="income", categoryId=food.pk)
    assert row.data["categoryType"] == "expense"
    path = f"{ACCOUNT}/{kind}/{row.data['id']}"
    assert (
        client.change_json("PATCH", path, {"categoryId": pay.pk})["categoryType"]
        == "income"
    )
    for answer in (
        create(client, kind, categoryId=pay.pk, categoryType="expense"),
        client.send("PATCH", path, {"categoryId": food.pk, "categoryType": "income"}),
    ):
        assert_invalid(answer, "categoryType")
        assert answer.data["errors"][0]["code"] == "mismatch"
    assert (
        create(client, kind, categoryId=pay.pk, categoryType="income").status_code
        == 201
    )
    # "Food" of an income is another category than that of expenses.
    assert_invalid(
        create(client, kind, type="income", category="Food", categoryId=food.pk),
        "categoryId",
    )


def test_budgets_are_of_expense_categories(
    client: JSONClient, food: Category, premium_member: Member
) -> None:
    pay = make_category(premium_member, type="income")
    assert_invalid(create(client, "budgets", categoryId=pay.pk), "categoryId")
    assert_invalid(create(client, "budgets", categoryId=None), "category")
    assert_invalid(create(client, "budgets"), "category")


@pytest.mark.parametrize("kind", SHAPED)
def test_lines_are_compared_with_the_stored_line_of_their_id(
    kind: str, client: JSONClient, food: Category, rent: Category
) -> None:
    lines = [{"amount": 4, "categoryId": food.pk}, {"amount": 6, "category": "Rent"}]
    row = create(client, kind, lines=lines).data
    assert [line["category"] for line in row["lines"]] == ["Food", "Rent"]
    path = f"{ACCOUNT}/{kind}/{row['id']}"
    first, second = row["lines"]
    # Sent back in another order, one with a new name, one with a new id.
    changed = [second | {"categoryId": food.pk}, first | {"category": "Rent"}]
    again = client.change_json("PATCH", path, {"lines": changed})
    assert [line["categoryId"] for line in again["lines"]] == [food.pk, rent.pk]
    for wrong in (
        [{**again["lines"][0], "category": "New", "categoryId": rent.pk}, lines[1]],
        [lines[0], {"amount": 6, "category": "Rent", "categoryId": food.pk}],
        [lines[0], {"amount": 6, "categoryId": 2**40}],
        [lines[0], {"amount": 6, "categoryId": food.pk, "categoryType": "income"}],
    ):
        answer = client.send("PATCH", path, {"lines": wrong})
        (error,) = answer.data["errors"]
        assert error["field"] in {
            *("lines.0.categoryId", "lines.1.categoryId", "lines.1.categoryType")
        }


def test_tags_by_id(client: JSONClient, premium_member: Member) -> None:
    trip, work = (make_tag(premium_member, name=name) for name in ("trip", "work"))
    entry = create(client, "entries", tagIds=[work.pk, trip.pk, work.pk]).data
    assert (entry["tags"], entry["tagIds"]) == (["work", "trip"], [work.pk, trip.pk])
    path = f"{ACCOUNT}/entries/{entry['id']}"

    def change(**body: Any) -> Any:
        return client.change_json("PATCH", path, body)["tags"]

    assert change(tagIds=[trip.pk]) == ["trip"]
    # The list that differs from what is stored decides.
    assert change(tags=["new"], tagIds=[trip.pk]) == ["new"]
    assert change(tags=["new"], tagIds=[work.pk]) == ["work"]
    assert change(tags=["trip"], tagIds=[trip.pk]) == ["trip"]
    answer = client.send("PATCH", path, {"tags": ["new"], "tagIds": [work.pk]})
    assert_invalid(answer, "tagIds")
    nothing: Any
    for nothing in ([], None):
        assert change(tagIds=[trip.pk]) == ["trip"]
        assert change(tagIds=nothing) == []
    assert create(client, "entries", tags=["trip"], tagIds=[trip.pk]).status_code == 201
    assert create(client, "entries", tags=["trip"], tagIds=[]).data["tags"] == ["trip"]
    assert create(client, "entries", tags=[], tagIds=[trip.pk]).data["tags"] == ["trip"]
    assert_invalid(create(client, "entries", tags=["x"], tagIds=[trip.pk]), "tagIds")
    assert Tag.objects.count() == 3


def test_unknown_tags_are_refused(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    tag, foreign = make_tag(premium_member), make_tag(other_member)
    for ids, field in (
        ([tag.pk, foreign.pk], "tagIds.1"),
        ([2**40], "tagIds.0"),
        ([0], "tagIds.0"),
        (["1"], "tagIds.0"),
        ("1", "tagIds"),
        (list(range(1, 52)), "tagIds"),
    ):
        assert_invalid(create(client, "entries", tagIds=ids), field)


def test_a_whole_entry_by_ids(
    client: JSONClient, food: Category, premium_member: Member
) -> None:
    wallet = make_wallet(premium_member)
    tag = make_tag(premium_member)
    ids = {"categoryId": food.pk, "tagIds": [tag.pk], "walletId": wallet.pk}
    entry = create(client, "entries", **ids).data
    assert entry.items() >= ids.items()
    path = f"{ACCOUNT}/entries/{entry['id']}"
    assert client.change_json("PUT", path, entry).items() >= ids.items()


@pytest.mark.parametrize("clear", ["categoryId", "category"])
def test_clear_names_the_id_too(clear: str, client: JSONClient, food: Category) -> None:
    entry = create(client, "entries", categoryId=food.pk).data
    path = f"{ACCOUNT}/entries/{entry['id']}"
    assert client.change_json("PATCH", path, {"clear": [clear]})["category"] is None


def test_confirmation_takes_an_id(
    client: JSONClient, food: Category, premium_member: Member
) -> None:
    entry = make_entry(premium_member, pending=True)
    path = f"{ACCOUNT}/entries/{entry.pk}/confirm"
    answer = client.send("POST", path, {"categoryId": food.pk})
    assert (answer.data["pending"], answer.data["category"]) == (False, "Food")


def test_a_name_belongs_to_the_stored_type(
    client: JSONClient, food: Category, rent: Category
) -> None:
    expense = create(client, "entries", categoryId=food.pk).data
    path = f"{ACCOUNT}/entries/{expense['id']}/refund"
    refund = client.send("POST", path, {"amount": 4}).data
    path = f"{ACCOUNT}/entries/{refund['id']}"
    both = {"category": "Rent", "categoryId": rent.pk}
    changed = client.change_json("PATCH", path, both)
    assert changed.items() >= (both | {"categoryType": "expense"}).items()
    # An income category of the same name is another one.
    pay = make_category(food.member, name="Pay", type="income")
    make_category(food.member, name="Pay")
    answer = client.send("PATCH", path, {"category": "Pay", "categoryId": pay.pk})
    assert_invalid(answer, "categoryId")
