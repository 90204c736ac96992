"""Five years of a family, imported from each app: balances and months are the same."""

from collections import Counter

import pytest
from django.db import connection

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_wallet
from tests.support.import_family import (
    BANK,
    FamilyEntry,
    balances_of,
    make_family,
    reduce_to,
    sums_of,
)
from tests.support.import_files import APPS, BANKS, write_bank
from tests.support.imports import commit, import_file, read_file
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db

# Entries and lines, by month, type and name of the category.
_SUMS = """
    SELECT to_char(e.date, 'YYYY-MM'), e.category_type, c.name,
        CASE WHEN e.is_reversal THEN -e.amount ELSE e.amount END
    FROM account_entry e JOIN account_category c
        ON c.member_id = e.member_id AND c.id = e.category_id
    WHERE e.member_id = %(member)s AND NOT e.excluded
    UNION ALL
    SELECT to_char(e.date, 'YYYY-MM'), l.category_type, c.name,
        CASE WHEN (e.type = 'income') = (l.category_type = 'income')
            THEN l.amount ELSE -l.amount END
    FROM account_entry e JOIN account_entry_line l
        ON l.member_id = e.member_id AND l.entry_id = e.id
    JOIN account_category c ON c.member_id = l.member_id AND c.id = l.category_id
    WHERE e.member_id = %(member)s AND NOT e.excluded
"""


def list_family() -> list[FamilyEntry]:
    """Return the last year of the family; all five with `TEST_SCALE=full`."""
    first_year = scaled(2026, 2021)
    return [
        each
        for each in make_family()
        if each.kind == "opening" or each.date.year >= first_year
    ]


def read_balances(client: JSONClient) -> dict[str, int]:
    wallets = client.get_json("/api/account/wallets")
    return {each["name"]: each["balance"] for each in wallets}


def read_sums(member: Member) -> dict[tuple[str, str, str], int]:
    sums: Counter[tuple[str, str, str]] = Counter()
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, {"member": member.pk})
        for month, type_, name, amount in cursor.fetchall():
            sums[month, type_, name] += amount
    return {key: amount for key, amount in sums.items() if amount}


@pytest.mark.parametrize("source", APPS)
def test_imported_family_has_the_same_books(free_member: Member, source: str) -> None:
    family = list_family()
    written = APPS[source](family)
    expected = reduce_to(family, written.lost)
    client = JSONClient(free_member)
    found = read_file(client, written.data)
    assert found["source"] == source
    assert (
        found["counts"]["INVALID"]
        == found["counts"]["UNPAIRED"]
        - len([each for each in expected if each.kind == "opening"])
        == 0
    )
    commit(client, found["id"])
    assert read_balances(client) == balances_of(expected)
    assert read_sums(free_member) == sums_of(expected)
    # The second import of a file creates nothing.
    assert import_file(client, written.data)["created"] == 0


@pytest.mark.parametrize("source", BANKS)
def test_bank_lists_that_overlap_bring_each_row_once(
    free_member: Member, source: str
) -> None:
    family = [
        each
        for each in make_family()
        if each.date.year == 2024 and each.date.month >= 5
    ]
    client, wallet = JSONClient(free_member), make_wallet(free_member, name=BANK)
    halves = (
        [each for each in family if each.date.month <= 7],
        [each for each in family if each.date.month >= 7],
    )
    results = [
        import_file(client, write_bank(source, half), walletId=wallet.pk)
        for half in halves
    ]
    assert all(each["created"] for each in results)
    # July is in both.
    assert read_balances(client)[BANK] == balances_of(family)[BANK]
    whole = import_file(client, write_bank(source, family), walletId=wallet.pk)
    assert whole["created"] == 0
