"""The shared default categories, for administrators: two levels and an order."""

from functools import partial
from typing import Any

import pytest

from accounts.models import AuditLogEntry, Member
from ledger.migrations._0001_default_categories import EXPENSE
from ledger.models import DefaultCategory
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.problems import assert_problem
from tests.support.races import run_concurrently, sorted_statuses

pytestmark = pytest.mark.django_db

PATH = "/api/admin/default-categories"
ORDER = f"{PATH}/reorder"


@pytest.fixture
def client(administrator: Member, client_of: ClientOf) -> JSONClient:
    return client_of(administrator)


@pytest.fixture(autouse=True)
def empty_list(db: None) -> None:
    DefaultCategory.objects.exclude(parent=None).delete()
    DefaultCategory.objects.all().delete()


def make(name: str, parent: DefaultCategory | None = None, **fields: Any) -> Any:
    defaults = {"type": "expense", "sort_order": DefaultCategory.objects.count() + 1}
    return DefaultCategory.objects.create(name=name, parent=parent, **defaults | fields)


def names(client: JSONClient) -> list[str]:
    return [row["name"] for row in client.get_json(PATH)]


def test_list_is_a_bare_array_of_majors_each_followed_by_its_minors(
    client: JSONClient,
) -> None:
    food, home = make("식비", name_en="Food", sort_order=1), make("주거", sort_order=2)
    make("월세", parent=home)
    rent = DefaultCategory.objects.get(name="월세")
    make("외식", parent=food, sort_order=9)
    make("카페", parent=food, sort_order=8)
    make("급여", type="income")
    rows = client.get_json(PATH)
    assert [row["name"] for row in rows] == [
        "식비",
        "카페",
        "외식",
        "주거",
        "월세",
        "급여",
    ]
    assert rows[0] == {
        "id": food.pk,
        "name": "식비",
        "nameEn": "Food",
        "type": "expense",
        "parentId": None,
        "icon": None,
        "color": None,
        "sortOrder": 1,
    }
    assert client.get_json(f"{PATH}/{rent.pk}") == rows[4]


def test_new_installation_has_a_list() -> None:
    assert len(EXPENSE) == 10


def test_new_category_goes_last_among_its_siblings(client: JSONClient) -> None:
    food = make("Food", sort_order=5)
    make("Home", sort_order=6)
    make("Pay", type="income", sort_order=40)
    major = client.send("POST", PATH, {"name": "Fun", "type": "expense"})
    assert (major.status_code, major.data["sortOrder"]) == (201, 7)
    assert (major.data["parentId"], major.data["nameEn"]) == (None, "")
    body = {"name": "Cafe", "type": "expense", "parentId": food.pk, "nameEn": "Cafes"}
    minor = client.send("POST", PATH, body)
    assert (minor.data["sortOrder"], minor.data["nameEn"]) == (1, "Cafes")
    assert names(client) == ["Food", "Cafe", "Home", "Fun", "Pay"]


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": None},
        {"name": "x" * 101},
        {"name": "a\x00"},
        {"name": 5},
        {"type": "other"},
        {"type": None},
        {"parentId": 987_654_321},
        {"parentId": ""},
        {"parentId": "1"},
        {"parentId": True},
        {"nameEn": "x" * 101},
    ],
)
def test_wrong_field_is_400(client: JSONClient, fields: dict[str, Any]) -> None:
    body = {"name": "Food", "type": "expense"} | fields
    response = client.send("POST", PATH, body)
    assert_problem(response, 400, "VALIDATION_ERROR")
    assert response.data["errors"][0]["field"] == next(iter(fields))
    assert not DefaultCategory.objects.exists()


def test_parent_of_another_type_is_refused(client: JSONClient) -> None:
    pay = make("Pay", type="income")
    body = {"name": "Cafe", "type": "expense", "parentId": pay.pk}
    assert_problem(client.send("POST", PATH, body), 400, "CATEGORY_HIERARCHY")


def test_minor_category_sits_under_a_major_one_only(client: JSONClient) -> None:
    cafe = make("Cafe", parent=make("Food"))
    body = {"name": "Tea", "type": "expense", "parentId": cafe.pk}
    assert_problem(client.send("POST", PATH, body), 400, "CATEGORY_HIERARCHY")


