"""Wallets and categories that end with `moveTo`: targets that are refused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Category, Entry, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.ledger_bodies import CATEGORIES, WALLETS
from tests.support.problems import assert_invalid, assert_problem


@dataclass(frozen=True)
class Kind:
    """Rows that may end; `field` is that of the entries which name them."""

    field: str
    path: str
    model: Any
    make: Callable[[Member], Any]

    def end(self, client: JSONClient, row: Any, target: Any) -> Any:
        """Return the answer to the deletion of a row that moves to the target."""
        return client.send("DELETE", f"{self.path}/{row.pk}?moveTo={target}")


KINDS = [
    Kind("wallet", WALLETS, Wallet, make_wallet),
    Kind("category", CATEGORIES, Category, make_category),
]
pytestmark = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.field)


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


@pytest.mark.parametrize("is_used", [False, True])
def test_move_to_itself_is_refused(
    client: JSONClient, free_member: Member, kind: Kind, is_used: bool
) -> None:
    row = kind.make(free_member)
    if is_used:
        make_entry(free_member, **{kind.field: row})
    assert_invalid(kind.end(client, row, row.pk), "moveTo")
    assert kind.model.objects.count() == 1


@pytest.mark.parametrize("other", ["foreign", "missing", "0", "-1", "9" * 30])
def test_move_to_what_is_another_members_or_does_not_exist_is_404(
    client: JSONClient,
    free_member: Member,
    other_member: Member,
    kind: Kind,
    other: str,
) -> None:
    row = kind.make(free_member)
    make_entry(free_member, **{kind.field: row})
    foreign = kind.make(other_member).pk
    target = {"foreign": foreign, "missing": foreign + 1_000}.get(other, other)
    assert_problem(kind.end(client, row, target), 404, "NOT_FOUND")
    assert getattr(Entry.objects.get(), kind.field) == row


def test_move_to_that_is_no_id_is_refused(
    client: JSONClient, free_member: Member, kind: Kind
) -> None:
    row = kind.make(free_member)
    assert_invalid(kind.end(client, row, "cash"), "moveTo")
    assert kind.model.objects.count() == 1
