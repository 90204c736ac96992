"""Queries whose SQL is compiled once serve every owner."""

from typing import Any

import pytest

from accounts.models import Member
from core.db.compiled_query import CompiledQuery
from ledger.models import Wallet
from ledger.wallets.wallets import list_wallets, select_wallets
from tests.support.factories import make_entry, make_wallet

pytestmark = pytest.mark.django_db


def test_each_owner_gets_the_own_rows_with_their_annotations(
    free_member: Member, other_member: Member
) -> None:
    for member, amount in ((free_member, 700), (other_member, 30)):
        wallet = make_wallet(member, opening_balance=1_000)
        make_entry(member, wallet=wallet, amount=amount)
    for member, balance in ((free_member, 300), (other_member, 970)):
        found: Any = list_wallets(member)
        assert [row.member_id for row in found] == [member.pk] * len(found)
        assert balance in {row.balance for row in found}
        selected: Any = select_wallets(member.pk)
        assert [(row.pk, row.balance) for row in found] == [
            (row.pk, row.balance) for row in selected
        ]


def test_query_is_compiled_once(free_member: Member, other_member: Member) -> None:
    made = list[int]()

    def select(owner_id: int) -> Any:
        made.append(owner_id)
        return Wallet.objects.filter(member_id=owner_id)

    query = CompiledQuery(select)
    for member in (free_member, other_member):
        wallet = make_wallet(member)
        assert wallet in query.fetch_all(member.pk)
    assert len(made) == 1
