"""Categories: the end of one, and where its entries move (see also `test_move_to`)."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Category, Entry, QuickEntry
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_quick_entry
from tests.support.ledger_bodies import CATEGORIES, PLAIN_CATEGORY
from tests.support.problems import assert_invalid


def test_unused_category_is_deleted(client: JSONClient, free_member: Member) -> None:
    category = make_category(free_member)
    path = f"{CATEGORIES}/{category.pk}"
    assert client.send("DELETE", path).status_code == 204
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        body = None if method == "DELETE" else PLAIN_CATEGORY
        assert client.send(method, path, body).status_code == 404, method


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