def test_major_category_with_minors_cannot_become_minor_nor_change_its_type(
    client: JSONClient,
) -> None:
    food, home = make("Food"), make("Home")
    make("Cafe", parent=food)
    for change in ({"parentId": home.pk}, {"parentId": food.pk}, {"type": "income"}):
        response = client.send("PATCH", f"{PATH}/{food.pk}", change)
        assert_problem(response, 400, "CATEGORY_HIERARCHY")


def test_major_category_with_minors_is_not_deleted(client: JSONClient) -> None:
    food = make("Food")
    cafe = make("Cafe", parent=food)
    response = client.send("DELETE", f"{PATH}/{food.pk}")
    assert_problem(response, 400, "CATEGORY_HIERARCHY")
    for category in (cafe, food):
        response = client.send("DELETE", f"{PATH}/{category.pk}")
        assert (response.status_code, response.content) == (204, b"")
    assert names(client) == []


def test_name_is_there_once_for_each_type(client: JSONClient) -> None:
    make("Food")
    home = make("Home")
    body = {"name": "Food", "type": "expense"}
    assert_problem(client.send("POST", PATH, body), 409, "DUPLICATE")
    response = client.send("PATCH", f"{PATH}/{home.pk}", {"name": "Food"})
    assert_problem(response, 409, "DUPLICATE")
    assert client.send("POST", PATH, body | {"type": "income"}).status_code == 201


def test_change_keeps_the_place_and_a_move_goes_last(client: JSONClient) -> None:
    food, home = make("Food", name_en="Food"), make("Home")
    cafe = make("Cafe", parent=food, sort_order=1)
    make("Rent", parent=home, sort_order=1)
    renamed = client.send("PATCH", f"{PATH}/{cafe.pk}", {"name": "Tea"})
    assert (renamed.data["name"], renamed.data["sortOrder"]) == ("Tea", 1)
    moved = client.send("PATCH", f"{PATH}/{cafe.pk}", {"parentId": home.pk})
    assert (moved.data["parentId"], moved.data["sortOrder"]) == (home.pk, 2)
    whole = client.send("PUT", f"{PATH}/{cafe.pk}", {"name": "Tea", "type": "expense"})
    assert (whole.data["parentId"], whole.data["sortOrder"]) == (None, 3)


def test_category_that_does_not_exist_is_404(client: JSONClient) -> None:
    for number in ("987654321", "x", "0", "9" * 30):
        for method in ("GET", "PUT", "PATCH", "DELETE"):
            response = client.send(method, f"{PATH}/{number}", {})
            assert_problem(response, 404, "NOT_FOUND")


def test_reorder_takes_exactly_the_ids_of_one_type_and_parent(
    client: JSONClient,
) -> None:
    food, home, pay = make("Food"), make("Home"), make("Pay", type="income")
    cafe, bar = make("Cafe", parent=food), make("Bar", parent=food)
    response = client.send("PUT", ORDER, {"ids": [home.pk, food.pk]})
    assert response.status_code == 200
    expected = ["Home", "Food", "Cafe", "Bar", "Pay"]
    assert [row["name"] for row in response.data] == expected == names(client)
    client.send("PUT", ORDER, {"ids": [bar.pk, cafe.pk]})
    assert names(client) == ["Home", "Food", "Bar", "Cafe", "Pay"]
    for wrong in (
        [food.pk],
        [food.pk, food.pk],
        [food.pk, home.pk, pay.pk],
        [food.pk, cafe.pk],
        [food.pk, 987_654_321],
        [987_654_321],
        [],
    ):
        assert_problem(client.send("PUT", ORDER, {"ids": wrong}), 400, "INVALID_ORDER")
    assert names(client) == ["Home", "Food", "Bar", "Cafe", "Pay"]


def test_empty_order_is_right_for_an_empty_list(client: JSONClient) -> None:
    assert client.send("PUT", ORDER, {"ids": []}).status_code == 200


