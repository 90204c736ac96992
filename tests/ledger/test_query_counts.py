"""Each list costs the same number of queries for 1 row and for 50."""

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import PointHistory
from ledger.models import QuickEntryTag
from tests.clients import JSONClient
from tests.factories import (
    make_category,
    make_entry,
    make_member,
    make_quick_entry,
    make_tag,
    make_wallet,
)

MANY = 50


def add_wallet(member, number):
    wallet = make_wallet(member, opening_balance=number)
    make_entry(member, wallet=wallet)


def add_entry(member, number):
    make_entry(
        member,
        date=date(2026, 1, 1) + timedelta(number),
        wallet=make_wallet(member),
        category=make_category(member),
        tags=("every", f"own{number}"),
    )


def add_category(member, number):
    make_category(member, parent=make_category(member))


def add_quick_entry(member, number):
    quick = make_quick_entry(
        member, wallet=make_wallet(member), category=make_category(member)
    )
    for position in range(2):
        QuickEntryTag.objects.create(
            quick_entry=quick,
            tag=make_tag(member),
            member_id=member.pk,
            position=position,
        )


def add_award(member, number):
    PointHistory.objects.create(member=member, points=10, reason="POST")


def add_member(member, number):
    make_member()


LISTS = [
    ("/api/account/wallets", add_wallet),
    ("/api/account/networth", add_wallet),
    ("/api/account/entries?size=100", add_entry),
    ("/api/account/entries?size=100&keyword=&tag=every", add_entry),
    ("/api/account/entries?size=100&type=expense&year=2026", add_entry),
    ("/api/account/categories", add_category),
    ("/api/account/quick-entries", add_quick_entry),
    ("/api/auth/points?size=100", add_award),
    ("/api/users?size=100", add_member),
]


def capture_queries(client: JSONClient, path: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        client.read(path)
    return [query["sql"] for query in captured]


@pytest.mark.parametrize(("path", "add"), LISTS)
def test_list_costs_the_same_queries_for_1_row_and_for_50(path, add, administrator):
    client = JSONClient(administrator)
    add(administrator, 0)
    client.read(path)
    few = capture_queries(client, path)
    for number in range(1, MANY):
        add(administrator, number)
    many = capture_queries(client, path)
    listing = "\n".join(many)
    assert len(few) == len(many), f"1 row: {len(few)}, 50: {len(many)}\n{listing}"


@pytest.mark.parametrize(
    ("query", "most"),
    [("", 3), ("?type=expense", 3), ("?keyword=a", 3), ("?category=Food", 4)],
)
def test_page_of_entries_is_read_with_three_statements_at_most(
    query, most, free_member
):
    """Rows, count, tags; a category name costs one more look-up."""
    client = JSONClient(free_member)
    category = make_category(free_member, name="Food")
    make_entry(free_member, memo="a", tags=("one",), category=category)
    client.read("/api/account/entries")
    queries = capture_queries(client, f"/api/account/entries{query}")
    about_entries = [sql for sql in queries if "account_" in sql]
    assert len(about_entries) <= most, f"{len(about_entries)}: {about_entries}"


def test_entry_list_looks_up_the_tags_of_all_rows_at_once(free_member):
    for number in range(5):
        make_entry(free_member, tags=(f"tag{number}",))
    queries = capture_queries(JSONClient(free_member), "/api/account/entries")
    assert len([sql for sql in queries if "account_entry_tag" in sql]) == 1
