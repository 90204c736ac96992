"""The files of a family, imported: balances and sums are those of the family."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, Wallet
from tests.support.clients import JSONClient
from tests.support.import_family import (
    BANK,
    CARD,
    OPENINGS,
    FamilyEntry,
    balances_of,
    make_family,
    reduce_to,
    sums_of,
)
from tests.support.import_files import (
    APPS,
    BANKS,
    CARDS,
    list_card_moves,
    write_bank,
    write_card,
)
from tests.support.imports import import_file
from tests.support.scale import IS_FULL

pytestmark = pytest.mark.django_db

# Some three months, with everything that the five years have.
ENTRIES = None if IS_FULL else 450


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


@pytest.fixture
def family() -> Sequence[FamilyEntry]:
    return make_family()[:ENTRIES]


def read_balances(client: JSONClient) -> dict[str, int]:
    wallets = client.get_json("/api/account/wallets")
    return {each["name"]: each["balance"] for each in wallets}


def read_sums(member: Member) -> dict[tuple[str, str, str], int]:
    """Sum the stored entries by month, type and category; refunds take from expenses."""
    sums: Counter[tuple[str, str, str]] = Counter()
    entries = Entry.objects.filter(member=member, excluded=False)
    for entry in entries.select_related("category").prefetch_related("lines__category"):
        month = entry.date.isoformat()[:7]
        parts: Iterable[Any] = list(entry.lines.all()) or [entry]
        for part in parts:
            if part.category is not None:
                type_ = part.category.type
                sign = 1 if type_ == entry.type else -1
                sums[month, type_, part.category.name] += sign * part.amount
    return {key: amount for key, amount in sums.items() if amount}


@pytest.mark.parametrize("source", APPS)
def test_import_of_an_app_has_all_balances_and_sums(
    client: JSONClient, free_member: Member, family: Sequence[FamilyEntry], source: str
) -> None:
    written = APPS[source](family)
    expected = reduce_to(family, written.lost)
    assert import_file(client, written.data)["created"] == len(expected)
    assert read_balances(client) == balances_of(expected)
    assert read_sums(free_member) == sums_of(expected)
    # The same file again brings nothing.
    assert import_file(client, written.data)["created"] == 0
    assert read_balances(client) == balances_of(expected)


@pytest.mark.parametrize("source", APPS)
def test_files_that_overlap_lead_to_the_same_as_one(
    client: JSONClient, free_member: Member, family: Sequence[FamilyEntry], source: str
) -> None:
    half = len(family) // 2
    lost = APPS[source](family).lost
    import_file(client, APPS[source](family[: half + 40]).data)
    import_file(client, APPS[source](family[half:]).data)
    expected = reduce_to(family, lost)
    assert read_balances(client) == balances_of(expected)
    assert read_sums(free_member) == sums_of(expected)


@pytest.mark.parametrize("source", BANKS)
def test_import_of_a_bank_leads_to_its_balance(
    client: JSONClient, free_member: Member, family: Sequence[FamilyEntry], source: str
) -> None:
    wallet = Wallet.objects.create(
        member=free_member, name=BANK, kind="BANK", opening_balance=OPENINGS[BANK]
    )
    data = write_bank(source, family)
    for _ in range(2):
        import_file(client, data, walletId=wallet.pk)
        assert read_balances(client)[BANK] == balances_of(family)[BANK]


@pytest.mark.parametrize("source", CARDS)
def test_import_of_a_card_leads_to_what_is_owed(
    client: JSONClient, free_member: Member, family: Sequence[FamilyEntry], source: str
) -> None:
    wallet = Wallet.objects.create(member=free_member, name=CARD, kind="CARD")
    data = write_card(source, family)
    owed = sum(move.amount for move in list_card_moves(family))
    for _ in range(2):
        import_file(client, data, walletId=wallet.pk)
        assert read_balances(client) == {CARD: owed}
    months = Entry.objects.filter(member=free_member, installment_months__isnull=False)
    assert {each.installment_months for each in months} <= {2, 3, 6, 12}
    assert months.exists()
