"""Categories: names that are taken, and names that reach entries."""

from accounts.models import Member
from ledger.models import Category
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_quick_entry
from tests.support.ledger_bodies import CATEGORIES, PLAIN_CATEGORY


def test_name_is_unique_within_a_type(client: JSONClient, free_member: Member) -> None:
    make_category(free_member, name="Food")
    other = make_category(free_member, name="Other")
    attempts = [
        client.send("POST", CATEGORIES, PLAIN_CATEGORY),
        client.send(
            "POST",
            CATEGORIES,
            PLAIN_CATEGORY | {"name": " Food ", "parentId": other.pk},
        ),
        client.send("PUT", f"{CATEGORIES}/{other.pk}", PLAIN_CATEGORY),
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
    client.create_json(CATEGORIES, PLAIN_CATEGORY)
    client.create_json(CATEGORIES, PLAIN_CATEGORY | {"type": "income"})
    assert Category.objects.filter(name="Food").count() == 3


def test_new_type_into_a_taken_name_is_a_duplicate(
    client: JSONClient, free_member: Member
) -> None:
    make_category(free_member, name="Food", type="income")
    category = client.create_json(CATEGORIES, PLAIN_CATEGORY)
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
