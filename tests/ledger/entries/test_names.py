"""Categories and tags that an entry names."""

from accounts.models import Member
from ledger.models import Category, Entry, Tag
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES, PLAIN, create_entry, update_entry
from tests.support.factories import make_category, make_tag
from tests.support.problems import assert_invalid


def test_unknown_category_is_created_as_a_major_one_of_that_type_and_last(
    client: JSONClient, free_member: Member
) -> None:
    make_category(free_member, name="Food", sort_order=7)
    make_category(free_member, name="Salary", type="income", sort_order=90)
    create_entry(client, PLAIN | {"category": "Travel"})
    travel = Category.objects.get(name="Travel")
    assert travel.member == free_member
    assert travel.type == "expense"
    assert travel.parent is None
    assert travel.sort_order == 8


def test_known_category_is_used_a_minor_one_too(
    client: JSONClient, free_member: Member
) -> None:
    food = make_category(free_member, name="Food")
    cafe = make_category(free_member, name="Cafe", parent=food)
    entry = create_entry(client, PLAIN | {"category": "Cafe"})
    assert entry["category"] == "Cafe"
    assert Entry.objects.get().category == cafe
    assert Category.objects.count() == 2


def test_category_of_the_other_type_is_another_category(
    client: JSONClient, free_member: Member
) -> None:
    make_category(free_member, name="Allowance", type="income")
    create_entry(client, PLAIN | {"category": "Allowance"})
    types = Category.objects.filter(name="Allowance").values_list("type", flat=True)
    assert sorted(types) == ["expense", "income"]


def test_category_name_is_trimmed_before_it_is_looked_up(
    client: JSONClient, free_member: Member
) -> None:
    make_category(free_member, name="Food")
    assert create_entry(client, PLAIN | {"category": " Food "})["category"] == "Food"
    assert Category.objects.count() == 1


def test_new_type_of_an_entry_takes_the_category_of_that_type_by_name(
    client: JSONClient, free_member: Member
) -> None:
    entry = create_entry(client, PLAIN | {"category": "Gift"})
    changed = update_entry(
        client, "PUT", entry["id"], entry | {"type": "income"} | {"categoryType": None}
    )
    assert changed["category"] == "Gift"
    stored = Entry.objects.get(pk=entry["id"])
    assert stored.category is not None
    assert stored.category.type == "income"


def test_unknown_tags_are_created_last_in_the_order_of_the_body(
    client: JSONClient, free_member: Member
) -> None:
    make_tag(free_member, name="known", sort_order=4)
    create_entry(client, PLAIN | {"tags": ["zebra", "known", "apple"]})
    tags = dict(Tag.objects.values_list("name", "sort_order"))
    assert tags == {"known": 4, "zebra": 5, "apple": 6}


def test_tags_are_kept_in_the_order_of_the_body_and_each_once(
    client: JSONClient,
) -> None:
    entry = create_entry(client, PLAIN | {"tags": ["b", "a", "b", " a "]})
    assert entry["tags"] == ["b", "a"]


def test_refused_entry_creates_neither_category_nor_tag(client: JSONClient) -> None:
    body = PLAIN | {"category": "New", "tags": ["new"], "installmentMonths": 3}
    assert_invalid(client.send("POST", ENTRIES, body), "installmentMonths")
    assert Category.objects.count() == 0
    assert Tag.objects.count() == 0
