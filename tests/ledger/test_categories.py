"""Categories: two levels, an order, names that reach what goes by them."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Category, Entry, QuickEntry
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_quick_entry
from tests.support.problems import assert_invalid

CATEGORIES = "/api/account/categories"
PLAIN = {"name": "Food", "type": "expense"}


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


def assert_hierarchy_is_kept(response: Any) -> None:
    assert response.status_code == 400, response.content
    assert response.data["code"] == "CATEGORY_HIERARCHY"


# --- fields -------------------------------------------------------------------


def test_category_needs_only_name_and_type(client: JSONClient) -> None:
    category = client.create_json(CATEGORIES, PLAIN)
    assert category == PLAIN | {
        "id": category["id"],
        "parentId": None,
        "sortOrder": 1,
        "moving": False,
    }
    assert client.get_json(f"{CATEGORIES}/{category['id']}") == category
    assert client.get_json(CATEGORIES) == [category]


def test_minor_category_sits_under_a_major_one(client: JSONClient) -> None:
    major = client.create_json(CATEGORIES, PLAIN)
    minor = client.create_json(
        CATEGORIES, PLAIN | {"name": "Cafe", "parentId": major["id"]}
    )
    assert minor["parentId"] == major["id"]
    assert minor["sortOrder"] == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", ""),
        ("name", "  "),
        ("name", None),
        ("name", "x" * 101),
        ("name", 5),
        ("name", ["a"]),
        ("name", "nul\x00"),
        ("type", "EXPENSE"),
        ("type", "transfer"),
        ("type", None),
        ("type", True),
        ("type", []),
        ("parentId", "1"),
        ("parentId", True),
        ("parentId", 1.5),
        ("parentId", -1),
        ("parentId", 0),
        ("parentId", 2**63),
        ("parentId", 10**30),
        ("parentId", []),
        ("parentId", {}),
    ],
)
def test_value_that_does_not_fit_is_refused(
    client: JSONClient, name: str, value: Any
) -> None:
    assert_invalid(client.send("POST", CATEGORIES, PLAIN | {name: value}), name)
    assert Category.objects.count() == 0


@pytest.mark.parametrize("name", ["name", "type"])
def test_missing_name_or_type_is_refused(
    client: JSONClient, free_member: Member, name: str
) -> None:
    body = {key: value for key, value in PLAIN.items() if key != name}
    assert_invalid(client.send("POST", CATEGORIES, body), name)
    category = make_category(free_member)
    assert_invalid(client.send("PUT", f"{CATEGORIES}/{category.pk}", body), name)


def test_name_of_100_characters_is_kept(client: JSONClient) -> None:
    assert (
        client.create_json(CATEGORIES, PLAIN | {"name": "가" * 100})["name"]
        == "가" * 100
    )


def test_parent_of_another_member_is_refused(
    client: JSONClient, other_member: Member
) -> None:
    theirs = make_category(other_member)
    response = client.send("POST", CATEGORIES, PLAIN | {"parentId": theirs.pk})
    assert_invalid(response, "parentId")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_id_member_level_and_order_of_a_body_have_no_effect(
    client: JSONClient, free_member: Member, other_member: Member, method: str
) -> None:
    own = make_category(free_member, sort_order=1)
    forged = PLAIN | {
        "id": 1,
        "member": other_member.pk,
        "memberId": other_member.pk,
        "sortOrder": 70,
        "level": 2,
        "parentLevel": 2,
    }
    if method == "POST":
        body = client.create_json(CATEGORIES, forged)
        assert body["sortOrder"] == 2
    else:
        body = client.change_json(method, f"{CATEGORIES}/{own.pk}", forged)
        assert (body["id"], body["sortOrder"]) == (own.pk, 1)
    stored = Category.objects.get(pk=body["id"])
    assert (stored.member, stored.level) == (free_member, 1)


# --- names --------------------------------------------------------------------


def test_name_is_unique_within_a_type(client: JSONClient, free_member: Member) -> None:
    make_category(free_member, name="Food")
    other = make_category(free_member, name="Other")
    attempts = [
        client.send("POST", CATEGORIES, PLAIN),
        client.send(
            "POST", CATEGORIES, PLAIN | {"name": " Food ", "parentId": other.pk}
        ),
        client.send("PUT", f"{CATEGORIES}/{other.pk}", PLAIN),
        client.send("PATCH", f"{CATEGORIES}/{other.pk}", {"name": "Food"}),
    ]
    for response in attempts:
        assert response.status_code == 409, response.content
        assert response.data["code"] == "DUPLICATE"
    assert Category.objects.count() == 2


def test_both_types_and_all_members_may_use_a_name(
    client: JSONClient, other_member: Member
) -> None:
    make_category(other_member, name="Food")
    client.create_json(CATEGORIES, PLAIN)
    client.create_json(CATEGORIES, PLAIN | {"type": "income"})


def test_new_type_into_a_taken_name_is_a_duplicate(
    client: JSONClient, free_member: Member
) -> None:
    make_category(free_member, name="Food", type="income")
    category = client.create_json(CATEGORIES, PLAIN)
    path = f"{CATEGORIES}/{category['id']}"
    response = client.send("PATCH", path, {"type": "income"})
    assert (response.status_code, response.data["code"]) == (409, "DUPLICATE")


def test_rename_reaches_entries_and_quick_entries(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member, name="Old")
    minor = make_category(free_member, name="Minor", parent=major)
    make_entry(free_member, category=major)
    make_entry(free_member, category=minor)
    make_quick_entry(free_member, category=major)
    changed = client.change_json("PATCH", f"{CATEGORIES}/{major.pk}", {"name": "New"})
    assert changed["name"] == "New"
    rows = client.get_json("/api/account/entries")["results"]
    assert [row["category"] for row in rows] == ["Minor", "New"]
    assert client.get_json("/api/account/quick-entries")[0]["category"] == "New"
    assert client.get_json("/api/account/entries", category="New")["count"] == 2
    assert client.get_json("/api/account/entries", category="Old")["count"] == 0


# --- two levels ---------------------------------------------------------------


def test_minor_category_cannot_hold_others(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    minor = make_category(free_member, parent=major)
    other = make_category(free_member)
    body = PLAIN | {"parentId": minor.pk}
    assert_hierarchy_is_kept(client.send("POST", CATEGORIES, body))
    for method, part in (("PUT", body), ("PATCH", {"parentId": minor.pk})):
        response = client.send(method, f"{CATEGORIES}/{other.pk}", part)
        assert_hierarchy_is_kept(response)


def test_major_category_with_minor_ones_cannot_become_minor(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    make_category(free_member, parent=major)
    other = make_category(free_member)
    response = client.send("PATCH", f"{CATEGORIES}/{major.pk}", {"parentId": other.pk})
    assert_hierarchy_is_kept(response)
    major.refresh_from_db()
    assert major.parent is None


def test_category_cannot_be_its_own_parent(
    client: JSONClient, free_member: Member
) -> None:
    category = make_category(free_member)
    path = f"{CATEGORIES}/{category.pk}"
    assert_hierarchy_is_kept(client.send("PATCH", path, {"parentId": category.pk}))


def test_parent_of_another_type_is_refused(
    client: JSONClient, free_member: Member
) -> None:
    income = make_category(free_member, type="income")
    expense = make_category(free_member)
    body = PLAIN | {"parentId": income.pk}
    assert_hierarchy_is_kept(client.send("POST", CATEGORIES, body))
    path = f"{CATEGORIES}/{expense.pk}"
    assert_hierarchy_is_kept(client.send("PATCH", path, {"parentId": income.pk}))


def test_type_of_a_minor_category_stays_that_of_its_major(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    minor = make_category(free_member, parent=major)
    path = f"{CATEGORIES}/{minor.pk}"
    assert_hierarchy_is_kept(client.send("PATCH", path, {"type": "income"}))
    changed = client.change_json(
        "PATCH", f"{CATEGORIES}/{minor.pk}", {"type": "income", "parentId": None}
    )
    assert (changed["type"], changed["parentId"]) == ("income", None)


def test_type_of_a_major_category_with_minor_ones_stays(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    make_category(free_member, parent=major)
    path = f"{CATEGORIES}/{major.pk}"
    assert_hierarchy_is_kept(client.send("PATCH", path, {"type": "income"}))


def test_major_category_with_minor_ones_cannot_be_deleted(
    client: JSONClient, free_member: Member
) -> None:
    major, other = make_category(free_member), make_category(free_member)
    make_category(free_member, parent=major)
    for query in ("", f"?moveTo={other.pk}"):
        response = client.send("DELETE", f"{CATEGORIES}/{major.pk}{query}")
        assert_hierarchy_is_kept(response)
    assert Category.objects.count() == 3


def test_minor_category_moves_between_majors_and_becomes_major(
    client: JSONClient, free_member: Member
) -> None:
    first, second = make_category(free_member), make_category(free_member)
    minor = make_category(free_member, parent=first)
    moved = client.change_json(
        "PATCH", f"{CATEGORIES}/{minor.pk}", {"parentId": second.pk}
    )
    assert moved["parentId"] == second.pk
    freed = client.change_json(
        "PUT", f"{CATEGORIES}/{minor.pk}", {"name": "Free", "type": "expense"}
    )
    assert freed["parentId"] is None
    assert freed["sortOrder"] > second.sort_order


def test_major_category_without_minor_ones_becomes_minor_and_goes_last(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    make_category(free_member, parent=major, sort_order=4)
    other = make_category(free_member)
    moved = client.change_json(
        "PATCH", f"{CATEGORIES}/{other.pk}", {"parentId": major.pk}
    )
    assert (moved["parentId"], moved["sortOrder"]) == (major.pk, 5)


def test_patch_of_the_name_keeps_parent_and_place(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    minor = make_category(free_member, parent=major, sort_order=3)
    changed = client.change_json("PATCH", f"{CATEGORIES}/{minor.pk}", {"name": "New"})
    assert (changed["parentId"], changed["sortOrder"]) == (major.pk, 3)


def test_what_was_read_can_be_sent_back_as_it_is(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    minor = make_category(free_member, parent=major)
    for row in (major, minor):
        body = client.get_json(f"{CATEGORIES}/{row.pk}")
        assert client.change_json("PUT", f"{CATEGORIES}/{row.pk}", body) == body
        assert client.change_json("PATCH", f"{CATEGORIES}/{row.pk}", {}) == body


def test_type_of_a_used_category_stays(client: JSONClient, free_member: Member) -> None:
    for make in (make_entry, make_quick_entry):
        category = make_category(free_member)
        make(free_member, category=category)
        path = f"{CATEGORIES}/{category.pk}"
        response = client.send("PATCH", path, {"type": "income"})
        assert (response.status_code, response.data["code"]) == (409, "IN_USE")


def test_type_of_an_unused_category_changes_and_it_goes_last(
    client: JSONClient, free_member: Member
) -> None:
    make_category(free_member, type="income", sort_order=40)
    category = make_category(free_member, sort_order=1)
    changed = client.change_json(
        "PATCH", f"{CATEGORIES}/{category.pk}", {"type": "income"}
    )
    assert (changed["type"], changed["sortOrder"]) == ("income", 41)


# --- list and order -----------------------------------------------------------


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
    major = client.create_json(CATEGORIES, PLAIN | {"name": "c"})
    minor = client.create_json(CATEGORIES, PLAIN | {"name": "a3", "parentId": ids["a"]})
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


def test_reorder_of_an_empty_list_is_empty(client: JSONClient) -> None:
    response = client.send("PUT", f"{CATEGORIES}/reorder", {"ids": []})
    assert (response.status_code, response.data) == (200, [])


@pytest.mark.parametrize("ids", [None, "1", ["1"], [True], [None], [[1]], [2**80, "x"]])
def test_reorder_body_that_is_no_list_of_ids_is_refused(
    client: JSONClient, ids: Any
) -> None:
    response = client.send("PUT", f"{CATEGORIES}/reorder", {"ids": ids})
    assert response.status_code == 400
    assert response.data["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize("row_id", [0, -1, 2**63, 2**80])
def test_reorder_of_ids_that_no_row_can_have_is_refused(
    client: JSONClient, free_member: Member, row_id: int
) -> None:
    make_category(free_member)
    response = client.send("PUT", f"{CATEGORIES}/reorder", {"ids": [row_id]})
    assert response.status_code == 400, response.content
    assert response.data["code"] == "INVALID_ORDER"


# --- the end of a category ----------------------------------------------------


def test_unused_category_is_deleted(client: JSONClient, free_member: Member) -> None:
    category = make_category(free_member)
    path = f"{CATEGORIES}/{category.pk}"
    assert client.send("DELETE", path).status_code == 204
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        assert client.send(method, path, PLAIN).status_code == 404, method


def test_last_minor_category_leaves_a_major_one_that_can_be_deleted(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    minor = make_category(free_member, parent=major)
    for row in (minor, major):
        assert client.send("DELETE", f"{CATEGORIES}/{row.pk}").status_code == 204


@pytest.mark.parametrize("make", [make_entry, make_quick_entry])
def test_used_category_is_in_use(
    client: JSONClient, free_member: Member, make: Any
) -> None:
    category = make_category(free_member)
    used = make(free_member, category=category)
    response = client.send("DELETE", f"{CATEGORIES}/{category.pk}")
    assert (response.status_code, response.data["code"]) == (409, "IN_USE")
    used.refresh_from_db()
    assert used.category == category


def test_category_of_a_pending_entry_is_in_use(
    client: JSONClient, free_member: Member
) -> None:
    category = make_category(free_member)
    make_entry(free_member, category=category, pending=True)
    response = client.send("DELETE", f"{CATEGORIES}/{category.pk}")
    assert (response.status_code, response.data["code"]) == (409, "IN_USE")


def test_move_to_takes_entries_and_quick_entries_along(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    source = make_category(free_member, parent=major)
    target = make_category(free_member)
    make_entry(free_member, category=source)
    make_entry(free_member, category=source, pending=True)
    make_quick_entry(free_member, category=source)
    path = f"{CATEGORIES}/{source.pk}?moveTo={target.pk}"
    assert client.send("DELETE", path).status_code == 204
    assert set(Entry.objects.values_list("category", flat=True)) == {target.pk}
    assert QuickEntry.objects.get().category == target
    rows = client.get_json("/api/account/entries", category=target.name)
    assert rows["count"] == 2


def test_move_to_stays_within_the_type(client: JSONClient, free_member: Member) -> None:
    source = make_category(free_member)
    target = make_category(free_member, type="income")
    make_entry(free_member, category=source)
    response = client.send("DELETE", f"{CATEGORIES}/{source.pk}?moveTo={target.pk}")
    assert_invalid(response, "moveTo")
    assert Category.objects.count() == 2


def test_move_to_itself_is_refused(client: JSONClient, free_member: Member) -> None:
    category = make_category(free_member)
    path = f"{CATEGORIES}/{category.pk}?moveTo={category.pk}"
    assert_invalid(client.send("DELETE", path), "moveTo")
    assert Category.objects.count() == 1


@pytest.mark.parametrize("other", ["foreign", "missing", "0", "-1", "9" * 30])
def test_move_to_another_members_or_no_category_is_404(
    client: JSONClient, free_member: Member, other_member: Member, other: str
) -> None:
    category = make_category(free_member)
    make_entry(free_member, category=category)
    foreign = make_category(other_member).pk
    target = {"foreign": foreign, "missing": foreign + 1_000}.get(other, other)
    response = client.send("DELETE", f"{CATEGORIES}/{category.pk}?moveTo={target}")
    assert (response.status_code, response.data["code"]) == (404, "NOT_FOUND")
    assert Entry.objects.get().category == category


def test_move_to_that_is_no_id_is_refused(
    client: JSONClient, free_member: Member
) -> None:
    category = make_category(free_member)
    response = client.send("DELETE", f"{CATEGORIES}/{category.pk}?moveTo=Food")
    assert_invalid(response, "moveTo")
