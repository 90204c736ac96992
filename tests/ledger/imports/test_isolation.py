"""Ids of other members in forms and lists of imports (spec 1.8)."""

from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import dump_rows_of, make_entry, make_wallet
from tests.support.imports import HEADER, IMPORTS, make_import, upload
from tests.support.problems import assert_invalid
from tests.support.routes import MISSING_ID

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("is_theirs", [True, False])
def test_wallet_of_a_file_is_ones_own(
    free_member: Member, other_member: Member, is_theirs: bool
) -> None:
    wallet = make_wallet(other_member).pk if is_theirs else MISSING_ID
    answer = upload(JSONClient(free_member), HEADER, walletId=wallet)
    assert_invalid(answer, "walletId")


def name_wallet(row_id: int) -> Any:
    return {"wallets": [{"name": "A", "walletId": row_id}]}


def name_other_wallet(row_id: int) -> Any:
    return [{"row": 2, "entry": {"toWalletId": row_id}}]


def name_entry(row_id: int) -> Any:
    return [{"row": 2, "action": "MERGE", "entry": {"id": row_id}}]


@pytest.mark.parametrize(
    ("suffix", "make_body", "make_row", "field"),
    [
        ("", name_wallet, make_wallet, "wallets.0.walletId"),
        ("/rows", name_other_wallet, make_wallet, "0.entry.toWalletId"),
        ("/rows", name_entry, make_entry, "0.entry.id"),
    ],
)
def test_id_of_another_member_is_like_one_that_does_not_exist(
    free_member: Member,
    other_member: Member,
    suffix: str,
    make_body: Any,
    make_row: Any,
    field: str,
) -> None:
    client, own = JSONClient(free_member), make_import(free_member)
    theirs = make_row(other_member)
    before = dump_rows_of(other_member), dump_rows_of(free_member)
    for row_id in (theirs.pk, MISSING_ID):
        body = make_body(row_id)
        answer = client.send("PATCH", f"{IMPORTS}/{own.id}{suffix}", body)
        assert_invalid(answer, field)
    assert (dump_rows_of(other_member), dump_rows_of(free_member)) == before