def test_every_change_is_in_the_log(client: JSONClient, administrator: Member) -> None:
    food = client.send("POST", PATH, {"name": "Food", "type": "expense"}).data["id"]
    client.send("PATCH", f"{PATH}/{food}", {"name": "식비"})
    client.send("PUT", ORDER, {"ids": [food]})
    client.send("DELETE", f"{PATH}/{food}")
    entries = list(AuditLogEntry.objects.order_by("id"))
    assert [e.target_label for e in entries] == ["Food", "식비", "식비", "식비"]
    actions = ["ADDITION", "CHANGE", "CHANGE", "DELETION"]
    assert [e.action for e in entries] == actions
    assert {e.actor_id for e in entries} == {administrator.pk}


def test_members_import_what_administrators_made(
    client: JSONClient, free_member: Member, client_of: ClientOf
) -> None:
    food = client.send("POST", PATH, {"name": "식비", "type": "expense"}).data["id"]
    body = {"name": "카페", "type": "expense", "parentId": food}
    client.send("POST", PATH, body)
    theirs = client_of(free_member)
    answer = theirs.send("POST", "/api/account/categories/import")
    assert answer.data == {"imported": 2, "skipped": 0}
    assert [c["name"] for c in theirs.get_json("/api/account/categories")] == [
        "식비",
        "카페",
    ]


# --- At once ------------------------------------------------------------------


@pytest.fixture
def racing_client(transactional_db: None) -> JSONClient:
    return JSONClient(make_member(role="ADMIN"))


@pytest.mark.django_db(transaction=True)
def test_reorders_at_once_leave_one_of_the_orders(racing_client: JSONClient) -> None:
    ids = [make(f"Category {number}").pk for number in range(5)]
    orders = [ids, ids[::-1], [*ids[2:], *ids[:2]]]
    for _ in range(10):
        responses = run_concurrently(
            [
                partial(racing_client.send, "PUT", ORDER, {"ids": order})
                for order in orders
            ]
        )
        assert sorted_statuses(responses) == [200] * 3
        assert [row["id"] for row in racing_client.get_json(PATH)] in orders
        places = DefaultCategory.objects.values_list("sort_order", flat=True)
        assert sorted(places) == [1, 2, 3, 4, 5]


@pytest.mark.django_db(transaction=True)
def test_new_categories_at_once_get_different_places_and_one_name_is_made_once(
    racing_client: JSONClient,
) -> None:
    def create(name: str) -> Any:
        body = {"name": name, "type": "expense"}
        return lambda: racing_client.send("POST", PATH, body)

    assert (
        sorted_statuses(run_concurrently([create(f"{n}") for n in range(6)]))
        == [201] * 6
    )
    places = DefaultCategory.objects.values_list("sort_order", flat=True)
    assert sorted(places) == list(range(1, 7))
    assert sorted_statuses(run_concurrently([create("same")] * 4)) == [
        201,
        409,
        409,
        409,
    ]


@pytest.mark.django_db(transaction=True)
def test_moves_at_once_never_make_three_levels(racing_client: JSONClient) -> None:
    def move(child: Any, parent: Any) -> Any:
        path = f"{PATH}/{child.pk}"
        return lambda: racing_client.send("PATCH", path, {"parentId": parent.pk})

    a, b, c = make("a"), make("b"), make("c")
    for _ in range(15):
        DefaultCategory.objects.update(parent=None)
        assert sorted_statuses(run_concurrently([move(a, b), move(b, c)])) == [200, 400]
        assert not DefaultCategory.objects.filter(parent__parent__isnull=False).exists()


@pytest.mark.django_db(transaction=True)
def test_new_minor_racing_the_end_of_its_major_leaves_no_orphan(
    racing_client: JSONClient,
) -> None:
    for number in range(15):
        major = make(f"major {number}").pk
        body = {"name": f"minor {number}", "type": "expense", "parentId": major}
        create, delete = run_concurrently(
            [
                partial(racing_client.send, "POST", PATH, body),
                partial(racing_client.send, "DELETE", f"{PATH}/{major}"),
            ]
        )
        outcome = (create.status_code, delete.status_code)
        assert outcome in {(201, 400), (400, 204)}, (outcome, create.content)
